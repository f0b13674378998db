#pragma once

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <map>
#include <string>
#include <vector>

#include "rampart/fairgbm/train.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/reductions/train.hpp"

/// Learners that keep rates alike between groups, on the command line: FairGBM and the reductions
/// (exponentiated gradient, grid search, random reweighing), which share the constraints.
namespace rampart::cli {

/// As typed.
struct FairGbmOptions {
    std::string constraint = "fnr", targets, operate_at, proxy = "cross_entropy", output = "best";
    double tolerance = 0.01;
    fairgbm::LagrangianParams lagrangian;
    // to name those without effect: all with gbdt, FairGBM's own with reductions
    std::vector<const CLI::Option*> options, own;
    const CLI::Option *threshold_option = nullptr, *tolerance_option = nullptr,
                      *proxy_margin_option = nullptr;
};
void add_fairgbm_options(CLI::App& command, FairGbmOptions& options);
base::Status apply(const FairGbmOptions& options, fairgbm::FairGbmParams& params);

/// " constraints=…", for the model file.
std::string fairgbm_text(const fairgbm::FairGbmParams& params);
boost::json::object fairgbm_json(const fairgbm::FairGbmResult& result,
                                 const fairgbm::FairGbmParams& params);
/// Returns a note when the constraints are not kept: by how much, and what to do; else empty.
std::string fairgbm_note(const fairgbm::FairGbmResult& result,
                         const fairgbm::FairGbmParams& params);

model::LearnedLink fairgbm_link(const fairgbm::FairGbmResult& result);

/// Returns the multipliers of a model file, to go on from.
base::Result<fairgbm::FairGbmState> fairgbm_state_of(const std::string& model_file);

/// "eg", "gs", "rs".
bool is_reduction(const std::string& learner);

base::Result<reductions::ReductionParams> reduction_params(const FairGbmOptions& options,
                                                           const std::string& learner,
                                                           const gbdt::LearnerParams& trees,
                                                           int fits);
std::string reduction_text(const reductions::ReductionParams& params);
boost::json::object reduction_json(const reductions::ReductionResult& result,
                                   const reductions::ReductionParams& params);
/// Returns a note when the constraints are not kept; else empty.
std::string reduction_note(const reductions::ReductionResult& result,
                           const reductions::ReductionParams& params);

}  // namespace rampart::cli
