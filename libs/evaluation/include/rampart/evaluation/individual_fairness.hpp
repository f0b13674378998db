#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/budro/audit.hpp"
#include "rampart/budro/consistency.hpp"
#include "rampart/budro/metric.hpp"
#include "rampart/evaluation/evaluation.hpp"

/// Individual fairness: the figures of `audit-individual`, and of `train --learner budro` for its
/// result.
namespace rampart::evaluation {

struct IndividualFairness {
    budro::IndividualAudit audit;
    std::vector<budro::Consistency> consistency;
    std::optional<double> balanced_accuracy;
    std::optional<budro::RateGaps> gaps;  // between protected groups
};

/// What is asked of an audit.
struct IndividualQuestion {
    const budro::FairMetric& metric;
    budro::IndividualAuditParams params = {};
    std::vector<std::string> counterfactuals = {};  // as typed
    bool projected = false;  // the policy reads the metric's projected columns
};

/// Audits a policy on rows. `answers`: the policy's, for these rows. Errors: those of the metric,
/// of the audit, and of a counterfactual, which name `--counterfactual`.
base::Result<IndividualFairness> individual_fairness(const model::Policy& policy,
                                                     const dataset::Dataset& rows,
                                                     const PolicyAnswers& answers,
                                                     const IndividualQuestion& question,
                                                     base::ThreadPool& pool);

}  // namespace rampart::evaluation
