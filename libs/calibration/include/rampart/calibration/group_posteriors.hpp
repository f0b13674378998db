#pragma once

#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/model/policy.hpp"

/// P(group | x), from the features alone: what a group-blind rule knows about protected groups.
/// Fitted where the groups are known, on rows other than those that the rule is fitted on; served
/// without them (model::GroupBlindAdjustment).
namespace rampart::calibration {

struct GroupPosteriorParams {
    gbdt::LearnerParams learner;  // no early stopping
    /// kFavourable: P(group | x, favourable), from the rows with label 1; kUnfavourable likewise.
    model::GroupBlindAdjustment::Given given = model::GroupBlindAdjustment::Given::kNothing;
};

/// Fits GroupBlindAdjustment::posteriors: for two groups one ensemble, of the second; for more, one
/// for each against the rest. Labels are read where one is given only: rows may have none, but then
/// as many targets. Deterministic like gbdt::train. Errors: data (dataset::validate), parameters;
/// failed_precondition "no_groups", "absent_group": a group without rows of that label.
base::Result<std::vector<model::Ensemble>> fit_group_posteriors(const dataset::Dataset& data,
                                                                const GroupPosteriorParams& params,
                                                                base::ThreadPool* pool = nullptr);

/// Returns P(group | x), [n · groups] by rows, as a GroupBlindAdjustment of these ensembles has
/// them; rows sum to 1.
std::vector<double> group_posteriors(std::span<const model::Ensemble> posteriors, size_t groups,
                                     const dataset::Dataset& data,
                                     base::ThreadPool* pool = nullptr);

}  // namespace rampart::calibration
