#include "audit/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <string_view>

#include "frame/text_table.hpp"

namespace rampart::cli {
namespace {

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
    return value ? boost::json::value(*value) : boost::json::value(nullptr);
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

/// The policy's group index for each of the data's groups; empty for a group-blind policy.
base::Result<std::vector<size_t>> match_groups(const model::Policy& policy,
                                               const dataset::Dataset& data) {
    std::vector<size_t> match;
    if (!policy.group_aware()) return match;
    if (data.group.empty())
        return base::invalid_argument(
            "no_groups",
            "the policy decides by protected group, but the schema names no "
            "protected columns: name them under `protected`");
    const auto& known = policy.group_names();
    for (const auto& name : data.group_names) {
        const auto it = std::find(known.begin(), known.end(), name);
        if (it == known.end())
            return base::invalid_argument("unknown_group",
                                          "the policy decides by protected group and does not know "
                                          "'{}': leave its rows out or train "
                                          "with them",
                                          name);
        match.push_back(static_cast<size_t>(it - known.begin()));
    }
    return match;
}

}  // namespace

base::Result<PolicyAnswers> policy_answers(const model::Policy& policy,
                                           const dataset::Dataset& data,
                                           std::optional<double> threshold) {
    RAMPART_TRY(const auto match, match_groups(policy, data));
    PolicyAnswers answers;
    std::vector<float> row(data.schema.size());
    for (size_t i = 0; i < data.rows(); ++i) {
        data.copy_row(i, row);
        std::optional<size_t> group;
        if (policy.group_aware()) group = match[static_cast<size_t>(data.group[i])];
        const auto out = policy.evaluate(row, group);
        answers.score.push_back(out.score);
        answers.approve.push_back(threshold ? (out.score >= *threshold ? 1.0 : 0.0) : out.approve);
    }
    return answers;
}

base::Result<Evaluation> evaluate_policy(const model::Policy& policy, const dataset::Dataset& data,
                                         std::optional<double> threshold, double confidence) {
    RAMPART_TRY(const auto answers, policy_answers(policy, data, threshold));
    return evaluate_answers(answers, data, confidence);
}

base::Result<Evaluation> evaluate_answers(const PolicyAnswers& answers,
                                          const dataset::Dataset& data, double confidence) {
    const auto& approve = answers.approve;
    const stats::ScoredRows rows{
        .label = data.label, .score = answers.score, .weight = data.weight};
    RAMPART_RETURN_IF_ERROR(stats::validate(rows));
    Evaluation evaluation;
    evaluation.rows = data.rows();
    evaluation.confidence = confidence;
    evaluation.log_loss = stats::log_loss(rows);
    evaluation.brier = stats::brier(rows);
    evaluation.auc = stats::auc(rows);
    evaluation.auc_interval = stats::auc_interval(rows, confidence);
    evaluation.ks = stats::kolmogorov_smirnov(rows);
    evaluation.overall = stats::decision_rates(data.label, approve, data.weight);
    if (!data.group.empty()) {
        const fairness::GroupedDecisions decisions{
            .label = data.label, .approve = approve, .group = data.group, .weight = data.weight};
        RAMPART_TRY(evaluation.groups,
                    fairness::group_report(decisions, data.group_names, confidence));
    }
    return evaluation;
}

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

}  // namespace rampart::cli
