#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/domain/decision.hpp"

/// Decisions as they travel over HTTP: every member of domain::Decision under its own name, with
/// the ids as decision_id, policy_id and draw_key_id, and the application inside. Numbers are
/// written so that reading gives the same bits back.
namespace rampart::wire {

/// `unseen_categories`: features whose category the policy does not know, for the client; no part
/// of the decision, and passed over when it is read back. None: the member is left out.
std::string to_json(const domain::Decision& decision,
                    std::span<const std::string> unseen_categories = {});
std::string to_json(std::span<const domain::Decision> decisions);  // {"decisions": [...]}

/// As strict as application_json.hpp; domain::validate holds for what is returned.
base::Result<domain::Decision> decision_from_json(std::string_view json);
/// {"decisions": [...]}, up to limits::kMaxBatch.
base::Result<std::vector<domain::Decision>> decisions_from_json(std::string_view json);

}  // namespace rampart::wire
