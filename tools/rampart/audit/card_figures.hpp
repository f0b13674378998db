#pragma once

#include <string>

#include "rampart/evaluation/model_card.hpp"

/// The pictures of a model card: inline SVG, in the page's colours.
namespace rampart::cli {

/// Observed rate against mean score, a dot with its interval for each bin, and the line on which a
/// calibrated model lies.
std::string calibration_figure(const evaluation::ModelCard& card);

/// A bar for each of the most important features.
std::string importance_figure(const evaluation::ModelCard& card, size_t most);

/// One small plot a feature, all on the same scale of P(favourable).
std::string dependence_figures(const evaluation::ModelCard& card);

}  // namespace rampart::cli
