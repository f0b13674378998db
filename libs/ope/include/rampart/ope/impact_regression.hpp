#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/ope/estimator.hpp"

namespace rampart::ope {

/// Records from which the impact of both actions is learnt: n rows of d features, row by row.
struct RegressionData {
    size_t features = 0;                // d, up to limits::kMaxFeatures
    std::span<const double> x;          // n * d; NaN: not known, taken as the feature's mean
    std::span<const uint8_t> approved;  // n, the action drawn: 0 or 1
    std::span<const double> impact;     // n; NaN: none on record, the row counts for nothing
    std::span<const double> weight{};   // n, >= 0, or empty: 1 each
};

struct RegressionOptions {
    /// Added to the diagonal of the standardised normal equations, in (0, 1e6]: enough to make
    /// them solvable whatever the rank, too little to be seen where they are anyway.
    double ridge = 1e-6;
    /// Each action has slopes of its own (1, A, X, A X). false: one set for both (1, A, X).
    bool own_slopes = true;
};

/// Linear regression of the impact on action and features, for the centres of a doubly robust
/// estimate (Dudik, Langford, Li 2011): q(x, a) near E[I | x, a] takes out of Z what x explains.
/// The estimate stays unbiased however bad the fit, as long as the record's own outcome is not in
/// it, so that this is fitted on D_c (or cross-fitted).
///
/// Immutable after fit(), safe to call from many threads. Deterministic for a build; the order of
/// the rows matters only to rounding errors, and neither do a feature's scale and origin matter to
/// more than the ridge.
class ImpactRegression {
  public:
    /// Weighted least squares with a ridge. Predictions are kept within the range of the fitted
    /// values and within `impact_range`. Errors (invalid_argument): "bad_shape", "too_few_rows"
    /// (fewer than two rows with an impact and a positive weight), "bad_regression_data" (an
    /// infinite number, a negative weight, an action that is neither 0 nor 1), "bad_ridge",
    /// "bad_range". Memory: a square of 2 d, whatever n.
    static base::Result<ImpactRegression> fit(const RegressionData& data, Interval impact_range,
                                              const RegressionOptions& options = {});

    /// Expected impacts of both actions for one row of d features, the same d as in the data (a
    /// check fails otherwise). An infinite feature counts as not known.
    ControlVariates predict(std::span<const double> x) const;

    /// Where predictions lie.
    Interval fitted_range() const;

  private:
    struct Model;
    explicit ImpactRegression(std::shared_ptr<const Model> model);
    std::shared_ptr<const Model> model_;
};

/// Centres of the records of `data`, each from a regression on the other folds only: where the
/// centres have to come from the test records themselves. All records of a unit are in one fold;
/// the folds follow from the units' numbers (n of them). The values then hang together weakly: fit
/// for Student's t, not for betting, which needs centres that no test record had a part in. Errors
/// as fit(); invalid_argument "bad_folds" for folds outside [2, 100].
base::Result<std::vector<ControlVariates>> cross_fitted_control_variates(
    const RegressionData& data, std::span<const uint32_t> unit, size_t folds, Interval impact_range,
    const RegressionOptions& options = {});

}  // namespace rampart::ope
