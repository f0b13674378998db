#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "frame/figures_text.hpp"
#include "learn/regression_train.hpp"
#include "rampart/fair_regression/loss_names.hpp"
#include "rampart/report/html.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using fair_regression::BoundedLossJudged;
using fair_regression::ParityJudged;

/// A linear program's rounding, not a violation.
constexpr double kRounding = 1e-6;

std::string model_text(const reductions::OracleModel& model) {
    if (const auto* trees = std::get_if<model::Ensemble>(&model)) {
        return trees->trees.empty() ? fmt::format("constant {:.4f}", trees->base_score)
                                    : fmt::format("{} trees", trees->trees.size());
    }
    return std::holds_alternative<model::LinearModel>(model) ? "linear" : "unknown";
}

json::object json_of(const ParityJudged& judged) {
    return {{"loss", judged.loss},
            {"disparity", judged.disparity},
            {"violation", judged.violation},
            {"feasible", judged.violation <= kRounding}};
}

json::object json_of(const BoundedLossJudged& judged, const std::vector<std::string>& groups) {
    json::object losses;
    for (size_t g = 0; g < groups.size(); ++g) losses[groups[g]] = judged.group_losses[g];
    return {{"loss", judged.loss},
            {"group_losses", std::move(losses)},
            {"violation", judged.violation},
            {"feasible", judged.violation <= kRounding}};
}

json::object json_of(const RegressionFit& fit,
                     const fair_regression::ParityRegressionResult& result) {
    json::array members;
    for (const auto& member : result.members)
        members.push_back({{"weight", member.weight},
                           {"model", model_text(member.model)},
                           {"train_loss", member.train.loss}});
    json::object out{{"train", json_of(result.train)},
                     {"lower_bound", result.lower},
                     {"gap", result.gap},
                     {"gap_asked", result.tolerance},
                     {"converged", result.converged},
                     {"discretisation", result.discretisation},
                     {"members", std::move(members)},
                     {"calls", result.calls}};
    out["tolerance"] = json::value_from(fit.job.statistical_parity.epsilon);
    out["levels"] = fit.job.statistical_parity.levels;
    if (result.validation) out["validation"] = json_of(*result.validation);
    return out;
}

json::object json_of(const RegressionFit& fit, const fair_regression::BoundedLossResult& result) {
    json::object out{{"outcome", std::string(to_string(result.outcome))},
                     {"least_violation", result.least_violation},
                     {"zeta", json::value_from(fit.job.bounded_group_loss.zeta)},
                     {"calls", result.calls}};
    if (result.proof) {
        json::object multipliers;
        for (size_t g = 0; g < fit.groups.size(); ++g)
            multipliers[fit.groups[g]] = result.proof->multipliers[g];
        out["proof"] = {{"multipliers", std::move(multipliers)},
                        {"margin", result.proof->margin},
                        {"checked", fit.proof_checked}};
    }
    if (result.outcome != fair_regression::BoundedLossOutcome::kFeasible) return out;
    json::array members;
    for (const auto& member : result.members)
        members.push_back({{"weight", member.weight},
                           {"model", model_text(member.model)},
                           {"train_loss", member.train.loss}});
    out["members"] = std::move(members);
    out["mixture"] = json_of(result.train, fit.groups);
    const auto& served =
        result.averaged && result.averaged->no_worse ? result.averaged->train : result.train;
    const auto& held = result.averaged && result.averaged->no_worse ? result.averaged->validation
                                                                    : result.validation;
    out["averaged"] = result.averaged && result.averaged->no_worse;
    out["train"] = json_of(served, fit.groups);
    if (held) out["validation"] = json_of(*held, fit.groups);
    out["lower_bound"] = result.lower;
    out["gap"] = result.gap;
    out["gap_asked"] = result.tolerance;
    out["converged"] = result.converged;
    return out;
}

std::vector<std::string> judged_row(const RegressionJob& job, std::string_view rows, double loss,
                                    const std::string& fairness, double violation) {
    return {std::string(rows), fmt::format("{:.6f}", loss), in_label_units(job, loss), fairness,
            violation <= kRounding ? "kept" : fmt::format("over by {:.5f}", violation)};
}

std::string bounds_text(double lower, double gap, double asked, bool converged, int calls) {
    return fmt::format(
        "loss on the training rows: no mixture of what the oracle finds does better than {:.6f}; "
        "gap {:.6f}, {} {:.6f} asked for, after {} questions\n",
        lower, std::max(gap, 0.0), converged ? "within the" : "above the", asked, calls);
}

std::string text_of(const RegressionFit& fit, const fair_regression::ParityRegressionResult& r) {
    report::Table judged{{"rows", "loss", "", "disparity", "constraint"}};
    const auto add = [&](std::string_view rows, const ParityJudged& j) {
        judged.push_back(
            judged_row(fit.job, rows, j.loss, fmt::format("{:.5f}", j.disparity), j.violation));
    };
    add("train", r.train);
    if (r.validation) add("validation", *r.validation);
    report::Table members{{"member", "weight", "loss"}};
    for (const auto& member : r.members)
        members.push_back({model_text(member.model), fmt::format("{:.4f}", member.weight),
                           fmt::format("{:.6f}", member.train.loss)});
    return report::align(judged) + "\n" +
           bounds_text(r.lower, r.gap, r.tolerance, r.converged, r.calls) +
           fmt::format(
               "{} levels: at most {:.4f} above any mixture as fair that is not "
               "discretised\n\n",
               fit.job.statistical_parity.levels, r.discretisation) +
           report::align(members);
}

std::string infeasible_text(const RegressionFit& fit, const fair_regression::BoundedLossResult& r) {
    std::string out =
        fmt::format("least violation of any mixture found: {:.6f}\n", r.least_violation);
    if (!r.proof) return "neither a mixture within the bounds nor a proof was found\n" + out;
    out = "no mixture keeps the bounds\n" + out;
    report::Table rows{{"group", "bound", "multiplier"}};
    for (size_t g = 0; g < fit.groups.size(); ++g) {
        const auto& zeta = fit.job.bounded_group_loss.zeta;
        rows.push_back({fit.groups[g], fmt::format("{:.6f}", zeta[zeta.size() > 1 ? g : 0]),
                        fmt::format("{:.6f}", r.proof->multipliers[g])});
    }
    return out + "\n" + report::align(rows) +
           fmt::format(
               "proof: with these multipliers, the mean of the groups' losses exceeds that "
               "of their bounds by at least {:.6f} for every predictor{}; so some group's "
               "does for every mixture\n",
               r.proof->margin, fit.proof_checked ? ", which was asked for again and holds" : "");
}

std::string text_of(const RegressionFit& fit, const fair_regression::BoundedLossResult& r) {
    if (r.outcome != fair_regression::BoundedLossOutcome::kFeasible) return infeasible_text(fit, r);
    const bool averaged = r.averaged && r.averaged->no_worse;
    const auto& train = averaged ? r.averaged->train : r.train;
    const auto& held = averaged ? r.averaged->validation : r.validation;
    report::Table judged{{"rows", "loss", "", "worst group", "bounds"}};
    const auto add = [&](std::string_view rows, const BoundedLossJudged& j) {
        const auto worst = std::max_element(j.group_losses.begin(), j.group_losses.end());
        judged.push_back(
            judged_row(fit.job, rows, j.loss, fmt::format("{:.6f}", *worst), j.violation));
    };
    add("train", train);
    if (held) add("validation", *held);
    report::Table groups{{"group", "bound", "train", "validation"}};
    for (size_t g = 0; g < fit.groups.size(); ++g) {
        const auto& zeta = fit.job.bounded_group_loss.zeta;
        groups.push_back({fit.groups[g], fmt::format("{:.6f}", zeta[zeta.size() > 1 ? g : 0]),
                          fmt::format("{:.6f}", train.group_losses[g]),
                          held ? fmt::format("{:.6f}", held->group_losses[g]) : ""});
    }
    return report::align(judged) + "\n" +
           bounds_text(r.lower, r.gap, r.tolerance, r.converged, r.calls) + "\n" +
           report::align(groups);
}

}  // namespace

std::string in_label_units(const RegressionJob& job, double loss) {
    const double range = job.range.hi - job.range.lo;
    if (job.loss.kind() == fair_regression::LossKind::kSquared)
        return fmt::format("RMSE {:.4g}", std::sqrt(2 * loss) * range);
    if (job.loss.kind() == fair_regression::LossKind::kAbsolute)
        return fmt::format("MAE {:.4g}", loss * range);
    return {};
}

json::object regression_json(const RegressionFit& fit) {
    auto out = fit.job.parity ? json_of(fit, fit.statistical_parity)
                              : json_of(fit, fit.bounded_group_loss);
    out["notion"] = fit.job.parity ? kStatisticalParity : kBoundedGroupLoss;
    out["loss"] = fair_regression::loss_text(fit.job.loss);
    out["oracle"] = fit.job.linear ? "linear" : "gbdt";
    out["groups"] = json::value_from(fit.groups);
    if (fit.train_tails.empty()) return out;
    out["grid"] = fit.job.statistical_parity.levels;
    out["tails"] = {{"train", json::value_from(fit.train_tails)},
                    {"validation", json::value_from(fit.validation_tails)}};
    return out;
}

std::string regression_text(const RegressionFit& fit) {
    const std::string head =
        fmt::format("{}, {} loss, {} oracle{}{}\n\n",
                    fit.job.parity ? "statistical parity" : "bounded group loss",
                    fair_regression::loss_text(fit.job.loss), fit.job.linear ? "linear" : "gbdt",
                    fit.served.empty() ? "" : "; served: ", fit.served);
    return head + (fit.job.parity ? text_of(fit, fit.statistical_parity)
                                  : text_of(fit, fit.bounded_group_loss));
}

std::vector<std::string> regression_notes(const RegressionFit& fit) {
    std::vector<std::string> notes;
    const double held =
        fit.job.parity
            ? (fit.statistical_parity.validation ? fit.statistical_parity.validation->violation : 0)
            : (fit.bounded_group_loss.validation ? fit.bounded_group_loss.validation->violation
                                                 : 0);
    const bool found = fit.job.parity || fit.bounded_group_loss.outcome ==
                                             fair_regression::BoundedLossOutcome::kFeasible;
    if (found && held > kRounding)
        notes.push_back(fmt::format(
            "on the validation rows the constraint is over by {:.5f}: it is kept on the training "
            "rows, and other rows differ; ask for less {} to have room",
            held, fit.job.parity ? "--disparity-tolerance" : "--zeta"));
    const bool converged =
        fit.job.parity ? fit.statistical_parity.converged : fit.bounded_group_loss.converged;
    if (found && !converged)
        notes.push_back(
            "the gap is larger than was asked for: the oracle is no exact minimiser, "
            "or more --max-oracle-calls are needed");
    return notes;
}

std::string regression_page(const RegressionFit& fit) {
    report::Html page;
    page.title("Fair regression").paragraph(fit.data, "soft").preformatted(regression_text(fit));
    for (const auto& [name, tails] :
         {std::pair{"training", &fit.train_tails}, {"validation", &fit.validation_tails}}) {
        if (tails->empty()) continue;
        page.heading(fmt::format("Distribution of the score, {} rows", name));
        page.raw(distribution_picture(fit.groups, *tails,
                                      static_cast<size_t>(fit.job.statistical_parity.levels),
                                      fit.job.range, fit.job.step.threshold));
    }
    if (!fit.train_tails.empty())
        page.paragraph(
            "Lines: the share of a group's rows with at most that score, for the randomised "
            "predictor as it is served. Under statistical parity the lines differ by at most "
            "the tolerance. Dashed: the score from which, or up to which, the policy approves.",
            "soft");
    for (const auto& note : regression_notes(fit)) page.paragraph(note, "bad");
    return report::document("Fair regression", page);
}

}  // namespace rampart::cli
