#pragma once

#include <optional>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/gbdt/bins.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/model/ensemble.hpp"

/// What a reduction reduces to: a learner of the same rows, asked again and again with other labels
/// and other weights.
namespace rampart::reductions {

struct WeightedTargets {
    std::vector<float> targets;  // [n] in [0, 1]; 0 or 1: classification
    std::vector<float> weights;  // [n] finite and > 0
};

/// A fit, and what it says of the rows.
struct OracleAnswer {
    model::Ensemble ensemble;
    std::vector<double> scores;             // [n] raw, of the training rows
    std::vector<double> validation_scores;  // of the validation rows; empty without
};

/// Knows the rows. Its answer need not be the best there is: a reduction trusts what it sees of the
/// scores, not the promise. The same question gets the same answer.
class Oracle {
  public:
    virtual ~Oracle() = default;
    virtual base::Result<OracleAnswer> fit(const WeightedTargets& question) = 0;
};

/// Boosted trees down the cross entropy, weighted: the raw score is the log-odds of the target.
/// The rows are put into bins once for all fits. Targets that are all alike get one without
/// trees. Keeps references: data sets and pool have to outlive it. Not thread safe.
class GbdtOracle : public Oracle {
  public:
    /// pool, validation: nullptr for none. Errors: parameters; columns; early stopping, which means
    /// nothing when labels change from fit to fit.
    static base::Result<GbdtOracle> create(const dataset::Dataset& data,
                                           const gbdt::LearnerParams& params,
                                           base::ThreadPool* pool,
                                           const dataset::Dataset* validation = nullptr);
    /// Errors: sizes, a target outside [0, 1], a weight that is not above 0.
    base::Result<OracleAnswer> fit(const WeightedTargets& question) override;

  private:
    GbdtOracle(const dataset::Dataset& data, gbdt::LearnerParams params, base::ThreadPool* pool,
               const dataset::Dataset* validation, gbdt::Bins bins);
    OracleAnswer constant(double raw) const;

    const dataset::Dataset* data_;
    gbdt::LearnerParams params_;
    base::ThreadPool* pool_;
    const dataset::Dataset* validation_;
    gbdt::Bins bins_;
};

}  // namespace rampart::reductions
