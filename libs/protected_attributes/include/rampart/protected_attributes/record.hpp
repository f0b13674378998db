#pragma once

#include <map>
#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/domain/ids.hpp"

namespace rampart::protected_attributes {

/// What is known of one person's protected attributes, at one time. Replaces what was known before.
struct ProtectedAttributes {
    domain::PersonId person;
    base::TimePoint event_time;
    std::map<std::string, std::string> attributes;  // name → value
    bool operator==(const ProtectedAttributes&) const = default;
};

/// Id, time in the years 1900 to 9999, limits (names and values 1 to limits::kMaxNameBytes, at most
/// limits::kMaxGroups of them).
base::Status validate(const ProtectedAttributes& person);

}  // namespace rampart::protected_attributes
