#include "rampart/retraining/run_store.hpp"

#include <boost/json.hpp>

#include "rampart/base/bytes.hpp"
#include "rampart/retraining/reasons.hpp"

namespace rampart::retraining {
namespace {

using base::Result;
using base::Status;
namespace json = boost::json;

constexpr storage::ColumnFamily kState{0}, kRuns{1};
constexpr std::string_view kStarted = "started", kServedUntil = "served_until", kTrials = "trials ";
constexpr uint8_t kOnRequest = 1, kOpensEpoch = 2;  // 2: on request, and with an epoch of its own

constexpr uint8_t kDistilled = 1, kNamed = 2;  // bits; kNamed: with who proposed it

std::string trials_key(const base::Digest& search) {
    return fmt::format("{}{}", kTrials, search.hex());
}

std::string run_key(uint32_t ordinal) {
    std::string key;
    base::append_u32(key, ordinal);
    return key;
}

std::string encode(const StartedRun& run) {
    std::string out;
    base::append_u32(out, run.ordinal);
    base::append_i64(out, run.at.micros());
    base::append_field(out, run.reference);
    base::append_field(out, run.candidate);
    base::append_u8(out, run.opens_epoch > 0 ? kOpensEpoch : run.on_request ? kOnRequest : 0);
    base::append_u8(out, static_cast<uint8_t>((run.distilled ? kDistilled : 0) |
                                              (run.proposed_by.empty() ? 0 : kNamed)));
    base::append_u64(out, run.matured);
    if (!run.proposed_by.empty()) base::append_field(out, run.proposed_by);
    if (run.opens_epoch > 0) {
        base::append_u32(out, run.opens_epoch);
        base::append_field(out, run.epoch_note);
    }
    for (const auto& [name, value] : run.figures) {
        base::append_field(out, name);
        base::append_field(out, value);
    }
    return out;
}

Result<StartedRun> decode_started(std::string_view bytes) {
    base::ByteReader reader(bytes);
    StartedRun run;
    RAMPART_TRY(run.ordinal, reader.u32());
    RAMPART_TRY(const int64_t at, reader.i64());
    RAMPART_TRY(const auto reference, reader.field());
    RAMPART_TRY(const auto candidate, reader.field());
    RAMPART_TRY(const uint8_t on_request, reader.u8());
    RAMPART_TRY(const uint8_t bits, reader.u8());
    RAMPART_TRY(run.matured, reader.u64());
    if ((bits & kNamed) != 0) {
        RAMPART_TRY(const auto name, reader.field());
        run.proposed_by = std::string(name);
    }
    if (on_request == kOpensEpoch) {
        RAMPART_TRY(run.opens_epoch, reader.u32());
        RAMPART_TRY(const auto note, reader.field());
        run.epoch_note = std::string(note);
    }
    while (!reader.empty()) {
        RAMPART_TRY(const auto name, reader.field());
        RAMPART_TRY(const auto value, reader.field());
        run.figures[std::string(name)] = std::string(value);
    }
    run.on_request = on_request != 0;
    run.distilled = (bits & kDistilled) != 0;
    run.at = base::TimePoint::from_micros(at);
    run.reference = std::string(reference);
    run.candidate = std::string(candidate);
    return run;
}

std::string encode(base::TimePoint time) {
    std::string out;
    base::append_i64(out, time.micros());
    return out;
}

}  // namespace

std::string encode(const RunRecord& run) {
    json::object figures;
    for (const auto& [name, value] : run.figures) figures[name] = value;
    return json::serialize(json::object{{"ordinal", run.ordinal},
                                        {"at_micros", run.at.micros()},
                                        {"candidate", run.candidate},
                                        {"reference", run.reference},
                                        {"verdict", to_string(run.verdict)},
                                        {"reason", run.reason},
                                        {"message", run.message},
                                        {"certificate", run.certificate},
                                        {"figures", figures},
                                        {"matured", run.matured}});
}

Result<RunRecord> decode_run_record(std::string_view bytes) {
    const base::Error broken = base::make_error(
        Reason::kBadRunRecord, "the trainer's store holds a run that is not one of its records");
    boost::system::error_code failure;
    const auto document = json::parse(bytes, failure);
    const auto* object = failure ? nullptr : document.if_object();
    if (object == nullptr) return broken;
    const auto text = [&](std::string_view name) -> const json::string* {
        const auto* value = object->if_contains(name);
        return value == nullptr ? nullptr : value->if_string();
    };
    RunRecord run;
    std::string verdict;
    const std::pair<const char*, std::string*> texts[] = {
        {"candidate", &run.candidate}, {"reference", &run.reference},
        {"verdict", &verdict},         {"reason", &run.reason},
        {"message", &run.message},     {"certificate", &run.certificate}};
    for (const auto& [name, target] : texts) {
        const auto* value = text(name);
        if (value == nullptr) return broken;
        *target = std::string(*value);
    }
    const auto known = certification::verdict_of(verdict);
    if (!known) return broken;
    run.verdict = *known;
    boost::system::error_code bad_number;
    const auto number = [&](std::string_view name) -> int64_t {
        const auto* value = object->if_contains(name);
        return value == nullptr ? -1 : value->to_number<int64_t>(bad_number);
    };
    const int64_t ordinal = number("ordinal"), at = number("at_micros"),
                  matured = number("matured");
    const auto* figures = object->if_contains("figures");
    if (bad_number || ordinal < 1 || matured < 0 || figures == nullptr || !figures->is_object())
        return broken;
    run.ordinal = static_cast<uint32_t>(ordinal);
    run.at = base::TimePoint::from_micros(at);
    run.matured = static_cast<uint64_t>(matured);
    for (const auto& [name, value] : figures->get_object()) {
        if (!value.is_string()) return broken;
        run.figures[std::string(name)] = std::string(value.get_string());
    }
    return run;
}

Result<RunStore> RunStore::open(const std::filesystem::path& folder, bool read_only) {
    storage::OpenOptions options;
    options.read_only = read_only;
    options.create = !read_only;
    options.memtable_bytes = 1u << 20;  // one record per run: too little for a share of the budget
    options.cache_bytes = 1u << 20;
    RAMPART_TRY(auto database, storage::Database::open(folder, {"default", "runs"}, options));
    return RunStore(std::move(database));
}

Result<std::vector<RunRecord>> RunStore::runs() const {
    std::vector<RunRecord> runs;
    RAMPART_RETURN_IF_ERROR(
        database_->scan(kRuns, storage::KeyRange::all(),
                        [&](std::string_view, std::string_view value) -> Result<bool> {
                            RAMPART_TRY(auto run, decode_run_record(value));
                            runs.push_back(std::move(run));
                            return true;
                        }));
    return runs;
}

Result<std::optional<RunRecord>> RunStore::last_run() const {
    RAMPART_TRY(const auto last, database_->last(kRuns, storage::KeyRange::all()));
    if (!last) return std::optional<RunRecord>();
    RAMPART_TRY(auto run, decode_run_record(last->second));
    return std::optional<RunRecord>(std::move(run));
}

Result<std::optional<StartedRun>> RunStore::started() const {
    RAMPART_TRY(const auto bytes, database_->get(kState, kStarted));
    if (!bytes) return std::optional<StartedRun>();
    RAMPART_TRY(auto run, decode_started(*bytes));
    return std::optional<StartedRun>(std::move(run));
}

Result<std::optional<base::TimePoint>> RunStore::served_until() const {
    RAMPART_TRY(const auto bytes, database_->get(kState, kServedUntil));
    if (!bytes) return std::optional<base::TimePoint>();
    RAMPART_TRY(const int64_t micros, base::ByteReader(*bytes).i64());
    return std::optional(base::TimePoint::from_micros(micros));
}

Status RunStore::start(const StartedRun& run) {
    storage::WriteBatch batch;
    batch.put(kState, kStarted, encode(run));
    return database_->write(batch, storage::Sync::kAlways);
}

Status RunStore::put_served_until(storage::WriteBatch& batch, base::TimePoint time) const {
    RAMPART_TRY(const auto before, served_until());
    if (!before || time > *before) batch.put(kState, kServedUntil, encode(time));
    return base::ok();
}

Result<std::string> RunStore::trials(const base::Digest& search) const {
    RAMPART_TRY(auto bytes, database_->get(kState, trials_key(search)));
    return std::move(bytes).value_or("");
}

Status RunStore::keep_trials(const base::Digest& search, const std::string& trials) {
    storage::WriteBatch batch;
    batch.put(kState, trials_key(search), trials);
    return database_->write(batch, storage::Sync::kAlways);
}

Status RunStore::finish(const RunRecord& run, bool of_schedule) {
    storage::WriteBatch batch;
    const auto searches = storage::KeyRange::with_prefix(kTrials);
    batch.erase_range(kState, searches.begin, searches.end);
    batch.put(kRuns, run_key(run.ordinal), encode(run));
    batch.erase(kState, kStarted);
    if (of_schedule) RAMPART_RETURN_IF_ERROR(put_served_until(batch, run.at));
    return database_->write(batch, storage::Sync::kAlways);
}

Status RunStore::serve_until(base::TimePoint time) {
    storage::WriteBatch batch;
    RAMPART_RETURN_IF_ERROR(put_served_until(batch, time));
    if (batch.empty()) return base::ok();
    return database_->write(batch, storage::Sync::kAlways);
}

}  // namespace rampart::retraining
