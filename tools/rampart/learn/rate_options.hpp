#pragma once

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <map>
#include <string>
#include <vector>

#include "rampart/fairness/fairgbm/train.hpp"
#include "rampart/fairness/reductions/train.hpp"
#include "rampart/model/policy.hpp"

/// Learners that keep rates alike between groups, on the command line: FairGBM and the reductions
/// (exponentiated gradient, grid search, random reweighing), which share the constraints.
namespace rampart::cli {

/// As typed.
struct FairGbmOptions {
    std::string constraint = "fnr", targets, operate_at, proxy = "cross_entropy", output = "best";
    double tolerance = 0.01;
    fairness::PlayerParams players;
    // to name those without effect: all with gbdt, FairGBM's own with reductions
    std::vector<const CLI::Option*> options, own;
    const CLI::Option *threshold_option = nullptr, *tolerance_option = nullptr,
                      *proxy_margin_option = nullptr;
};
void add_fairgbm_options(CLI::App& command, FairGbmOptions& options);
base::Status apply(const FairGbmOptions& options, fairness::FairGbmParams& params);

/// " constraints=…", for the model file.
std::string fairgbm_text(const fairness::FairGbmParams& params);
boost::json::object fairgbm_json(const fairness::FairGbmResult& result,
                                 const fairness::FairGbmParams& params);
/// Returns a note when the constraints are not kept: by how much, and what to do; else empty.
std::string fairgbm_note(const fairness::FairGbmResult& result,
                         const fairness::FairGbmParams& params);

model::LearnedLink fairgbm_link(const fairness::FairGbmResult& result);

/// The multipliers in a model file's provenance, to go on from.
void put_state(const fairness::FairGbmState& state, std::map<std::string, std::string>& provenance);
base::Result<fairness::FairGbmState> fairgbm_state_of(const std::string& model_file);

/// "eg", "gs", "rs".
bool is_reduction(const std::string& learner);

base::Result<fairness::ReductionParams> reduction_params(const FairGbmOptions& options,
                                                         const std::string& learner,
                                                         const gbdt::LearnerParams& trees,
                                                         int fits);
std::string reduction_text(const fairness::ReductionParams& params);
boost::json::object reduction_json(const fairness::ReductionResult& result,
                                   const fairness::ReductionParams& params);
/// Returns a note when the constraints are not kept; else empty.
std::string reduction_note(const fairness::ReductionResult& result,
                           const fairness::ReductionParams& params);

}  // namespace rampart::cli
