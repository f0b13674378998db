#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/domain/ids.hpp"

namespace rampart::protected_attributes {

/// Called with the person of a record. `since`: from when on this version was in force, by the
/// clock of the node; nullopt: it is the latest record. An error ends the visit.
using PersonVisitor = std::function<base::Status(const domain::PersonId& person,
                                                 std::optional<base::TimePoint> since)>;

/// Visits all versions in the folder of a ProtectedStore that is not open, and then the latest
/// record of each person. Fails as storage::Database::open does.
base::Status visit_persons(const std::filesystem::path& folder, const PersonVisitor& visit);

}  // namespace rampart::protected_attributes
