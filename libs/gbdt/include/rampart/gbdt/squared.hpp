#pragma once

#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/gbdt/objective.hpp"

namespace rampart::gbdt {

/// Weighted squared error of real targets t: loss = sum of w·(f - t)²/2, g = w·(f - t), h = w. The
/// initial score is the weighted mean. For training on targets only: the default early stopping of
/// train() uses log loss on labels and does not apply.
class SquaredError : public Objective {
  public:
    /// Takes targets [n] finite, |t| <= 1e6, and weights [n] finite and > 0, or empty for all 1.
    static base::Result<SquaredError> create(std::vector<double> targets,
                                             std::vector<float> weights);
    std::string_view name() const override { return "squared_error"; }
    double initial_score() const override;
    void gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                           std::span<float> h) const override;

  private:
    SquaredError(std::vector<double> targets, std::vector<float> weights);
    std::vector<double> targets_;
    std::vector<float> weights_;
};

}  // namespace rampart::gbdt
