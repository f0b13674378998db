#include "rampart/evaluation/evaluation.hpp"

#include <algorithm>

#include "rampart/base/reasons.hpp"

namespace rampart::evaluation {
namespace {

/// The policy's group index for each of the data's groups; empty for a group-blind policy.
base::Result<std::vector<size_t>> match_groups(const model::Policy& policy,
                                               const dataset::Dataset& data) {
    std::vector<size_t> match;
    if (!policy.group_aware()) return match;
    if (data.group.empty())
        return base::make_error(base::Reason::kNoGroups,
                                "the policy decides by protected group, but the schema names no "
                                "protected columns: name them under `protected`");
    const auto& known = policy.group_names();
    for (const auto& name : data.group_names) {
        const auto it = std::find(known.begin(), known.end(), name);
        if (it == known.end())
            return base::make_error(base::Reason::kUnknownGroup,
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

}  // namespace rampart::evaluation
