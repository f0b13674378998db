#include "rampart/privacy/register.hpp"

#include <map>

#include "rampart/base/bytes.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/log.hpp"
#include "rampart/privacy/reasons.hpp"
#include "rampart/storage/database.hpp"
#include "register_format.hpp"

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

std::string hold_key(const PersonTag& person, std::string_view matter) {
    return person.value() + std::string(matter);
}

Status check_format(base::ByteReader& in) {
    RAMPART_TRY(const uint8_t format, in.u8());
    return format == kRegisterFormat ? base::ok() : Status(damaged_register());
}

std::string encode(const Hold& hold) {
    std::string value;
    base::append_u8(value, kRegisterFormat);
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
    if (ends > 1 || !in.empty()) return damaged_register();
    return hold;
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
        if (!in.empty()) return damaged_register();
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
