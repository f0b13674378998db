#pragma once

#include <string>

#include "rampart/base/result.hpp"
#include "rampart/base/strong_type.hpp"

namespace rampart::domain {

using ApplicationId = base::StrongType<std::string, struct ApplicationIdTag>;
using DecisionId = base::StrongType<std::string, struct DecisionIdTag>;
using PersonId = base::StrongType<std::string, struct PersonIdTag>;
/// SHA-256 of the policy's model file, 64 hex digits.
using PolicyId = base::StrongType<std::string, struct PolicyIdTag>;

/// Checks for 1 to limits::kMaxIdBytes characters: printable ASCII except space, '/' and '\'.
base::Status check_id(std::string_view what, std::string_view id);

/// Derives the decision id, so that one application always gets the same decision, also after a
/// crash: "d" and the first 31 hex digits of SHA-256("rampart decision" || application id).
DecisionId decision_id_of(const ApplicationId& application);

}  // namespace rampart::domain
