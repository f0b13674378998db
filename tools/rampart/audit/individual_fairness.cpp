#include "audit/individual_fairness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "rampart/fairness/group_metrics.hpp"

namespace rampart::cli {
namespace {

boost::json::value json_of(const std::optional<double>& value) {
    if (!value || !std::isfinite(*value)) return nullptr;
    return *value;
}

/// P(approve) of a changed row; a group-aware policy sees the row's own group.
fairness::Approval approval_of(const model::Policy& policy, const dataset::Dataset& rows,
                               const fairness::FairMetric* projection) {
    std::vector<size_t> match;
    for (const auto& name : rows.group_names)
        match.push_back(static_cast<size_t>(
            std::find(policy.group_names().begin(), policy.group_names().end(), name) -
            policy.group_names().begin()));
    return [&policy, &rows, projection, match](std::span<const float> row, size_t index) {
        std::optional<size_t> group;
        if (policy.group_aware()) group = match[static_cast<size_t>(rows.group[index])];
        if (projection != nullptr)
            return policy.evaluate(projection->project_row(row), group).approve;
        return policy.evaluate(row, group).approve;
    };
}

}  // namespace

base::Result<IndividualFairness> individual_fairness(
    const model::Policy& policy, const dataset::Dataset& rows, const PolicyAnswers& answers,
    const fairness::FairMetric& metric, const fairness::IndividualAuditParams& params,
    const std::vector<std::string>& counterfactuals, base::ThreadPool& pool, bool projected) {
    IndividualFairness out;
    RAMPART_TRY(const auto points, metric.embed(rows));
    const std::vector<double> weights(rows.weight.begin(), rows.weight.end());
    const fairness::AuditedRows audited{
        .points = &points,
        .labels = rows.label,
        .answers = params.loss == fairness::AuditLoss::kDecision ? answers.approve : answers.score,
        .weights = weights};
    RAMPART_TRY(out.audit, fairness::audit_individual(audited, params, &pool));
    const auto approval = approval_of(policy, rows, projected ? &metric : nullptr);
    for (const auto& text : counterfactuals) {
        auto parsed = fairness::parse_counterfactual(text, rows.schema);
        if (!parsed) return parsed.error().with_context("--counterfactual");
        RAMPART_TRY(out.consistency.emplace_back(), fairness::consistency(rows, *parsed, approval));
    }
    out.balanced_accuracy = fairness::balanced_accuracy(
        stats::decision_rates(rows.label, answers.approve, rows.weight));
    if (!rows.group.empty()) {
        RAMPART_TRY(const auto report, fairness::group_report({.label = rows.label,
                                                               .approve = answers.approve,
                                                               .group = rows.group,
                                                               .weight = rows.weight},
                                                              rows.group_names));
        out.gaps = fairness::rate_gaps(report);
    }
    return out;
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

}  // namespace rampart::cli
