#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/domain/override.hpp"

/// JSON form of overrides in HTTP; `revision` is optional, 0 by default:
///
///     {"decision_id": "d0…", "action_taken": "decline", "actor": "underwriter-17",
///      "reason": "income_not_proven", "revision": 0, "at": "2005-04-02T09:30:00Z"}
///
/// As strict as application_json.hpp.
namespace rampart::wire {

/// Body of POST /v1/overrides: one override, or {"overrides": [...]}.
struct OverridesRequest {
    std::vector<domain::Override> overrides;  // 1 to limits::kMaxBatch
    bool batch = false;
};

base::Result<domain::Override> override_from_json(std::string_view json);
base::Result<OverridesRequest> overrides_from_json(std::string_view json);

std::string to_json(const domain::Override& taken);
std::string to_json(std::span<const domain::Override> overrides);  // {"overrides": [...]}

}  // namespace rampart::wire
