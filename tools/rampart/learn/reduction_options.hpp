#pragma once

#include <boost/json.hpp>
#include <string>

#include "learn/fairgbm_options.hpp"
#include "rampart/fairness/reductions/train.hpp"

/// Reductions (exponentiated gradient, grid search, random reweighing) on the command line. Their
/// constraints are FairGBM's options.
namespace rampart::cli {

/// "eg", "gs", "rs".
bool is_reduction(const std::string& learner);

base::Result<fairness::ReductionParams> reduction_params(const FairGbmOptions& options,
                                                         const std::string& learner,
                                                         const gbdt::LearnerParams& trees,
                                                         int fits);
std::string reduction_text(const fairness::ReductionParams& params);
boost::json::object reduction_json(const fairness::ReductionResult& result,
                                   const fairness::ReductionParams& params);
/// What to tell when the constraints are not kept; empty if they are.
std::string reduction_note(const fairness::ReductionResult& result,
                           const fairness::ReductionParams& params);

}  // namespace rampart::cli
