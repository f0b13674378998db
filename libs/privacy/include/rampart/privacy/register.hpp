#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/privacy/person_tag.hpp"

namespace rampart::storage {
class Database;
class MemoryBudget;
}  // namespace rampart::storage

namespace rampart::privacy {

/// Legal hold: forbids the erasure of a person (by a court, a regulator, an open complaint).
struct Hold {
    PersonTag person;
    std::string matter;  // one hold per person and matter
    std::string reason, actor;
    base::TimePoint since;
    std::optional<base::TimePoint> until;  // nullopt: until it is removed
    bool operator==(const Hold&) const = default;
};

/// Records of erased persons that the gate would have read or learnt from, without identity.
struct ErasedRecords {
    enum class Side : uint8_t { kDevelopment = 0, kVault = 1 };
    std::string month{};  // "2005-04", the application's; empty: not known, nor is side or action
    Side side = Side::kVault;
    std::string action{};  // as drawn: "approve"
    bool later = false;  // an earlier month has a record of the person, so that the gate reads this
                         // one only where it leaves that month out
    std::string cell{};  // "sex=female,age=under_30"; empty: not known, or too few are in it
    uint64_t records = 0;
    bool operator==(const ErasedRecords&) const = default;
};

/// A decision that an erasure in progress takes away, with what finds its records in the files and
/// in quarantine when its state is gone.
struct PendingDecision {
    struct Details {
        std::string application;
        base::TimePoint event_time, decided_at;
        bool operator==(const Details&) const = default;
    };
    std::string id;
    std::optional<Details> details{};  // nullopt: an earlier release began the erasure
    bool operator==(const PendingDecision&) const = default;
};

/// A begun erasure: the data needed to finish it after a crash, when the link from the person to
/// the decisions is already deleted.
struct PendingErasure {
    PersonTag person;
    base::TimePoint asked_at;
    std::vector<PendingDecision> decisions;
    /// What the tally will count when it is finished; nullopt: an earlier release began it.
    std::optional<std::vector<ErasedRecords>> records{};
    bool operator==(const PendingErasure&) const = default;
};

/// Operators' entries about persons: holds, and erasures in progress. Each change is
/// synced. Thread safe.
class Register {
  public:
    /// Opens the register. Fails as storage::Database::open does.
    static base::Result<std::unique_ptr<Register>> open(
        const std::filesystem::path& folder,
        std::shared_ptr<storage::MemoryBudget> memory = nullptr);
    ~Register();

    /// Adds a hold, or replaces the person's hold for the same matter. Fails with invalid_argument
    /// "bad_id" for an invalid matter or actor; out_of_range "reason_too_long".
    base::Status add(const Hold& hold);
    /// Fails with not_found "no_hold".
    base::Status remove(const PersonTag& person, std::string_view matter);
    /// Returns all holds by person and matter, including expired ones.
    base::Result<std::vector<Hold>> holds() const;
    /// Returns a person's holds that are in force at `now`.
    base::Result<std::vector<Hold>> in_force(const PersonTag& person, base::TimePoint now) const;

    base::Status begin(const PendingErasure& erasure);
    base::Result<std::optional<PendingErasure>> pending(const PersonTag& person) const;
    /// Ends the erasure and adds its records to the tally, in one write: after a crash both are
    /// done or neither. Does nothing if there is none.
    base::Status finish(const PersonTag& person);
    /// Returns the tally of erased records, with those of erasures in progress, of which the gate
    /// may see nothing any more. Each kind once, in the order of its key.
    base::Result<std::vector<ErasedRecords>> erased() const;

    /// Records that the log is sealed from its first decision on; until note_clear_log().
    base::Status note_sealed_log();
    /// Records that the log contains, or may contain, unsealed decisions; this is permanent.
    base::Status note_clear_log();
    /// Returns whether it does or may; also true if neither was recorded.
    base::Result<bool> clear_log() const;

  private:
    explicit Register(std::unique_ptr<storage::Database> database);
    base::Status note(std::string_view what);
    std::unique_ptr<storage::Database> database_;
    mutable std::mutex tally_;  // from reading the tally to its change
};

}  // namespace rampart::privacy
