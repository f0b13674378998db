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

/// Somebody has forbidden to erase a person: a court, a regulator, a complaint that is open.
struct Hold {
    PersonTag person;
    std::string matter;  // one hold a person and matter
    std::string reason, actor;
    base::TimePoint since;
    std::optional<base::TimePoint> until;  // nullopt: until it is removed
    bool operator==(const Hold&) const = default;
};

/// An erasure that was begun: what it takes to finish it after a crash, when what led from the
/// person to the decisions is gone already.
struct PendingErasure {
    PersonTag person;
    base::TimePoint asked_at;
    std::vector<std::string> decisions;  // ids
    bool operator==(const PendingErasure&) const = default;
};

/// What operators have said about persons: holds, and erasures under way. Each change is synced.
/// Thread safe.
class Register {
  public:
    /// Errors: storage::Database::open's.
    static base::Result<std::unique_ptr<Register>> open(
        const std::filesystem::path& folder,
        std::shared_ptr<storage::MemoryBudget> memory = nullptr);
    ~Register();

    /// In place of the person's hold for the same matter, if there is one. invalid_argument
    /// "bad_id" for a matter or actor that is none; out_of_range "reason_too_long".
    base::Status add(const Hold& hold);
    /// not_found "no_hold".
    base::Status remove(const PersonTag& person, std::string_view matter);
    /// By person, matter; those that have run out among them.
    base::Result<std::vector<Hold>> holds() const;
    /// Those of a person that are in force at `now`.
    base::Result<std::vector<Hold>> in_force(const PersonTag& person, base::TimePoint now) const;

    base::Status begin(const PendingErasure& erasure);
    base::Result<std::optional<PendingErasure>> pending(const PersonTag& person) const;
    base::Status finish(const PersonTag& person);

    /// From its first decision on, the log is sealed; until note_clear_log().
    base::Status note_sealed_log();
    /// The log holds, or may hold, what is not sealed; that stays so.
    base::Status note_clear_log();
    /// Whether it does or may: also where nobody has noted the one nor the other.
    base::Result<bool> clear_log() const;

  private:
    explicit Register(std::unique_ptr<storage::Database> database);
    base::Status note(std::string_view what);
    std::unique_ptr<storage::Database> database_;
};

}  // namespace rampart::privacy
