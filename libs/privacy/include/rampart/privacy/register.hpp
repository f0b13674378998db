#pragma once

#include <filesystem>
#include <memory>
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

/// A begun erasure: the data needed to finish it after a crash, when the link from the person to
/// the decisions is already deleted.
struct PendingErasure {
    PersonTag person;
    base::TimePoint asked_at;
    std::vector<std::string> decisions;  // decision ids
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
    base::Status finish(const PersonTag& person);

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
};

}  // namespace rampart::privacy
