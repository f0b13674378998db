#pragma once

#include "rampart/fair_regression/levels.hpp"
#include "rampart/fair_regression/oracles.hpp"
#include "rampart/fair_regression/parity.hpp"

namespace rampart::fair_regression {

/// A model that says u, and what it says, before that is kept within [0, 1].
struct RegressionResponse {
    reductions::OracleModel model;
    std::vector<double> predictions, validation_predictions;
};

/// Risk minimisation under a loss, of labels with weights, by a question that the oracle knows.
/// (A user's loss: least squares.)
base::Result<RegressionResponse> fit_loss(const RegressionLoss& loss, std::vector<double> labels,
                                          std::vector<float> weights, reductions::Oracle& oracle,
                                          size_t validation_rows);

/// The three questions of parity.hpp.
class ParityResponder {
  public:
    ParityResponder(const RegressionRows& rows, const LevelRows& levels, const RegressionLoss& loss,
                    const ParityRegressionParams& params, reductions::Oracle& oracle,
                    size_t validation_rows)
        : rows_(rows),
          levels_(levels),
          loss_(loss),
          params_(params),
          oracle_(oracle),
          validation_rows_(validation_rows) {}

    base::Result<RegressionResponse> respond(std::span<const double> multipliers);
    /// What comes nearest, under the loss, to predictions that are the same in every group.
    base::Result<RegressionResponse> repair(std::span<const double> predictions);

  private:
    base::Result<RegressionResponse> ask(const std::vector<double>& costs);
    base::Result<RegressionResponse> refined(RegressionResponse response,
                                             const std::vector<double>& costs);
    std::vector<float> weights() const { return {rows_.weight.begin(), rows_.weight.end()}; }

    const RegressionRows& rows_;
    const LevelRows& levels_;
    const RegressionLoss& loss_;
    const ParityRegressionParams& params_;
    reductions::Oracle& oracle_;
    size_t validation_rows_;
};

/// Each group's quantiles moved to their mean over the groups: [n] of [n], kept within [0, 1].
std::vector<double> repaired(const RegressionRows& rows, std::span<const double> predictions);

/// The surrogates of costs by cell ([cells x (N + 1)]), for one's tests.
reductions::CellLoss hinges(std::span<const double> costs, int levels);
reductions::CellLoss smoothed_steps(std::span<const double> costs, int levels);

}  // namespace rampart::fair_regression
