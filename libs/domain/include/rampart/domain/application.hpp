#pragma once

#include <string>
#include <variant>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/domain/ids.hpp"

namespace rampart::domain {

/// Missing, a number, or a category's name.
using FeatureValue = std::variant<std::monostate, double, std::string>;

struct Feature {
    std::string name;
    FeatureValue value;
    bool operator==(const Feature&) const = default;
};

/// What arrives. No protected attribute is ever among the features: those travel apart.
struct Application {
    ApplicationId id;
    PersonId person;
    base::TimePoint event_time;
    std::vector<Feature> features;  // names are unique; order does not matter
    bool operator==(const Application&) const = default;
};

/// Ids, times, limits, unique names, finite numbers, UTF-8: what passes can be logged and read
/// back. Whether names fit a schema is the schema's business.
base::Status validate(const Application& application);

}  // namespace rampart::domain
