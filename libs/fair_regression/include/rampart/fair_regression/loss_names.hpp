#pragma once

#include <optional>
#include <string>

#include "rampart/base/result.hpp"
#include "rampart/fair_regression/loss.hpp"
#include "rampart/model/policy_state.hpp"

/// The losses of fair regression as users write them and as model files keep them.
namespace rampart::fair_regression {

base::Result<RegressionLoss> parse_loss(const std::string& name, std::optional<double> parameter);
/// Returns "logistic 5".
std::string loss_text(const RegressionLoss& loss);

model::StoredLoss stored(const RegressionLoss& loss);
/// Returns the loss that was stored. Errors: out_of_range "bad_loss_parameter"; invalid_argument
/// "bad_regression_loss": a user's own.
base::Result<RegressionLoss> loss_of(const model::StoredLoss& stored);

}  // namespace rampart::fair_regression
