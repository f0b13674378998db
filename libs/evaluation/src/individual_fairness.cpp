#include "rampart/evaluation/individual_fairness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rampart/fairness/group_metrics.hpp"

namespace rampart::evaluation {
namespace {

/// P(approve) of a changed row; a group-aware policy sees the row's own group.
budro::Approval approval_of(const model::Policy& policy, const dataset::Dataset& rows,
                            const budro::FairMetric* projection) {
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

base::Result<IndividualFairness> individual_fairness(const model::Policy& policy,
                                                     const dataset::Dataset& rows,
                                                     const PolicyAnswers& answers,
                                                     const IndividualQuestion& question,
                                                     base::ThreadPool& pool) {
    const auto& [metric, params, counterfactuals, projected] = question;
    IndividualFairness out;
    RAMPART_TRY(const auto points, metric.embed(rows));
    const std::vector<double> weights(rows.weight.begin(), rows.weight.end());
    const budro::AuditedRows audited{
        .points = &points,
        .labels = rows.label,
        .answers = params.loss == budro::AuditLoss::kDecision ? answers.approve : answers.score,
        .weights = weights};
    RAMPART_TRY(out.audit, budro::audit_individual(audited, params, &pool));
    const auto approval = approval_of(policy, rows, projected ? &metric : nullptr);
    for (const auto& text : counterfactuals) {
        auto parsed = budro::parse_counterfactual(text, rows.schema);
        if (!parsed) return parsed.error().with_context("--counterfactual");
        RAMPART_TRY(out.consistency.emplace_back(), budro::consistency(rows, *parsed, approval));
    }
    out.balanced_accuracy =
        budro::balanced_accuracy(stats::decision_rates(rows.label, answers.approve, rows.weight));
    if (!rows.group.empty()) {
        RAMPART_TRY(const auto report, fairness::group_report({.label = rows.label,
                                                               .approve = answers.approve,
                                                               .group = rows.group,
                                                               .weight = rows.weight},
                                                              rows.group_names));
        out.gaps = budro::rate_gaps(report);
    }
    return out;
}

}  // namespace rampart::evaluation
