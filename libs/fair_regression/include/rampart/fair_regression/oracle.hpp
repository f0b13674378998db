#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/fair_regression/loss.hpp"
#include "rampart/gbdt/bins.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/model/ensemble.hpp"
#include "rampart/model/linear_model.hpp"

/// What fair regression reduces to: a learner of the same rows, asked again and again with other
/// targets and weights (papers/002, section 3).
namespace rampart::fair_regression {

using model::LinearModel;

/// Says u once kept within [0, 1]. monostate: an oracle of one's own, which knows its models.
using RegressionModel = std::variant<std::monostate, model::Ensemble, LinearModel>;
/// intercept + slope · what the model says, as a model of the same kind.
RegressionModel affine(RegressionModel model, double intercept, double slope);
/// [n] before u is kept within [0, 1]. Not of a monostate.
std::vector<double> predict(const RegressionModel& model, const dataset::Dataset& data,
                            base::ThreadPool* pool);

/// A loss of a score that depends on a row's cell alone, with a continuous slope in pieces: between
/// the nodes first, first + step, … it is interpolated, beyond the outer ones it stays.
struct CellLoss {
    double first = 0, step = 1;                  // step > 0
    size_t nodes = 0;                            // >= 2
    std::vector<double> slopes = {};             // [cells x nodes] finite
    double least_curvature = 1;                  // > 0: no Newton step is longer than slope / that
    std::span<const uint32_t> cell_of_row = {};  // [n]

    struct Slope {
        double value, curvature;
    };
    Slope slope(size_t row, double score) const;
};

enum class RegressionTask {
    kLeastSquares,  // scores near real targets
    kCrossEntropy,  // log-odds of targets in [0, 1]
    kAbsolute,      // medians
    kQuantile,      // of order `parameter`
    kHuber,         // of width `parameter`
    kPoisson,       // logarithms of means; targets >= 0
    kCells,         // the loss of `cells`; no targets
};

struct RegressionQuestion {
    RegressionTask task = RegressionTask::kLeastSquares;
    double parameter = 0;
    std::vector<double> targets = {};
    std::vector<float> weights = {};  // [n] finite and > 0; empty: all 1
    const CellLoss* cells = nullptr;  // of kCells
    /// kCells: goes on from this model, with `more` trees, or as many steps of a linear model; an
    /// oracle without such steps starts where it always does. Of the oracle's own kind.
    const RegressionModel* start = nullptr;
    int more = 0;
};

struct RegressionAnswer {
    RegressionModel model;
    std::vector<double> scores;             // [n] of the training rows
    std::vector<double> validation_scores;  // of the validation rows; empty without
};

/// Knows the rows. Its answer need not be the best there is: a reduction trusts what it sees of the
/// scores. The same question gets the same answer.
class RegressionOracle {
  public:
    virtual ~RegressionOracle() = default;
    virtual base::Result<RegressionAnswer> fit(const RegressionQuestion& question) = 0;
};

/// Boosted trees. The rows are put into bins once for all fits: at most one of each 16 rows, or 32,
/// if `params` allow more. Keeps references: data sets and
/// pool have to outlive it. Labels, weights and groups of the data set are not read. Not thread
/// safe.
class GbdtRegressionOracle : public RegressionOracle {
  public:
    /// pool, validation: nullptr for none. Errors: parameters; columns; early stopping, which means
    /// nothing when targets change from fit to fit.
    static base::Result<GbdtRegressionOracle> create(const dataset::Dataset& data,
                                                     const gbdt::LearnerParams& params,
                                                     base::ThreadPool* pool,
                                                     const dataset::Dataset* validation = nullptr);
    /// Errors: sizes, targets, weights, too many trees.
    base::Result<RegressionAnswer> fit(const RegressionQuestion& question) override;

  private:
    GbdtRegressionOracle(const dataset::Dataset& data, gbdt::LearnerParams params,
                         base::ThreadPool* pool, const dataset::Dataset* validation,
                         gbdt::Bins bins);

    const dataset::Dataset* data_;
    gbdt::LearnerParams params_;
    base::ThreadPool* pool_;
    const dataset::Dataset* validation_;
    gbdt::Bins bins_;
};

struct LinearParams {
    /// Of the squared slopes of standardised columns, against the mean loss; [1e-9, 1e6]. The
    /// intercept is free.
    double ridge = 1e-6;
    int iterations = 50;  // of Newton's method, 1 … 1000
};

/// Linear models with an intercept, by Newton's method with a line search: least squares in one
/// step (ridge regression), logistic regression, and every other task here; kinks are rounded off
/// over 1e-3. A loss of cells that goes on from a model need not be convex: its mean is brought
/// down by BFGS from the metric of least squares. Numbers are standardised, categories one-hot.
/// Keeps references to the data sets.
class LinearRegressionOracle : public RegressionOracle {
  public:
    /// Errors: columns; parameters; "too_large" for more than 1e8 numbers or 10,000 columns,
    /// one-hot ones among them.
    static base::Result<LinearRegressionOracle> create(
        const dataset::Dataset& data, const LinearParams& params,
        const dataset::Dataset* validation = nullptr);
    ~LinearRegressionOracle() override;
    LinearRegressionOracle(LinearRegressionOracle&&) noexcept;
    base::Result<RegressionAnswer> fit(const RegressionQuestion& question) override;

  private:
    struct Design;
    LinearRegressionOracle(std::unique_ptr<Design> design, LinearParams params);
    std::unique_ptr<Design> design_;
    LinearParams params_;
};

}  // namespace rampart::fair_regression
