#pragma once

#include <optional>
#include <string>

#include "rampart/base/result.hpp"
#include "rampart/fair_regression/loss.hpp"

/// The losses of fair regression by name, as users write them and model files keep them.
namespace rampart::evaluation {

base::Result<fair_regression::RegressionLoss> parse_loss(const std::string& name,
                                                         std::optional<double> parameter);
/// Returns "logistic 5", as parse_loss_text reads it.
std::string loss_text(const fair_regression::RegressionLoss& loss);
base::Result<fair_regression::RegressionLoss> parse_loss_text(const std::string& text);

}  // namespace rampart::evaluation
