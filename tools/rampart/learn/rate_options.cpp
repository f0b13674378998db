#include "learn/rate_options.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "frame/reasons.hpp"
#include "rampart/fairness/reasons.hpp"
#include "rampart/model/model_file.hpp"

namespace rampart::cli {
namespace {

constexpr const char* kRatesGroup =
    "Equal rates (fairgbm, eg, gs, rs; budro with --constraint or --target)";

std::string decisions_text(const fairgbm::FairGbmResult& result,
                           const fairgbm::FairGbmParams& params) {
    const auto& verdict = result.verdict;
    const auto& judged = verdict.validation ? *verdict.validation : verdict.train;
    const auto& meets = params.lagrangian.operating_point.meets;
    return fmt::format(
        "{}, {:.1f} % are approved",
        meets
            ? fmt::format("where {}<={} just holds, P(favourable) >= {:.3f}",
                          to_string(meets->rate), meets->at_most, model::sigmoid(result.threshold))
            : fmt::format("at P(favourable) >= {:g}", params.lagrangian.operating_point.threshold),
        100 * judged.values.approval);
}

}  // namespace

void add_fairgbm_options(CLI::App& command, FairGbmOptions& o) {
    const auto keep = [&](CLI::Option* option, bool own = false) {
        o.options.push_back(option->group(own ? "FairGBM (fairgbm)" : kRatesGroup));
        if (own) o.own.push_back(option);
        return option;
    };
    keep(command
             .add_option("--constraint", o.constraint,
                         "rates that have to be alike in all groups: fpr, fnr, equalized_odds "
                         "(both), statistical_parity (approval rates) or error, by comma; none; "
                         "fnr@sex compares the groups of one protected attribute")
             ->capture_default_str());
    o.tolerance_option = keep(command
                                  .add_option("--tolerance", o.tolerance,
                                              "allowed difference of a rate between groups, 0 to 1")
                                  ->capture_default_str());
    keep(command.add_option("--target", o.targets,
                            "bounds on rates over all rows: 'fpr<=0.05,statistical_parity<=0.3' "
                            "allows 5 % false positives and approves at most 30 %"));
    keep(command.add_option("--operate-at", o.operate_at,
                            "fairgbm, gs, rs: choose the threshold so that this bound just holds, "
                            "as in 'fpr<=0.05' (or fnr, statistical_parity)"));
    o.threshold_option = keep(command
                                  .add_option("--threshold", o.lagrangian.operating_point.threshold,
                                              "fairgbm: approve from this P(favourable) on, 0 to 1")
                                  ->capture_default_str());
    keep(command
             .add_option("--proxy", o.proxy,
                         "differentiable stand-in for a rate: cross_entropy, quadratic, hinge or "
                         "sigmoid")
             ->capture_default_str(),
         true);
    o.proxy_margin_option =
        keep(command
                 .add_option(
                     "--proxy-margin", o.lagrangian.proxy_margin,
                     "distance from the threshold, in raw score, from which a row adds nothing to "
                     "the proxy, above 0 to 100; not for sigmoid")
                 ->capture_default_str(),
             true);
    keep(command
             .add_option("--multiplier-step", o.lagrangian.ascent.step,
                         "step size of the multipliers, in units of the learning rate")
             ->capture_default_str(),
         true);
    keep(command
             .add_option("--output", o.output,
                         "best: the best iterate that keeps the constraints; last: all trees; "
                         "randomized: an iterate drawn for each decision")
             ->capture_default_str(),
         true);
    keep(command.add_flag("--paper-compat", o.lagrangian.ascent.paper_compat,
                          "update as printed in the paper (its step is absolute)"),
         true);
}

base::Status apply(const FairGbmOptions& o, fairgbm::FairGbmParams& params) {
    params.lagrangian = o.lagrangian;
    params.constraints = {};
    if (o.constraint != "none") {
        RAMPART_TRY(params.constraints.parity, fairness::parse_parity(o.constraint, o.tolerance));
    }
    if (!o.targets.empty()) {
        RAMPART_TRY(params.constraints.targets, fairness::parse_targets(o.targets));
    }
    if (!o.operate_at.empty()) {
        RAMPART_TRY(const auto point, fairness::parse_targets(o.operate_at));
        if (point.size() != 1)
            return base::make_error(fairness::Reason::kBadTarget,
                                    "--operate-at '{}': it takes one rate, as "
                                    "in fpr<=0.05",
                                    o.operate_at);
        params.lagrangian.operating_point.meets = point.front();
    }
    RAMPART_TRY(params.lagrangian.proxy, fairgbm::parse_proxy(o.proxy));
    RAMPART_TRY(params.output, fairgbm::parse_output(o.output));
    RAMPART_RETURN_IF_ERROR(validate(params.constraints));
    return validate(params.lagrangian);
}

std::string fairgbm_text(const fairgbm::FairGbmParams& params) {
    const auto& p = params.lagrangian;
    std::string text =
        fmt::format(" constraints={} proxy={} proxy_margin={} multiplier_step={} output={}",
                    to_string(params.constraints), to_string(p.proxy), p.proxy_margin,
                    p.ascent.step, to_string(params.output));
    if (p.operating_point.meets)
        text += fmt::format(" operate_at={}<={}", to_string(p.operating_point.meets->rate),
                            p.operating_point.meets->at_most);
    else
        text += fmt::format(" threshold={}", p.operating_point.threshold);
    if (p.ascent.paper_compat) text += " paper_compat";
    return text;
}

boost::json::object fairgbm_json(const fairgbm::FairGbmResult& result,
                                 const fairgbm::FairGbmParams& params) {
    const auto& verdict = result.verdict;
    const bool on_validation = verdict.judged_on == fairgbm::JudgedOn::kValidation;
    const auto& judged = on_validation ? *verdict.validation : verdict.train;
    const auto largest = [](const std::vector<double>& gaps) {
        return gaps.empty() ? 0.0 : *std::max_element(gaps.begin(), gaps.end());
    };
    return {{"feasible", verdict.feasibility == fairgbm::Feasibility::kFeasible},
            {"plain_boosting", verdict.plain},
            {"judged_on", on_validation ? "validation" : "train"},
            {"constraints", to_string(params.constraints)},
            {"gap", largest(judged.values.gaps)},
            {"gaps", boost::json::value_from(judged.values.gaps)},
            {"targets", boost::json::value_from(judged.values.targets)},
            {"violation", judged.values.violation},
            {"missed", fairgbm::missed_constraints(verdict, params.constraints)},
            {"tightest_violation", verdict.tightest.violation},
            {"train_gap", largest(verdict.train.values.gaps)},
            {"threshold", model::sigmoid(result.threshold)},
            {"first_tree", verdict.first},
            {"trees_grown", verdict.trees_grown},
            {"multipliers", boost::json::value_from(result.state.multipliers)}};
}

std::string fairgbm_note(const fairgbm::FairGbmResult& result,
                         const fairgbm::FairGbmParams& params) {
    const auto& verdict = result.verdict;
    const auto missed = fairgbm::missed_constraints(verdict, params.constraints);
    if (missed.empty()) return {};
    const auto nearest =
        verdict.tightest.violation > 0
            ? fmt::format(
                  "no useful iterate keeps {}, the nearest exceeds by {:.4f}{}",
                  params.constraints.parity.size() + params.constraints.targets.size() > 1 ? "all"
                                                                                           : "it",
                  verdict.tightest.violation, verdict.plain ? " (plain boosting was kept)" : "")
            : std::string("another iterate keeps it: take --output best");
    return fmt::format(
        "a constraint is missed: {}; {}; {}. Try another --threshold or --operate-at, which decide "
        "what can be equal, a larger --tolerance or --multiplier-step, or more --trees; `rampart "
        "postprocess` makes rates alike on a plain model",
        missed, nearest, decisions_text(result, params));
}

model::LearnedLink fairgbm_link(const fairgbm::FairGbmResult& result) {
    model::LearnedLink link;
    link.ensemble = result.ensemble;
    const auto at = [&](double threshold) {
        model::RampRule rule;
        rule.thresholds = {std::clamp(
            link.score_slope * model::sigmoid(threshold) + link.score_intercept, -1.0, 1.0)};
        return rule;
    };
    link.ramp = at(result.threshold);
    const auto& verdict = result.verdict;
    const auto iterates = static_cast<double>(verdict.trees - verdict.first + 1);
    if (verdict.first < verdict.trees)  // the randomized classifier
        for (size_t trees = verdict.first; trees <= verdict.trees; ++trees)
            link.members.push_back({.trees = static_cast<uint32_t>(trees),
                                    .weight = 1 / iterates,
                                    .ramp = at(result.thresholds[trees - verdict.first])});
    return link;
}

base::Result<fairgbm::FairGbmState> fairgbm_state_of(const std::string& model_file) {
    RAMPART_TRY(const auto loaded, model::load_model_file(model_file));
    const auto& multipliers = loaded.policy.state().fairgbm_multipliers;
    if (!multipliers)
        return base::make_error(Reason::kCannotResume,
                                "--resume {}: it holds no multipliers of FairGBM; it was "
                                "trained by another learner",
                                model_file);
    return fairgbm::FairGbmState{*multipliers};
}

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
