#pragma once

#include <string>
#include <variant>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/domain/ids.hpp"

namespace rampart::domain {

/// Missing, a number, or the name of a category.
using FeatureValue = std::variant<std::monostate, double, std::string>;

struct Feature {
    std::string name;
    FeatureValue value;
    bool operator==(const Feature&) const = default;
};

/// A loan application. Features never contain a protected attribute: those arrive separately.
struct Application {
    ApplicationId id;
    PersonId person;
    base::TimePoint event_time;
    std::vector<Feature> features;  // names are unique; order does not matter
    bool operator==(const Application&) const = default;
};

/// Checks ids, times, limits, unique names, finite numbers and UTF-8: a valid application can be
/// logged and read back. Does not check whether the names fit a schema.
base::Status validate(const Application& application);

}  // namespace rampart::domain
