#pragma once

#include <map>
#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/domain/ids.hpp"

namespace rampart::protected_attributes {

/// Protected attributes of one person at one time. Replaces the person's earlier record.
struct ProtectedAttributes {
    domain::PersonId person;
    base::TimePoint event_time;
    std::map<std::string, std::string> attributes;  // name → value
    bool operator==(const ProtectedAttributes&) const = default;
};

/// Checks id, time in the years 1900 to 9999, limits (names and values 1 to limits::kMaxNameBytes,
/// at most limits::kMaxGroups of them).
base::Status validate(const ProtectedAttributes& person);

}  // namespace rampart::protected_attributes
