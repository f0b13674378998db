#include "frame/figures_text.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/json.hpp>
#include <cmath>
#include <string_view>

#include "rampart/report/svg.hpp"

namespace rampart::cli {
namespace {

using evaluation::Evaluation;
using evaluation::IndividualFairness;
using evaluation::RegressionEvaluation;
using report::align;
using report::Table;
using stats::DecisionRates;

struct RateColumn {
    std::string_view key, title;
    stats::Tally DecisionRates::*rate;
    std::optional<fairness::Gap> fairness::GroupReport::*gap;
};

constexpr std::array<RateColumn, 5> kRates{{
    {"base_rate", "base rate", &DecisionRates::base, &fairness::GroupReport::base},
    {"approval_rate", "approved", &DecisionRates::approved, &fairness::GroupReport::approved},
    {"accuracy", "accuracy", &DecisionRates::correct, &fairness::GroupReport::accuracy},
    {"false_positive_rate", "FPR", &DecisionRates::false_positive,
     &fairness::GroupReport::false_positive},
    {"false_negative_rate", "FNR", &DecisionRates::false_negative,
     &fairness::GroupReport::false_negative},
}};

boost::json::value json_of(const std::optional<double>& value) {
    if (!value || !std::isfinite(*value)) return nullptr;
    return *value;
}

boost::json::value json_of(const std::optional<stats::Interval>& interval) {
    if (!interval) return nullptr;
    return boost::json::array{interval->lo, interval->hi};
}

void put_rates(boost::json::object& to, const DecisionRates& rates, double confidence) {
    for (const auto& column : kRates) {
        const auto& tally = rates.*column.rate;
        to[column.key] = json_of(tally.rate());
        to[fmt::format("{}_interval", column.key)] = json_of(stats::wilson(tally, confidence));
    }
}

boost::json::value json_of(const std::optional<fairness::Gap>& gap,
                           const fairness::GroupReport& report) {
    if (!gap) return nullptr;
    boost::json::array undefined;
    for (size_t k : gap->undefined) undefined.push_back(boost::json::value(report.groups[k].name));
    return boost::json::object{{"difference", gap->difference},
                               {"ratio", json_of(gap->ratio)},
                               {"interval", json_of(std::optional(gap->interval))},
                               {"highest", report.groups[gap->highest].name},
                               {"lowest", report.groups[gap->lowest].name},
                               {"undefined", std::move(undefined)}};
}

std::string text_of(const std::optional<double>& value,
                    const std::optional<stats::Interval>& interval) {
    if (!value) return "undefined";
    if (!interval) return fmt::format("{:.4f}", *value);
    return fmt::format("{:.3f} [{:.3f}, {:.3f}]", *value, interval->lo, interval->hi);
}

std::vector<std::string> rate_row(const std::string& name, const DecisionRates& rates,
                                  double confidence) {
    std::vector<std::string> row{name, std::to_string(rates.base.rows)};
    for (const auto& column : kRates) {
        const auto& tally = rates.*column.rate;
        row.push_back(text_of(tally.rate(), stats::wilson(tally, confidence)));
    }
    return row;
}

}  // namespace

boost::json::object to_json(const Evaluation& evaluation) {
    boost::json::object out{
        {"rows", evaluation.rows},         {"confidence", evaluation.confidence},
        {"log_loss", evaluation.log_loss}, {"brier", evaluation.brier},
        {"auc", json_of(evaluation.auc)},  {"auc_interval", json_of(evaluation.auc_interval)},
        {"ks", json_of(evaluation.ks)}};
    put_rates(out, evaluation.overall, evaluation.confidence);
    if (!evaluation.groups) return out;
    boost::json::array groups;
    for (const auto& group : evaluation.groups->groups) {
        boost::json::object entry{{"name", group.name}, {"rows", group.rates.base.rows}};
        put_rates(entry, group.rates, evaluation.confidence);
        groups.push_back(std::move(entry));
    }
    boost::json::object gaps;
    for (const auto& column : kRates)
        gaps[column.key] = json_of((*evaluation.groups).*column.gap, *evaluation.groups);
    out["groups"] = std::move(groups);
    out["gaps"] = std::move(gaps);
    return out;
}

std::string to_text(const Evaluation& evaluation) {
    const auto percent = fmt::format("{:g} % intervals in brackets", 100 * evaluation.confidence);
    std::string out = align({{"rows", std::to_string(evaluation.rows)},
                             {"AUC", text_of(evaluation.auc, evaluation.auc_interval)},
                             {"KS", text_of(evaluation.ks, std::nullopt)},
                             {"log loss", fmt::format("{:.4f}", evaluation.log_loss)},
                             {"Brier score", fmt::format("{:.4f}", evaluation.brier)}});
    Table rates{{"group", "rows"}};
    for (const auto& column : kRates) rates[0].emplace_back(column.title);
    rates.push_back(rate_row("all", evaluation.overall, evaluation.confidence));
    if (evaluation.groups)
        for (const auto& group : evaluation.groups->groups)
            rates.push_back(rate_row(group.name, group.rates, evaluation.confidence));
    out += fmt::format("\n{}({})\n", align(rates), percent);
    if (!evaluation.groups) return out;

    Table gaps{{"gap", "max - min", "min / max", "highest", "lowest"}};
    for (const auto& column : kRates) {
        const auto& gap = (*evaluation.groups).*column.gap;
        if (!gap) {
            gaps.push_back({std::string(column.title), "undefined", "", "", ""});
            continue;
        }
        gaps.push_back({std::string(column.title), text_of(gap->difference, gap->interval),
                        gap->ratio ? fmt::format("{:.3f}", *gap->ratio) : "undefined",
                        evaluation.groups->groups[gap->highest].name,
                        evaluation.groups->groups[gap->lowest].name});
    }
    return out + "\n" + align(gaps);
}

boost::json::object to_json(const RegressionEvaluation& e) {
    boost::json::array groups;
    for (const auto& group : e.groups)
        groups.push_back({{"name", group.name},
                          {"rows", group.rows},
                          {"loss", group.loss},
                          {"mean_score", group.mean_score},
                          {"mean_label", group.mean_label},
                          {"approval_rate", group.approval_rate},
                          {"disparity", group.disparity}});
    return {{"rows", e.rows},
            {"loss", e.loss},
            {"loss_name", e.loss_name},
            {"root_mean_square_error", e.root_mean_square},
            {"mean_absolute_error", e.mean_absolute},
            {"mean_score", e.mean_score},
            {"mean_label", e.mean_label},
            {"auc", json_of(e.auc)},
            {"approval_rate", e.approval_rate},
            {"disparity", e.disparity},
            {"groups", std::move(groups)}};
}

std::string to_text(const RegressionEvaluation& e) {
    Table figures{{"rows", std::to_string(e.rows)},
                  {fmt::format("{} loss", e.loss_name), fmt::format("{:.6f}", e.loss)},
                  {"RMSE, in the label's units", fmt::format("{:.5g}", e.root_mean_square)},
                  {"MAE, in the label's units", fmt::format("{:.5g}", e.mean_absolute)},
                  {"disparity of the score", fmt::format("{:.5f}", e.disparity)}};
    if (e.auc) figures.push_back({"AUC of the mean score", fmt::format("{:.4f}", *e.auc)});
    Table groups{{"group", "rows", "loss", "mean score", "mean label", "approved", "disparity"}};
    const auto line = [&](const std::string& name, size_t rows, double loss, double score,
                          double label, double approved, double disparity) {
        groups.push_back({name, std::to_string(rows), fmt::format("{:.6f}", loss),
                          fmt::format("{:.4f}", score), fmt::format("{:.4f}", label),
                          fmt::format("{:.4f}", approved), fmt::format("{:.5f}", disparity)});
    };
    line("all", e.rows, e.loss, e.mean_score, e.mean_label, e.approval_rate, e.disparity);
    for (const auto& g : e.groups)
        line(g.name, g.rows, g.loss, g.mean_score, g.mean_label, g.approval_rate, g.disparity);
    return align(figures) + "\n" + align(groups) +
           fmt::format("(score and label on the unit scale: 0 is {:g}, 1 is {:g})\n", e.range.lo,
                       e.range.hi);
}

Table summary_table(const IndividualFairness& found) {
    const auto& audit = found.audit;
    Table table{
        {"mean loss", fmt::format("{:.6f}", audit.loss)},
        {"robust loss", fmt::format("{:.6f}", audit.robust_loss)},
        {"performance gap", fmt::format("{:.6f}", audit.performance_gap())},
        {"proven to be at most", fmt::format("{:.6f}", audit.gap_at_most())},
        {"distance allowed, used", fmt::format("{:g}, {:g}", audit.budget, audit.cost)},
        {"price of distance", fmt::format("{:g}", audit.eta)},
        {"people whom another's answer would harm", fmt::format("{:.1f} %", 100 * audit.moved)}};
    if (found.balanced_accuracy)
        table.push_back({"balanced accuracy", fmt::format("{:.4f}", *found.balanced_accuracy)});
    if (found.gaps) {
        table.push_back({"gap of groups' TPR", fmt::format("{:.4f}", found.gaps->tpr)});
        table.push_back({"gap of groups' TNR", fmt::format("{:.4f}", found.gaps->tnr)});
        table.push_back({"gaps, RMS", fmt::format("{:.4f}", found.gaps->rms())});
        table.push_back({"gaps, max", fmt::format("{:.4f}", found.gaps->max())});
    }
    for (const auto& consistency : found.consistency)
        table.push_back({fmt::format("alike for {}", consistency.name),
                         fmt::format("{:.4f}", consistency.share)});
    return table;
}

boost::json::object to_json(const IndividualFairness& found) {
    const auto& audit = found.audit;
    boost::json::object json{{"loss", audit.loss},
                             {"robust_loss", audit.robust_loss},
                             {"performance_gap", audit.performance_gap()},
                             {"gap_at_most", audit.gap_at_most()},
                             {"eta", json_of(audit.eta)},
                             {"budget", audit.budget},
                             {"cost", audit.cost},
                             {"moved", audit.moved},
                             {"pairs", audit.pairs},
                             {"balanced_accuracy", json_of(found.balanced_accuracy)}};
    if (found.gaps)
        json["gaps"] = boost::json::object{{"tpr", found.gaps->tpr},
                                           {"tnr", found.gaps->tnr},
                                           {"rms", found.gaps->rms()},
                                           {"max", found.gaps->max()}};
    boost::json::array consistency;
    for (const auto& c : found.consistency)
        consistency.push_back({{"name", c.name}, {"copies", c.copies}, {"share", c.share}});
    json["consistency"] = std::move(consistency);
    return json;
}

namespace {

constexpr double kWidth = 800, kFrameHeight = 340, kLegendLine = 20;

/// Returns P(score <= z | group), 1 - P(score >= next level), with a step at every grid point.
report::Points steps(const double* tails, size_t levels, const report::Axis& x,
                     const report::Axis& y) {
    report::Points points;
    for (size_t j = 0; j < levels; ++j) {
        const double to = static_cast<double>(j + 1) / static_cast<double>(levels);
        points.emplace_back(
            x.start + static_cast<double>(j) / static_cast<double>(levels) * (x.end - x.start),
            y.at(1 - tails[j]));
        points.emplace_back(x.start + to * (x.end - x.start), y.at(1 - tails[j]));
    }
    points.emplace_back(x.end, y.at(1));
    return points;
}

}  // namespace

std::string distribution_picture(const std::vector<std::string>& groups,
                                 const std::vector<double>& tails, size_t levels,
                                 const fair_regression::LabelRange& range,
                                 std::optional<double> cut) {
    const report::Axis x{range.lo, range.hi, 60, 780}, y{0, 1, 320, 30};
    report::Svg svg(kWidth, kFrameHeight + kLegendLine * static_cast<double>(groups.size() + 1),
                    "Distribution of the score in each group");
    svg.frame(x, y, {.y_title = "share of the group with at most this score"});
    if (cut) {
        const double at = x.at(range.lo + *cut * (range.hi - range.lo));
        svg.line("mark", at, y.start, at, y.end);
    }
    for (size_t g = 0; g < groups.size(); ++g)
        svg.open(report::colour(g))
            .curve("curve", steps(tails.data() + g * levels, levels, x, y))
            .close();
    svg.legend(x.start, kFrameHeight + kLegendLine, groups);
    return svg.markup();
}

std::string mixture_text(const model::LearnedLink& link) {
    if (link.members.empty()) return {};
    const size_t ensembles = 1 + link.additional_ensembles.size();
    auto text =
        fmt::format("a mixture of {} members over {} ensemble{} with {} trees", link.members.size(),
                    ensembles, ensembles == 1 ? "" : "s", link.trees());
    if (!link.linears.empty())
        text += fmt::format(" and {} linear model{}", link.linears.size(),
                            link.linears.size() == 1 ? "" : "s");
    return text;
}

std::string score_text(const model::LearnedLink& link) {
    std::string text;
    if (link.scale.kind == model::ScoreScale::Kind::kUnit)
        return link.scale.levels == 0 ? std::string("on the unit scale")
                                      : fmt::format("on the unit scale, one of {} levels, drawn",
                                                    link.scale.levels + 1);
    if (!link.calibrations.empty())
        text = link.calibrations.size() > 1 ? "calibrated by group" : "calibrated";
    if (!link.adjustments.empty())
        text +=
            fmt::format("{}less the adjustment for P(group | features)", text.empty() ? "" : ", ");
    return text;
}

std::vector<std::string> cell_names(const model::LearnedLink& link, const model::Policy& policy) {
    if (!link.ramp.group_aware()) return {};
    if (!link.strata) return policy.group_names();
    std::vector<std::string> names;
    for (const auto& stratum : names_of(*link.strata, policy.schema()))
        for (const auto& group : policy.group_names())
            names.push_back(fmt::format("{} with {}", group, stratum));
    return names;
}

std::string main_ensemble_note(const model::LearnedLink& link) {
    if (link.strata)
        return "the link's ramp is by strata of a feature: this is about the score before that, "
               "and not about the thresholds, which differ by stratum";
    const bool unit = link.scale.kind == model::ScoreScale::Kind::kUnit;
    if (const auto score = score_text(link); !score.empty() && !unit)
        return fmt::format("the link's score is {}: this is about the score before that", score);
    if (link.members.empty()) return {};
    return fmt::format(
        "the link is {}: this is about the score of its first ensemble, all {} trees of it, and "
        "not about the mean that decides",
        mixture_text(link), link.ensemble.trees.size());
}

}  // namespace rampart::cli
