#include "fuzz.hpp"
#include "join_keys.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/dataset/table_cache.hpp"
#include "rampart/joiner/decision_row.hpp"
#include "rampart/joiner/state_hash.hpp"
#include "rampart/lease/lease_record.hpp"
#include "rampart/lease/trainer_seat.hpp"
#include "rampart/streaming/bookmark.hpp"
#include "rampart/wire/fence.hpp"
#include "rampart/wire/quarantined.hpp"
#include "rampart/wire/topics.hpp"
#include "record_codec.hpp"

/// Keys and values of the databases of a node (schemas/keys.md). Only this project writes them, so
/// a reader accepts only what the writer writes, byte for byte; all else is corruption.
namespace rampart::fuzz {
namespace {

using base::append_field;
using base::append_i64;
using base::append_u32;
using base::TimePoint;

bool join_state(std::string_view bytes) {
    const auto state = joiner::decode_join_state(bytes);
    if (!state) return refused(state.error());
    FUZZ_LAW(state->reports.size() <= joiner::kMaxReports, "{} reports", state->reports.size());
    FUZZ_LAW(joiner::encode(*state) == bytes, "another form of a state is accepted");
    FUZZ_LAW(*joiner::decode_join_state(joiner::encode(*state)) == *state, "another state");
    return true;
}

/// What a row was made of, but for what it does not keep.
std::string encode_again(const joiner::DecisionRow& row) {
    domain::Decision decision;
    decision.policy = domain::PolicyId(std::string(row.policy));
    decision.application.person = domain::PersonId(std::string(row.person));
    decision.decided_at = row.decided_at;
    decision.exploration_spent = row.exploration_spent;
    decision.action = row.action;
    decision.p_approve = row.p_approve;
    decision.p_refer = row.p_refer;
    if (row.shape->cool_off_days > 0)
        decision.draw_window = {row.shape->product, row.shape->cool_off_days, row.window};
    for (size_t i = 0; i < row.values.size(); ++i) {
        auto& feature = decision.application.features.emplace_back();
        feature.name = row.shape->features[i];
        if (const auto* number = std::get_if<double>(&row.values[i])) feature.value = *number;
        if (const auto* text = std::get_if<std::string_view>(&row.values[i]))
            feature.value = std::string(*text);
    }
    joiner::JoinState state;
    for (const auto& version : row.versions)
        state.versions.push_back({std::string(version.measure), version.version, version.value, 0,
                                  TimePoint(), version.known_at, version.censored});
    for (const auto& taken : row.taken)
        state.taken.push_back({0, taken.action, "", "", TimePoint(), taken.known_at});
    return joiner::encode_row(state, decision);
}

bool decision_row(std::string_view bytes) {
    joiner::RowDecoder decoder;
    joiner::DecisionRow row, head;
    const auto key = joiner::time_key(TimePoint(), "d-1");
    const auto read = decoder.decode(key, bytes, joiner::RowPart::kAll, row);
    if (!read) return refused(read.error());
    FUZZ_LAW(row.values.size() == row.shape->features.size(), "{} values of {}", row.values.size(),
             row.shape->features.size());
    FUZZ_LAW(encode_again(row) == bytes, "another form of a row is accepted");
    FUZZ_LAW(decoder.decode(key, bytes, joiner::RowPart::kHead, head) && head.person == row.person,
             "another head");
    return true;
}

bool quarantined(std::string_view bytes) {
    Choices choices(bytes);
    const size_t key_bytes = choices.number(2);
    const auto key = choices.text(key_bytes), value = choices.rest();
    const auto entry = wire::decode_quarantined(key, value);
    if (!entry) return refused(entry.error());
    FUZZ_LAW(wire::quarantine_key(entry->topic, entry->partition, entry->offset) == key,
             "another form of a key is accepted");
    FUZZ_LAW(wire::encode_quarantined(*entry) == value, "another form of a value is accepted");
    return true;
}

/// Two keys one after the other: each reads back as itself, and they sort by time.
template <class Parse, class Write, class TimeOf>
bool sorts_by_time(std::string_view bytes, Parse parse, Write write, TimeOf time_of) {
    Choices choices(bytes);
    const size_t first_bytes = choices.byte();
    const auto first_key = choices.text(first_bytes), second_key = choices.rest();
    const auto first = parse(first_key), second = parse(second_key);
    if (!first) return refused(first.error());
    if (!second) return refused(second.error());
    FUZZ_LAW(write(*first) == first_key && write(*second) == second_key,
             "another form is accepted");
    FUZZ_LAW(time_of(*first) == time_of(*second) ||
                 (time_of(*first) < time_of(*second)) == (first_key < second_key),
             "keys do not sort as their times");
    return true;
}

bool time_keys(std::string_view bytes) {
    return sorts_by_time(
        bytes, joiner::parse_time_key,
        [](const joiner::TimeKey& key) { return joiner::time_key(key.event_time, key.id); },
        [](const joiner::TimeKey& key) { return key.event_time; });
}

bool maturity_keys(std::string_view bytes) {
    return sorts_by_time(bytes, joiner::parse_maturity_key, joiner::maturity_key,
                         [](const joiner::MaturityKey& key) { return key.maturity; });
}

bool log_record(std::string_view bytes) {
    const auto stored = streaming_local::decode_record(bytes);
    if (!stored) return refused(stored.error());
    auto again = streaming_local::encode(stored->record, stored->appended_at.has_value());
    if (stored->appended_at) streaming_local::stamp(again, *stored->appended_at);
    FUZZ_LAW(again == bytes, "another form of a record is accepted");
    const auto timestamp = streaming_local::timestamp_of(bytes);
    FUZZ_LAW(timestamp && *timestamp == stored->record.timestamp, "another time");
    return true;
}

bool bookmark(std::string_view bytes) {
    const auto read = streaming::decode_bookmark(bytes);
    if (!read) return refused(read.error());
    FUZZ_LAW(streaming::encode(*read) == bytes, "another form of a bookmark is accepted");
    FUZZ_LAW(read->next.value() >= 0, "stands at {}", read->next);
    return true;
}

bool lease_record(std::string_view bytes) {
    const auto record = lease::decode_lease(bytes);
    if (!record) return refused(record.error());
    FUZZ_LAW(lease::encode(*record) == bytes, "another form of a lease is accepted");
    FUZZ_LAW(record->epoch >= 1 && record->ttl > base::Duration(), "epoch {}, ttl {}",
             record->epoch, record->ttl.micros());
    return true;
}

bool lease_key(std::string_view key) {
    const auto lease = lease::lease_of(key);
    if (!lease) return false;
    FUZZ_LAW(lease->second.value() >= 0 || lease->second == lease::kTrainer, "partition {}",
             lease->second);
    FUZZ_LAW(lease::lease_key(lease->first, lease->second) == key, "another form is accepted");
    return true;
}

bool trainer_seat(std::string_view bytes) {
    const auto seat = lease::decode_seat(bytes);
    if (!seat) return refused(seat.error());
    FUZZ_LAW(lease::encode(*seat) == bytes, "another form of a seat is accepted");
    return true;
}

/// The first byte selects a fence or an epoch of the writer.
bool writer_mark(std::string_view bytes) {
    Choices choices(bytes);
    const auto name = choices.byte() % 2 == 0 ? wire::kEpochHeader : wire::kFenceHeader;
    const std::string text(choices.rest());
    const auto mark = wire::writer_mark({"d", "v", TimePoint(), {{std::string(name), text}}});
    if (!mark) return refused(mark.error());
    FUZZ_LAW(mark->fence == (name == wire::kFenceHeader), "'{}' is taken for the other", text);
    FUZZ_LAW(std::stoull(text) == mark->epoch, "'{}' is read as {}", text, mark->epoch);
    if (mark->fence && mark->epoch > 0) {
        const auto again = wire::writer_mark(wire::fence_record(mark->epoch, "n", TimePoint()));
        FUZZ_LAW(again && again->fence && again->epoch == mark->epoch, "another fence");
    }
    return true;
}

/// The input adds and removes members; the members that were never removed remain.
bool state_hash(std::string_view bytes) {
    Choices choices(bytes);
    joiner::StateHash all, kept;
    std::vector<base::Digest> leaving;
    for (size_t i = 0; i < 64 && !choices.empty(); ++i) {
        const auto member = base::sha256(choices.text(1 + choices.byte() % 4));
        all.add(member);
        choices.byte() % 2 == 0 ? kept.add(member) : leaving.push_back(member);
        if (!leaving.empty() && choices.byte() % 3 == 0) {
            all.remove(leaving.back());
            leaving.pop_back();
        }
    }
    for (const auto& member : leaving) all.remove(member);
    FUZZ_LAW(all == kept, "the hash remembers who left");
    FUZZ_LAW(joiner::StateHash::from(all.value()) == all, "another hash is read back");
    return true;
}

/// The parts of all keys: a read returns what was written, in any mixture. The first 16 bytes
/// select the parts.
bool pieces(std::string_view bytes) {
    const auto kinds = bytes.substr(0, 16);
    const auto all = bytes.substr(kinds.size());
    base::ByteReader in(all);
    std::string out;
    const auto copy = [&out](const auto& read, auto append) {
        if (!read) return refused(read.error());
        append(out, *read);
        return true;
    };
    for (const char kind : kinds) {
        bool more = false;
        switch (static_cast<uint8_t>(kind) % 6) {
            case 0:
                more = copy(in.u8(), base::append_u8);
                break;
            case 1:
                more = copy(in.u32(), base::append_u32);
                break;
            case 2:
                more = copy(in.u64(), base::append_u64);
                break;
            case 3:
                more = copy(in.i64(), base::append_i64);
                break;
            case 4:
                more = copy(in.f64(), base::append_f64);
                break;
            default:
                more = copy(in.field(), base::append_field);
                break;
        }
        if (!more) break;
    }
    FUZZ_LAW(all.starts_with(out), "reads something else than what is there");
    FUZZ_LAW(in.rest().size() <= all.size(), "reads backwards");
    return true;
}

using Seeds = std::vector<std::string>;

joiner::JoinState example_state() {
    joiner::JoinState state;
    state.decision = "bytes of a decision";
    state.known_from = TimePoint::from_micros(1'112'349'600'000'000);
    const auto later = state.known_from + base::Duration::days(300);
    state.reports = {{"repaid", 0, 1, state.known_from}, {"repaid", 3, 0, later}};
    state.versions = {{"repaid", 0, 1.0, 0, later, later},
                      {"repaid", 1, 0.0, 3, later, later + base::Duration::days(1)},
                      {"score", 0, std::nullopt, 0, later, later}};
    return state;
}

Seeds row_seeds() {
    domain::Decision decision;
    decision.application.person = domain::PersonId("p-1");
    const auto plain = joiner::encode_row({}, decision);
    decision.policy = domain::PolicyId("policy");
    decision.draw_window = {"loan", 30, 17};
    decision.application.features = {
        {"income", 1.5}, {"job", std::string("cook")}, {"age", std::monostate()}};
    auto state = example_state();
    state.taken = {{1, domain::Action::kApprove, "a", "r", TimePoint(), TimePoint()}};
    return {plain, joiner::encode_row(state, decision)};
}

Seeds quarantine_seed() {
    const streaming::StoredRecord record{streaming::PartitionId(3),
                                         streaming::Offset(77),
                                         {"d-1", "\x01\x02", TimePoint(), {{"schema", "s/1"}}}};
    const auto why = base::Error{base::ErrorCode::kInvalidArgument, "unknown_measure",
                                 "measure 'x' is not declared"};
    const auto entry = wire::quarantine("outcomes", record, why);
    const auto key = wire::quarantine_key(entry.topic, entry.partition, entry.offset);
    return {std::string{'\0', static_cast<char>(key.size())} + key +
            wire::encode_quarantined(entry)};
}

Seeds lease_seeds() {
    lease::LeaseRecord claim{.epoch = 4,
                             .replaces = streaming::Offset(12),
                             .ttl = base::Duration::seconds(10),
                             .node = "n1",
                             .session = std::string(16, 's')};
    auto beat = claim;
    beat.kind = lease::LeaseRecord::Kind::kBeat;
    beat.replaces.reset();
    auto advertised = beat;
    advertised.address = "https://n1.example:8443";
    return {lease::encode(claim), lease::encode(beat), lease::encode(advertised)};
}

Seeds pair_seed(const std::string& first, const std::string& second) {
    return {std::string{static_cast<char>(first.size())} + first + second};
}

const dataset::FeatureSchema& table_features() {
    const static auto features =
        dataset::FeatureSchema::create({{"x", dataset::FeatureKind::kNumeric, {}},
                                        {"c", dataset::FeatureKind::kCategorical, {"a", "b"}}})
            .value();
    return features;
}

bool table_file(std::string_view bytes) {
    const auto data = dataset::decode_table_cache(bytes, {}, table_features());
    if (!data) return refused(data.error());
    FUZZ_LAW(dataset::encode_table_cache(*data, {}) == bytes,
             "another form of a table is accepted");
    return true;
}

constexpr size_t kTableHead = 8 + 4 + 32, kTableDigest = 32;

Seeds table_files() {
    dataset::Dataset data;
    data.schema = table_features();
    data.columns = {{0.5f, -1, 3}, {0, 1, 0}};
    data.label = {0, 1, 1};
    Seeds files{dataset::encode_table_cache(data, {})};
    data.weight = {1, 2, 0.5f};
    data.group = {1, 0, 1};
    data.group_names = {"g=1", "g=2"};
    files.push_back(dataset::encode_table_cache(data, {}));
    data.label.clear();
    data.target = {0.5, -2, 1e9};
    files.push_back(dataset::encode_table_cache(data, {}));
    return files;
}

/// The bytes between head and checksum, which no mutation gets right.
bool table_rows(std::string_view bytes) {
    std::string file = table_files().front().substr(0, kTableHead) + std::string(bytes);
    const auto digest = base::sha256(file);
    return table_file(file.append(digest.bytes.begin(), digest.bytes.end()));
}

Seeds table_row_seeds() {
    Seeds rows;
    for (const auto& file : table_files())
        rows.push_back(file.substr(kTableHead, file.size() - kTableHead - kTableDigest));
    return rows;
}

}  // namespace

std::vector<Target> targets() {
    const static auto early = TimePoint::from_micros(-5), late = TimePoint::from_micros(1 << 20);
    return {
        {"join_state", join_state,
         [] {
             return Seeds{joiner::encode(example_state()), joiner::encode({})};
         }},
        {"decision_row", decision_row, row_seeds},
        {"quarantined", quarantined, quarantine_seed},
        {"time_keys", time_keys,
         [] { return pair_seed(joiner::time_key(early, "d-1"), joiner::time_key(late, "d-1")); }},
        {"maturity_keys", maturity_keys,
         [] {
             return pair_seed(joiner::maturity_key({early, "repaid", "d-1"}),
                              joiner::maturity_key({late, "score", "d-2"}));
         }},
        {"log_record", log_record,
         [] {
             const streaming::Record record{
                 "d-1", "value", late, {{"schema", "rampart.v1.Decision/1"}, {"epoch", "3"}}};
             auto timed = streaming_local::encode(record, true);
             streaming_local::stamp(timed, late);
             return Seeds{streaming_local::encode(record, false), timed};
         }},
        {"pieces", pieces,
         [] {
             return Seeds{std::string("\0\1\2\3\4\5", 6) + "0123456789" + std::string(40, '\0')};
         }},
        {"bookmark", bookmark,
         [] {
             return Seeds{streaming::encode({streaming::Offset(7), std::string(32, 'x')}),
                          streaming::encode(streaming::Bookmark{})};
         }},
        {"lease_record", lease_record, lease_seeds},
        {"lease_key", lease_key,
         [] {
             return Seeds{"group-1/12", "g/0", "g/trainer"};
         }},
        {"trainer_seat", trainer_seat,
         [] {
             const lease::Turn turn{7, std::string(16, 's')};
             return Seeds{lease::encode({turn, turn, true}), lease::encode(lease::TrainerSeat{})};
         }},
        {"writer_mark", writer_mark,
         [] {
             return Seeds{std::string("\0"
                                      "17",
                                      3),
                          "\x01"
                          "3"};
         }},
        {"state_hash", state_hash, [] { return Seeds{"abcdefghijklmnopqrstuvwxyz"}; }},
        {"table_rows", table_rows, table_row_seeds},
        {"table_file", table_file, table_files},
    };
}

}  // namespace rampart::fuzz
