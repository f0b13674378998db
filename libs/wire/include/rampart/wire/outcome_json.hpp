#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/domain/outcome.hpp"

/// JSON form of outcomes in HTTP; `revision` is optional, 0 by default:
///
///     {"decision_id": "d0…", "measure": "repaid", "value": 1, "revision": 0,
///      "observed_at": "2005-10-01T00:00:00Z"}
///
/// A censored outcome has `"censored": true` in place of the value.
///
/// As strict as application_json.hpp.
namespace rampart::wire {

/// Body of POST /v1/outcomes: one outcome, or {"outcomes": [...]}.
struct OutcomesRequest {
    std::vector<domain::Outcome> outcomes;  // 1 to limits::kMaxBatch
    bool batch = false;
};

base::Result<domain::Outcome> outcome_from_json(std::string_view json);
base::Result<OutcomesRequest> outcomes_from_json(std::string_view json);

std::string to_json(const domain::Outcome& outcome);
std::string to_json(std::span<const domain::Outcome> outcomes);  // {"outcomes": [...]}

}  // namespace rampart::wire
