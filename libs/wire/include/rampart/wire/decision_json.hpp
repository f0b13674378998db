#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/domain/decision.hpp"

/// JSON form of decisions in HTTP: every member of domain::Decision under its own name, with the
/// ids as decision_id, policy_id and draw_key_id, and the application nested. Numbers are written
/// so that they parse back to the same bits.
namespace rampart::wire {

/// `unseen_categories`: features whose category the policy does not know, as information for the
/// client; not part of the decision, and ignored by the parser. Empty: the member is omitted.
std::string to_json(const domain::Decision& decision,
                    std::span<const std::string> unseen_categories = {});
std::string to_json(std::span<const domain::Decision> decisions);  // {"decisions": [...]}

/// Parses as strictly as application_json.hpp; the result satisfies domain::validate. Ignores
/// `explanation`, the address of the explanation.
base::Result<domain::Decision> decision_from_json(std::string_view json);
/// Parses {"decisions": [...]}, up to limits::kMaxBatch.
base::Result<std::vector<domain::Decision>> decisions_from_json(std::string_view json);

}  // namespace rampart::wire
