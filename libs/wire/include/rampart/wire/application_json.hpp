#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/domain/application.hpp"

/// JSON form of applications in HTTP:
///
///     {"application_id": "a1", "person_id": "p1", "event_time": "2005-04-01T10:00:00Z",
///      "features": {"age": 41, "education": "university", "limit": null}}
///
/// Strict: an unknown, missing or duplicate member, a value of the wrong type, a number that is not
/// finite, or text that is not UTF-8 is invalid_argument (out_of_range beyond a limit); the error
/// names the JSON path. null is a missing value.
namespace rampart::wire {

/// Body of POST /v1/decisions: one application, or {"applications": [...]}.
struct ApplicationsRequest {
    std::vector<domain::Application> applications;  // 1 to limits::kMaxBatch
    bool batch = false;                             // the form {"applications": [...]} was used
};

base::Result<domain::Application> application_from_json(std::string_view json);
base::Result<ApplicationsRequest> applications_from_json(std::string_view json);

std::string to_json(const domain::Application& application);
std::string to_json(std::span<const domain::Application> applications);  // {"applications": [...]}

}  // namespace rampart::wire
