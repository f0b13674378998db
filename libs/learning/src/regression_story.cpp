#include "regression_story.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "rampart/fair_regression/loss_names.hpp"
#include "rampart/report/text_table.hpp"

namespace rampart::learning {
namespace {

namespace json = boost::json;
using fair_regression::BoundedLossJudged;
using fair_regression::BoundedLossResult;
using fair_regression::ParityJudged;
using fair_regression::ParityRegressionResult;

/// A linear program's rounding, not a violation.
constexpr double kRounding = 1e-6;

std::string model_text(const reductions::OracleModel& model) {
    if (const auto* trees = std::get_if<model::Ensemble>(&model))
        return trees->trees.empty() ? fmt::format("constant {:.4f}", trees->base_score)
                                    : fmt::format("{} trees", trees->trees.size());
    return std::holds_alternative<model::LinearModel>(model) ? "linear" : "unknown";
}

template <class Members>
json::array members_json(const Members& members) {
    json::array out;
    for (const auto& member : members)
        out.push_back({{"weight", member.weight},
                       {"model", model_text(member.model)},
                       {"train_loss", member.train.loss}});
    return out;
}

json::object json_of(const RegressionStory&, const ParityJudged& judged) {
    return {{"loss", judged.loss},
            {"disparity", judged.disparity},
            {"violation", judged.violation},
            {"feasible", judged.violation <= kRounding}};
}

json::object json_of(const RegressionStory& story, const BoundedLossJudged& judged) {
    json::object losses;
    for (size_t g = 0; g < story.groups.size(); ++g)
        losses[story.groups[g]] = judged.group_losses[g];
    return {{"loss", judged.loss},
            {"group_losses", std::move(losses)},
            {"violation", judged.violation},
            {"feasible", judged.violation <= kRounding}};
}

/// Puts what both notions have.
template <class Result>
void put_fit(const Result& result, json::object& out) {
    out["members"] = members_json(result.members);
    out["lower_bound"] = result.lower;
    out["gap"] = result.gap;
    out["gap_asked"] = result.tolerance;
    out["converged"] = result.converged;
}

json::object detail_of(const RegressionStory& story, const ParityRegressionResult& result) {
    json::object out{{"train", json_of(story, result.train)},
                     {"discretisation", result.discretisation},
                     {"tolerance", json::value_from(story.bounds)},
                     {"levels", story.levels}};
    put_fit(result, out);
    if (result.validation) out["validation"] = json_of(story, *result.validation);
    return out;
}

bool is_averaged(const BoundedLossResult& result) {
    return result.averaged && result.averaged->no_worse;
}

json::object detail_of(const RegressionStory& story, const BoundedLossResult& result) {
    json::object out{{"outcome", std::string(to_string(result.outcome))},
                     {"least_violation", result.least_violation},
                     {"zeta", json::value_from(story.bounds)}};
    if (result.proof) {
        json::object multipliers;
        for (size_t g = 0; g < story.groups.size(); ++g)
            multipliers[story.groups[g]] = result.proof->multipliers[g];
        out["proof"] = {{"multipliers", std::move(multipliers)},
                        {"margin", result.proof->margin},
                        {"checked", story.proof_checked}};
    }
    if (result.outcome != fair_regression::BoundedLossOutcome::kFeasible) return out;
    put_fit(result, out);
    const bool averaged = is_averaged(result);
    out["mixture"] = json_of(story, result.train);
    out["averaged"] = averaged;
    out["train"] = json_of(story, averaged ? result.averaged->train : result.train);
    const auto& held = averaged ? result.averaged->validation : result.validation;
    if (held) out["validation"] = json_of(story, *held);
    return out;
}

/// Returns a loss in the label's units, "RMSE 0.41", or nothing.
std::string in_label_units(const RegressionStory& story, double loss) {
    const double range = story.range.hi - story.range.lo;
    if (story.loss.kind() == fair_regression::LossKind::kSquared)
        return fmt::format("RMSE {:.4g}", std::sqrt(2 * loss) * range);
    if (story.loss.kind() == fair_regression::LossKind::kAbsolute)
        return fmt::format("MAE {:.4g}", loss * range);
    return {};
}

std::vector<std::string> judged_row(const RegressionStory& story, std::string_view rows,
                                    double loss, const std::string& fairness, double violation) {
    return {std::string(rows), fmt::format("{:.6f}", loss), in_label_units(story, loss), fairness,
            violation <= kRounding ? "kept" : fmt::format("over by {:.5f}", violation)};
}

template <class Result>
std::string bounds_text(const Result& result) {
    return fmt::format(
        "loss on the training rows: no mixture of what the oracle finds does better than {:.6f}; "
        "gap {:.6f}, {} {:.6f} asked for, after {} questions\n",
        result.lower, std::max(result.gap, 0.0), result.converged ? "within the" : "above the",
        result.tolerance, result.calls);
}

std::string text_of(const RegressionStory& story, const ParityRegressionResult& r) {
    report::Table judged{{"rows", "loss", "", "disparity", "constraint"}};
    const auto add = [&](std::string_view rows, const ParityJudged& j) {
        judged.push_back(
            judged_row(story, rows, j.loss, fmt::format("{:.5f}", j.disparity), j.violation));
    };
    add("train", r.train);
    if (r.validation) add("validation", *r.validation);
    report::Table members{{"member", "weight", "loss"}};
    for (const auto& member : r.members)
        members.push_back({model_text(member.model), fmt::format("{:.4f}", member.weight),
                           fmt::format("{:.6f}", member.train.loss)});
    return report::align(judged) + "\n" + bounds_text(r) +
           fmt::format(
               "{} levels: at most {:.4f} above any mixture as fair that is not "
               "discretised\n\n",
               story.levels, r.discretisation) +
           report::align(members);
}

/// Returns the bound of the g-th group.
double bound_of(const RegressionStory& story, size_t g) {
    return story.bounds[story.bounds.size() > 1 ? g : 0];
}

std::string infeasible_text(const RegressionStory& story, const BoundedLossResult& r) {
    std::string out =
        fmt::format("least violation of any mixture found: {:.6f}\n", r.least_violation);
    if (!r.proof) return "neither a mixture within the bounds nor a proof was found\n" + out;
    out = "no mixture keeps the bounds\n" + out;
    report::Table rows{{"group", "bound", "multiplier"}};
    for (size_t g = 0; g < story.groups.size(); ++g)
        rows.push_back({story.groups[g], fmt::format("{:.6f}", bound_of(story, g)),
                        fmt::format("{:.6f}", r.proof->multipliers[g])});
    return out + "\n" + report::align(rows) +
           fmt::format(
               "proof: with these multipliers, the mean of the groups' losses exceeds that "
               "of their bounds by at least {:.6f} for every predictor{}; so some group's "
               "does for every mixture\n",
               r.proof->margin, story.proof_checked ? ", which was asked for again and holds" : "");
}

std::string text_of(const RegressionStory& story, const BoundedLossResult& r) {
    if (r.outcome != fair_regression::BoundedLossOutcome::kFeasible)
        return infeasible_text(story, r);
    const auto& train = is_averaged(r) ? r.averaged->train : r.train;
    const auto& held = is_averaged(r) ? r.averaged->validation : r.validation;
    report::Table judged{{"rows", "loss", "", "worst group", "bounds"}};
    const auto add = [&](std::string_view rows, const BoundedLossJudged& j) {
        const auto worst = std::max_element(j.group_losses.begin(), j.group_losses.end());
        judged.push_back(
            judged_row(story, rows, j.loss, fmt::format("{:.6f}", *worst), j.violation));
    };
    add("train", train);
    if (held) add("validation", *held);
    report::Table groups{{"group", "bound", "train", "validation"}};
    for (size_t g = 0; g < story.groups.size(); ++g)
        groups.push_back({story.groups[g], fmt::format("{:.6f}", bound_of(story, g)),
                          fmt::format("{:.6f}", train.group_losses[g]),
                          held ? fmt::format("{:.6f}", held->group_losses[g]) : ""});
    return report::align(judged) + "\n" + bounds_text(r) + "\n" + report::align(groups);
}

template <class Result>
std::vector<std::string> notes_of(const RegressionStory& story, const Result& result) {
    std::vector<std::string> notes;
    const double held = result.validation ? result.validation->violation : 0;
    if (held > kRounding)
        notes.push_back(fmt::format(
            "on the validation rows the constraint is over by {:.5f}: it is kept on the training "
            "rows, and other rows differ; ask for less `{}` to have room",
            held, story.parity ? "disparity_tolerance" : "zeta"));
    if (!result.converged)
        notes.emplace_back(
            "the gap is larger than was asked for: the oracle is no exact minimiser, "
            "or more `max_oracle_calls` are needed");
    return notes;
}

/// Writes the figures, of which those of one value each also stand in a run's record.
template <class Result>
void put(const RegressionStory& story, const Result& fit, json::object figures, Learned& learned) {
    const char* notion = story.parity ? "statistical_parity" : "bounded_group_loss";
    auto detail = detail_of(story, fit);
    detail["notion"] = notion;
    detail["loss"] = fair_regression::loss_text(story.loss);
    detail["oracle"] = story.linear ? "linear" : "gbdt";
    detail["groups"] = json::value_from(story.groups);
    detail["grid"] = story.levels;
    detail["calls"] = fit.calls;
    detail["approve"] = {{"at_least", story.step.at_least}, {"score", story.step.threshold}};
    figures["notion"] = notion;
    figures["calls"] = fit.calls;
    figures["detail"] = std::move(detail);
    if (!learned.no_model) {
        figures["loss"] = fit.train.loss;
        figures["lower"] = fit.lower;
        figures["gap"] = fit.gap;
        figures["converged"] = fit.converged;
        figures["members"] = std::max<size_t>(1, learned.link.members.size());
        figures["trees"] = learned.link.trees();
        learned.notes = notes_of(story, fit);
    }
    learned.figures = json::serialize(figures);
    learned.report =
        fmt::format("{}, {} loss, {} oracle{}{}\n\n{}",
                    story.parity ? "statistical parity" : "bounded group loss",
                    fair_regression::loss_text(story.loss), story.linear ? "linear" : "gbdt",
                    story.served.empty() ? "" : "; served: ", story.served, text_of(story, fit));
}

}  // namespace

void tell(const RegressionStory& story, const ParityRegressionResult& fit, Learned& learned) {
    json::object figures{{"disparity", fit.train.disparity}};
    if (fit.validation) figures["validation_disparity"] = fit.validation->disparity;
    put(story, fit, std::move(figures), learned);
}

void tell(const RegressionStory& story, const BoundedLossResult& fit, Learned& learned) {
    json::object figures;
    if (!learned.no_model) figures["group_losses"] = json::value_from(fit.train.group_losses);
    put(story, fit, std::move(figures), learned);
}

}  // namespace rampart::learning
