#include "rampart/privacy/register.hpp"

#include <map>

#include "rampart/base/bytes.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/log.hpp"
#include "rampart/privacy/reasons.hpp"
#include "rampart/storage/database.hpp"

namespace rampart::privacy {

using base::Result;
using base::Status;
using base::TimePoint;
using storage::Sync;

namespace {

constexpr storage::ColumnFamily kHolds{0};     // person tag, matter
constexpr storage::ColumnFamily kErasures{1};  // person tag
constexpr storage::ColumnFamily kMeta{2};
constexpr std::string_view kSealedLogKey = "sealed_log", kClearLogKey = "clear_log";
constexpr base::Logger kLog("privacy");
constexpr std::string_view kErasedPrefix = "erased/";  // then what identifies the kind
// of an erasure: the second with records, the third with details of decisions as well
constexpr uint8_t kFormat = 1, kCountedFormat = 2, kDetailedFormat = 3;

std::string hold_key(const PersonTag& person, std::string_view matter) {
    return person.value() + std::string(matter);
}

Result<TimePoint> read_time(base::ByteReader& in) {
    RAMPART_TRY(const int64_t micros, in.i64());
    return TimePoint::from_micros(micros);
}

base::Error damaged() {
    return base::make_error(Reason::kBadRegister, "an entry in the register of holds is damaged");
}

Status check_format(base::ByteReader& in) {
    RAMPART_TRY(const uint8_t format, in.u8());
    return format == kFormat ? base::ok() : Status(damaged());
}

std::string encode(const Hold& hold) {
    std::string value;
    base::append_u8(value, kFormat);
    base::append_field(value, hold.reason);
    base::append_field(value, hold.actor);
    base::append_i64(value, hold.since.micros());
    base::append_u8(value, hold.until ? 1 : 0);
    base::append_i64(value, hold.until.value_or(TimePoint()).micros());
    return value;
}

Result<Hold> decode_hold(std::string_view key, std::string_view value) {
    Hold hold;
    base::ByteReader who(key), in(value);
    RAMPART_TRY(const auto tag, who.take(kPersonTagBytes));
    hold.person = PersonTag(std::string(tag));
    hold.matter = who.rest();
    RAMPART_RETURN_IF_ERROR(check_format(in));
    RAMPART_TRY(hold.reason, in.field());
    RAMPART_TRY(hold.actor, in.field());
    RAMPART_TRY(hold.since, read_time(in));
    RAMPART_TRY(const uint8_t ends, in.u8());
    RAMPART_TRY(const TimePoint until, read_time(in));
    if (ends == 1) hold.until = until;
    if (ends > 1 || !in.empty()) return damaged();
    return hold;
}

/// Returns what all records of a kind share.
std::string kind_of(const ErasedRecords& records) {
    std::string key;
    base::append_field(key, records.month);
    base::append_u8(key, static_cast<uint8_t>(records.side));
    base::append_field(key, records.action);
    base::append_u8(key, records.later ? 1 : 0);
    base::append_field(key, records.cell);
    return key;
}

/// Reads a kind and, behind it, its number.
Result<ErasedRecords> read_erased(base::ByteReader& in) {
    ErasedRecords out;
    RAMPART_TRY(out.month, in.field());
    RAMPART_TRY(const uint8_t side, in.u8());
    RAMPART_TRY(out.action, in.field());
    RAMPART_TRY(const uint8_t later, in.u8());
    RAMPART_TRY(out.cell, in.field());
    RAMPART_TRY(out.records, in.u64());
    if (side > 1 || later > 1) return damaged();
    out.side = static_cast<ErasedRecords::Side>(side);
    out.later = later == 1;
    return out;
}

void append(std::string& value, const PendingDecision& decision) {
    base::append_field(value, decision.id);
    base::append_u8(value, decision.details ? 1 : 0);
    if (!decision.details) return;
    base::append_field(value, decision.details->application);
    base::append_i64(value, decision.details->event_time.micros());
    base::append_i64(value, decision.details->decided_at.micros());
}

Result<PendingDecision> read_pending(base::ByteReader& in, uint8_t format) {
    PendingDecision decision;
    RAMPART_TRY(decision.id, in.field());
    if (format < kDetailedFormat) return decision;
    RAMPART_TRY(const uint8_t detailed, in.u8());
    if (detailed > 1) return damaged();
    if (detailed == 0) return decision;
    auto& details = decision.details.emplace();
    RAMPART_TRY(details.application, in.field());
    RAMPART_TRY(details.event_time, read_time(in));
    RAMPART_TRY(details.decided_at, read_time(in));
    return decision;
}

std::string encode(const PendingErasure& erasure) {
    std::string value;
    base::append_u8(value, kDetailedFormat);
    base::append_i64(value, erasure.asked_at.micros());
    base::append_u32(value, static_cast<uint32_t>(erasure.decisions.size()));
    for (const auto& decision : erasure.decisions) append(value, decision);
    base::append_u8(value, erasure.records ? 1 : 0);
    if (!erasure.records) return value;
    base::append_u32(value, static_cast<uint32_t>(erasure.records->size()));
    for (const auto& records : *erasure.records) {
        value += kind_of(records);
        base::append_u64(value, records.records);
    }
    return value;
}

/// Reads whether an erasure has counted its records.
Result<bool> read_counted(base::ByteReader& in, uint8_t format) {
    if (format < kDetailedFormat) return format == kCountedFormat;
    RAMPART_TRY(const uint8_t counted, in.u8());
    if (counted > 1) return damaged();
    return counted == 1;
}

Result<PendingErasure> decode_erasure(const PersonTag& person, std::string_view value) {
    base::ByteReader in(value);
    PendingErasure erasure;
    erasure.person = person;
    RAMPART_TRY(const uint8_t format, in.u8());
    if (format < kFormat || format > kDetailedFormat) return damaged();
    RAMPART_TRY(erasure.asked_at, read_time(in));
    RAMPART_TRY(const uint32_t count, in.u32());
    for (uint32_t i = 0; i < count; ++i) {
        RAMPART_TRY(auto decision, read_pending(in, format));
        erasure.decisions.push_back(std::move(decision));
    }
    RAMPART_TRY(const bool counted, read_counted(in, format));
    if (counted) {
        erasure.records.emplace();
        RAMPART_TRY(const uint32_t kinds, in.u32());
        for (uint32_t i = 0; i < kinds; ++i) {
            RAMPART_TRY(auto records, read_erased(in));
            erasure.records->push_back(std::move(records));
        }
    }
    if (!in.empty()) return damaged();
    return erasure;
}

}  // namespace

Register::Register(std::unique_ptr<storage::Database> database) : database_(std::move(database)) {}
Register::~Register() = default;

Result<std::unique_ptr<Register>> Register::open(const std::filesystem::path& folder,
                                                 std::shared_ptr<storage::MemoryBudget> memory) {
    storage::OpenOptions options;
    options.budget = std::move(memory);
    RAMPART_TRY(auto database,
                storage::Database::open(folder, {"holds", "erasures", "meta"}, options));
    return std::unique_ptr<Register>(new Register(std::move(database)));
}

Status Register::add(const Hold& hold) {
    RAMPART_RETURN_IF_ERROR(domain::check_id("matter", hold.matter));
    RAMPART_RETURN_IF_ERROR(domain::check_id("actor", hold.actor));
    if (hold.reason.size() > base::limits::kMaxTextBytes) {
        return base::make_error(Reason::kReasonTooLong,
                                "the reason has {} bytes; at most {} are allowed",
                                hold.reason.size(), base::limits::kMaxTextBytes);
    }
    storage::WriteBatch batch;
    batch.put(kHolds, hold_key(hold.person, hold.matter), encode(hold));
    return database_->write(batch, Sync::kAlways);
}

Status Register::remove(const PersonTag& person, std::string_view matter) {
    const std::string key = hold_key(person, matter);
    RAMPART_TRY(const auto present, database_->get(kHolds, key));
    if (!present) {
        return base::make_error(Reason::kNoHold,
                                "there is no hold on this person in the matter '{}'",
                                matter.substr(0, base::limits::kMaxIdBytes));
    }
    storage::WriteBatch batch;
    batch.erase(kHolds, key);
    return database_->write(batch, Sync::kAlways);
}

Result<std::vector<Hold>> Register::holds() const {
    std::vector<Hold> found;
    const auto visit = [&](std::string_view key, std::string_view value) -> Result<bool> {
        RAMPART_TRY(auto hold, decode_hold(key, value));
        found.push_back(std::move(hold));
        return true;
    };
    RAMPART_RETURN_IF_ERROR(database_->scan(kHolds, storage::KeyRange::all(), visit));
    return found;
}

Result<std::vector<Hold>> Register::in_force(const PersonTag& person, TimePoint now) const {
    std::vector<Hold> found;
    const auto visit = [&](std::string_view key, std::string_view value) -> Result<bool> {
        RAMPART_TRY(auto hold, decode_hold(key, value));
        if (!hold.until || now < *hold.until) found.push_back(std::move(hold));
        return true;
    };
    RAMPART_RETURN_IF_ERROR(
        database_->scan(kHolds, storage::KeyRange::with_prefix(person.value()), visit));
    return found;
}

Status Register::begin(const PendingErasure& erasure) {
    storage::WriteBatch batch;
    batch.put(kErasures, erasure.person.value(), encode(erasure));
    return database_->write(batch, Sync::kAlways);
}

Result<std::optional<PendingErasure>> Register::pending(const PersonTag& person) const {
    RAMPART_TRY(const auto value, database_->get(kErasures, person.value()));
    if (!value) return std::optional<PendingErasure>();
    return decode_erasure(person, *value).map([](PendingErasure erasure) {
        return std::optional(std::move(erasure));
    });
}

Status Register::finish(const PersonTag& person) {
    const std::lock_guard lock(tally_);
    RAMPART_TRY(const auto erasure, pending(person));
    if (!erasure) return base::ok();
    std::map<std::string, uint64_t> added;
    for (const auto& records : erasure->records.value_or(std::vector<ErasedRecords>{})) {
        added[std::string(kErasedPrefix) + kind_of(records)] += records.records;
    }
    storage::WriteBatch batch;
    for (auto& [key, records] : added) {
        RAMPART_TRY(const auto before, database_->get(kMeta, key));
        if (before) {
            base::ByteReader in(*before);
            RAMPART_TRY(const uint64_t known, in.u64());
            records += known;
        }
        std::string value;
        base::append_u64(value, records);
        batch.put(kMeta, key, value);
    }
    batch.erase(kErasures, person.value());
    RAMPART_RETURN_IF_ERROR(database_->write(batch, Sync::kAlways));
    // no file may go on saying what the person of the tag was counted as; the next erasure, which
    // compacts all of it, does what a full disk forbids now
    if (const auto compacted = database_->compact(kErasures); !compacted)
        kLog.warning("msg=\"not compacted after an erasure\" what=\"{}\"",
                     compacted.error().message);
    return base::ok();
}

Result<std::vector<ErasedRecords>> Register::erased() const {
    const std::lock_guard lock(tally_);
    std::map<std::string, ErasedRecords> found;
    const auto add = [&](const ErasedRecords& records) {
        const auto [kind, fresh] = found.try_emplace(kind_of(records), records);
        if (!fresh) kind->second.records += records.records;
    };
    const auto counted = [&](std::string_view key, std::string_view value) -> Result<bool> {
        const std::string bytes = std::string(key.substr(kErasedPrefix.size())).append(value);
        base::ByteReader in(bytes);
        RAMPART_TRY(const auto records, read_erased(in));
        if (!in.empty()) return damaged();
        add(records);
        return true;
    };
    const auto begun = [&](std::string_view key, std::string_view value) -> Result<bool> {
        RAMPART_TRY(const auto erasure, decode_erasure(PersonTag(std::string(key)), value));
        // an erasure that an earlier release began: only that it was begun is known
        if (!erasure.records && !erasure.decisions.empty()) add({.records = 1});
        for (const auto& records : erasure.records.value_or(std::vector<ErasedRecords>{}))
            add(records);
        return true;
    };
    RAMPART_RETURN_IF_ERROR(
        database_->scan(kMeta, storage::KeyRange::with_prefix(kErasedPrefix), counted));
    RAMPART_RETURN_IF_ERROR(database_->scan(kErasures, storage::KeyRange::all(), begun));
    std::vector<ErasedRecords> out;
    for (auto& [key, records] : found) out.push_back(std::move(records));
    return out;
}

Status Register::note(std::string_view what) {
    RAMPART_TRY(const auto known, database_->get(kMeta, what));
    if (known) return base::ok();
    storage::WriteBatch batch;
    batch.put(kMeta, what, "");
    return database_->write(batch, Sync::kAlways);
}

Status Register::note_sealed_log() { return note(kSealedLogKey); }
Status Register::note_clear_log() { return note(kClearLogKey); }

Result<bool> Register::clear_log() const {
    RAMPART_TRY(const auto sealed, database_->get(kMeta, kSealedLogKey));
    RAMPART_TRY(const auto clear, database_->get(kMeta, kClearLogKey));
    return clear || !sealed;
}

}  // namespace rampart::privacy
