#include "reduction_options.hpp"

#include <algorithm>
#include <cmath>

namespace rampart::cli {
namespace {

const reductions::ReductionJudged& judged(const reductions::ReductionVerdict& verdict) {
    return verdict.validation ? *verdict.validation : verdict.train;
}

}  // namespace

bool is_reduction(const std::string& learner) {
    return learner == "eg" || learner == "gs" || learner == "rs";
}

base::Result<reductions::ReductionParams> reduction_params(const FairGbmOptions& options,
                                                           const std::string& learner,
                                                           const gbdt::LearnerParams& trees,
                                                           int fits) {
    fairgbm::FairGbmParams as_given;
    RAMPART_RETURN_IF_ERROR(apply(options, as_given));
    reductions::ReductionParams params;
    RAMPART_TRY(params.method, reductions::parse_reduction(learner));
    params.learner = trees;
    params.learner.early_stopping_rounds = 0;  // a fit with other labels has no such rows
    params.constraints = as_given.constraints;
    params.operating_point = as_given.lagrangian.operating_point;
    params.fits = fits;
    params.seed = trees.seed;
    RAMPART_RETURN_IF_ERROR(validate(params));
    return params;
}

std::string reduction_text(const reductions::ReductionParams& params) {
    return fmt::format(" constraints={} fits={}", to_string(params.constraints), params.fits);
}

boost::json::object reduction_json(const reductions::ReductionResult& result,
                                   const reductions::ReductionParams& params) {
    const auto& verdict = result.verdict;
    const auto& gaps = judged(verdict).values.gaps;
    boost::json::object out{
        {"feasible", verdict.feasibility == fairgbm::Feasibility::kFeasible},
        {"judged_on", verdict.judged_on == fairgbm::JudgedOn::kValidation ? "validation" : "train"},
        {"constraints", to_string(params.constraints)},
        {"gap", gaps.empty() ? 0.0 : *std::max_element(gaps.begin(), gaps.end())},
        {"violation", judged(verdict).values.violation},
        {"tightest_violation", verdict.tightest.violation},
        {"members", result.members.size()},
        {"fits", result.trials.size()}};
    if (params.method == reductions::Reduction::kExponentiatedGradient &&
        std::isfinite(verdict.gap)) {
        out["duality_gap"] = verdict.gap;
        out["converged"] = verdict.converged;
    }
    return out;
}

std::string reduction_note(const reductions::ReductionResult& result,
                           const reductions::ReductionParams& params) {
    const auto& verdict = result.verdict;
    if (verdict.feasibility == fairgbm::Feasibility::kFeasible) return {};
    return fmt::format(
        "a constraint is missed: {}. Nothing that {} fits found keeps them (the least found is "
        "over "
        "by {:.4f}); try another --threshold, a larger --tolerance or more --reduction-fits",
        fairgbm::missed_text(params.constraints, judged(verdict).values), result.trials.size(),
        verdict.tightest.violation);
}

}  // namespace rampart::cli
