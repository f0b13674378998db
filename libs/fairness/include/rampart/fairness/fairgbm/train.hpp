#pragma once

#include <optional>
#include <vector>

#include "rampart/base/thread_pool.hpp"
#include "rampart/fairness/fairgbm/objective.hpp"
#include "rampart/gbdt/learner.hpp"

namespace rampart::fairness {

struct FairGbmParams {
    /// early_stopping_rounds has no effect: the choice of iterate takes its place.
    gbdt::LearnerParams learner;
    ParityConstraint constraint;
    /// An iterate comes into question only when it earns at least this share of the best iterate's
    /// gain in log loss over the constant model: without it, a first tree that still declines
    /// everybody is "fair".
    double min_gain_share = 0.9;  // [0, 1]
};

enum class Feasibility {
    kFeasible,    // the iterate kept holds the tolerance on the rows that judged
    kInfeasible,  // no iterate that came into question does; the one with the smallest gap was kept
};

/// Which rows chose among the iterates.
enum class JudgedOn { kTrain, kValidation };

struct FairGbmVerdict {
    Feasibility feasibility = Feasibility::kInfeasible;
    JudgedOn judged_on = JudgedOn::kTrain;
    size_t trees = 0;  // of the iterate kept
    size_t trees_grown = 0;
    ParityRates train;  // of the iterate kept
    std::optional<ParityRates> validation;
};

struct FairGbmResult {
    model::Ensemble ensemble;                   // the iterate kept: a prefix of all trees grown
    std::vector<FairGbmIteration> trace;        // one entry a tree grown
    std::vector<ParityRates> validation_trace;  // the same on validation rows; empty without
    FairGbmVerdict verdict;
};

/// Trains, then keeps the iterate with the lowest log loss among those within the tolerance; both
/// are judged on `validation` when given (its groups must be the training set's and have the labels
/// needed), else on the training rows. Deterministic like gbdt::train. `pool` and `validation` may
/// be nullptr. Errors: parameters, groups without the labels needed, other groups in validation.
base::Result<FairGbmResult> train_fairgbm(const dataset::Dataset& data, const FairGbmParams& params,
                                          base::ThreadPool* pool,
                                          const dataset::Dataset* validation = nullptr,
                                          const gbdt::ProgressCallback& progress = {});

}  // namespace rampart::fairness
