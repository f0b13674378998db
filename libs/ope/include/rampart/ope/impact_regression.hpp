#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/ope/estimator.hpp"

namespace rampart::ope {

/// Training records for the impact of both actions: n rows of d features, row-major.
struct RegressionData {
    size_t features = 0;                // d, up to limits::kMaxFeatures
    std::span<const double> x;          // n * d; NaN: missing, replaced by the feature's mean
    std::span<const uint8_t> approved;  // n, the drawn action: 0 or 1
    std::span<const double> impact;     // n; NaN: no impact on record, the row is ignored
    std::span<const double> weight{};   // n, >= 0, or empty: 1 each
};

struct RegressionOptions {
    /// Added to the diagonal of the standardised normal equations, in (0, 1e6]: large enough to
    /// make them solvable at any rank, too small to matter if they already are.
    double ridge = 1e-6;
    /// Separate slopes for each action (1, A, X, A X). false: shared slopes (1, A, X).
    bool own_slopes = true;
};

/// Linear regression of the impact on action and features, for the centres of a doubly robust
/// estimate (Dudik, Langford, Li 2011): q(x, a) near E[I | x, a] removes the variance of Z that x
/// explains. The estimate stays unbiased even with a bad fit, as long as the record's own outcome
/// is not used: fit on the development set (or cross-fit).
///
/// Immutable after fit(), safe to call from many threads. Deterministic for one build. The order of
/// the rows changes rounding errors only; a feature's scale and origin change the result by no more
/// than the ridge does.
class ImpactRegression {
  public:
    /// Fits weighted least squares with a ridge. Predictions are clamped to the range of the fitted
    /// values and to `impact_range`. Fails with invalid_argument: "bad_shape", "too_few_rows"
    /// (fewer than two rows with an impact and a positive weight), "bad_regression_data" (an
    /// infinite number, a negative weight, an action other than 0 and 1), "bad_ridge", "bad_range".
    /// Memory: a (2 d) x (2 d) matrix, for any n.
    static base::Result<ImpactRegression> fit(const RegressionData& data, Interval impact_range,
                                              const RegressionOptions& options = {});

    /// Returns the expected impacts of both actions for one row of d features; d must be that of
    /// the data (RAMPART_CHECK). An infinite feature counts as missing.
    ControlVariates predict(std::span<const double> x) const;

    /// Returns the range of the predictions.
    Interval fitted_range() const;

  private:
    struct Model;
    explicit ImpactRegression(std::shared_ptr<const Model> model);
    std::shared_ptr<const Model> model_;
};

/// Returns control variates for the records of `data`, each from a regression on the other folds
/// only: for use on the test records themselves. All records of a unit are in one fold, chosen by
/// the unit's number (n of them). The values are then weakly dependent: valid for Student's t, not
/// for betting, which needs control variates independent of all test records. Fails as fit() does;
/// out_of_range "bad_folds" for folds outside [2, 100].
base::Result<std::vector<ControlVariates>> cross_fitted_control_variates(
    const RegressionData& data, std::span<const uint32_t> unit, size_t folds, Interval impact_range,
    const RegressionOptions& options = {});

}  // namespace rampart::ope
