#include "learn/reduction_options.hpp"

#include <algorithm>
#include <cmath>

namespace rampart::cli {
namespace {

const fairness::ReductionJudged& judged(const fairness::ReductionVerdict& verdict) {
    return verdict.validation ? *verdict.validation : verdict.train;
}

}  // namespace

bool is_reduction(const std::string& learner) {
    return learner == "eg" || learner == "gs" || learner == "rs";
}

base::Result<fairness::ReductionParams> reduction_params(const FairGbmOptions& options,
                                                         const std::string& learner,
                                                         const gbdt::LearnerParams& trees,
                                                         int fits) {
    fairness::FairGbmParams as_given;
    RAMPART_RETURN_IF_ERROR(apply(options, as_given));
    fairness::ReductionParams params;
    RAMPART_TRY(params.method, fairness::parse_reduction(learner));
    params.learner = trees;
    params.learner.early_stopping_rounds = 0;  // a fit with other labels has no such rows
    params.constraints = as_given.constraints;
    params.operating_point = as_given.players.operating_point;
    params.fits = fits;
    params.seed = trees.seed;
    RAMPART_RETURN_IF_ERROR(fairness::validate(params));
    return params;
}

std::string reduction_text(const fairness::ReductionParams& params) {
    return fmt::format(" constraints={} fits={}", fairness::to_string(params.constraints),
                       params.fits);
}

boost::json::object reduction_json(const fairness::ReductionResult& result,
                                   const fairness::ReductionParams& params) {
    const auto& verdict = result.verdict;
    const auto& gaps = judged(verdict).values.gaps;
    boost::json::object out{
        {"feasible", verdict.feasibility == fairness::Feasibility::kFeasible},
        {"judged_on",
         verdict.judged_on == fairness::JudgedOn::kValidation ? "validation" : "train"},
        {"constraints", fairness::to_string(params.constraints)},
        {"gap", gaps.empty() ? 0.0 : *std::max_element(gaps.begin(), gaps.end())},
        {"violation", judged(verdict).values.violation},
        {"tightest_violation", verdict.tightest.violation},
        {"members", result.members.size()},
        {"fits", result.trials.size()}};
    if (params.method == fairness::Reduction::kExponentiatedGradient &&
        std::isfinite(verdict.gap)) {
        out["duality_gap"] = verdict.gap;
        out["converged"] = verdict.converged;
    }
    return out;
}

std::string reduction_note(const fairness::ReductionResult& result,
                           const fairness::ReductionParams& params) {
    const auto& verdict = result.verdict;
    if (verdict.feasibility == fairness::Feasibility::kFeasible) return {};
    return fmt::format(
        "a constraint is missed: {}. Nothing that {} fits found keeps them (the least found is "
        "over "
        "by {:.4f}); try another --threshold, a larger --tolerance or more --reduction-fits",
        fairness::missed_text(params.constraints, judged(verdict).values), result.trials.size(),
        verdict.tightest.violation);
}

}  // namespace rampart::cli
