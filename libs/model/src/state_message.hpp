#pragma once

#include "rampart/base/result.hpp"
#include "rampart/model/policy_state.hpp"
#include "rampart/v1/model_file.pb.h"

/// The state of a policy as the message of a model file.
namespace rampart::model {

void state_to_message(const PolicyState& state, v1::PolicyState& out);

/// Reads what state_to_message wrote; Policy::create checks the rest. Errors: data_loss
/// "bad_model_file": an unknown value of an enumeration, a digest of another length.
base::Result<PolicyState> state_from_message(const v1::PolicyState& message);

}  // namespace rampart::model
