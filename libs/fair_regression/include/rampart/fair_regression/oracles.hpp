#pragma once

#include <memory>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/reductions/oracle.hpp"

/// The learners that fair regression asks: boosted trees and linear models.
namespace rampart::fair_regression {

/// Returns boosted trees with at most n/16 bins, or 32, if `params` allow more: with few rows finer
/// bins add no information and cost most of the time. Arguments and errors as of
/// reductions::GbdtOracle::create.
base::Result<reductions::GbdtOracle> create_tree_oracle(
    const dataset::Dataset& data, const gbdt::LearnerParams& params, base::ThreadPool* pool,
    const dataset::Dataset* validation = nullptr);

struct LinearParams {
    /// Penalty of the squared slopes of standardised columns, relative to the mean loss;
    /// [1e-9, 1e6]. The intercept is not penalised.
    double ridge = 1e-6;
    int iterations = 50;  // steps of Newton's method, 1 … 1000
};

/// Linear models with an intercept, by Newton's method with a line search: least squares in one
/// step (ridge regression), logistic regression, and every other task; kinks are smoothed over
/// 1e-3. A loss of cells that continues from a model need not be convex: its mean is minimised by
/// BFGS from the metric of least squares. Numbers are standardised, categories one-hot. Keeps
/// references to the data sets.
class LinearOracle : public reductions::Oracle {
  public:
    /// Errors: columns; parameters; "too_large" for more than 1e8 numbers or 10,000 columns,
    /// one-hot ones among them.
    static base::Result<LinearOracle> create(const dataset::Dataset& data,
                                             const LinearParams& params,
                                             const dataset::Dataset* validation = nullptr);
    ~LinearOracle() override;
    LinearOracle(LinearOracle&&) noexcept;
    base::Result<reductions::OracleAnswer> fit(const reductions::OracleQuestion& question) override;

  private:
    struct Design;
    LinearOracle(std::unique_ptr<Design> design, LinearParams params);
    std::unique_ptr<Design> design_;
    LinearParams params_;
};

}  // namespace rampart::fair_regression
