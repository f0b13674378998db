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

/// 1 to limits::kMaxIdBytes characters, each printable ASCII but space, '/' and '\'.
base::Status check_id(std::string_view what, std::string_view id);

/// The decision id of an application: the same application gets the same decision, whatever crashed
/// in between. "d" and the first 31 hex digits of SHA-256("rampart decision" || application id).
DecisionId decision_id_of(const ApplicationId& application);

}  // namespace rampart::domain
