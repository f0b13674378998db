#pragma once

#include <optional>
#include <string>

#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/fairness/group_metrics.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/stats/metrics.hpp"

namespace rampart::evaluation {

/// Figures of a policy on labelled rows.
struct Evaluation {
    size_t rows = 0;
    double confidence = 0.95;
    double log_loss = 0, brier = 0;  // losses of the score P(favourable)
    std::optional<double> auc, ks;   // undefined with one label only
    std::optional<stats::Interval> auc_interval;
    stats::DecisionRates overall;                 // rates of the decisions
    std::optional<fairness::GroupReport> groups;  // undefined without protected columns
};

/// A policy's answers for each row.
struct PolicyAnswers {
    std::vector<double> score;    // P(favourable)
    std::vector<double> approve;  // P(approve)
};

/// Decides every row: by the policy's P(approve), or, given a threshold, by score >= threshold. A
/// group-aware policy finds its groups by name; a group that it does not know is an error.
base::Result<PolicyAnswers> policy_answers(const model::Policy& policy,
                                           const dataset::Dataset& data,
                                           std::optional<double> threshold);

/// Computes the figures of the answers on the rows that they were given for.
base::Result<Evaluation> evaluate_answers(const PolicyAnswers& answers,
                                          const dataset::Dataset& data, double confidence = 0.95);

/// Decides the rows and computes the figures.
base::Result<Evaluation> evaluate_policy(const model::Policy& policy, const dataset::Dataset& data,
                                         std::optional<double> threshold, double confidence = 0.95);

}  // namespace rampart::evaluation
