#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/evaluation/evaluation.hpp"
#include "rampart/fairness/budro/audit.hpp"
#include "rampart/fairness/budro/consistency.hpp"
#include "rampart/fairness/budro/metric.hpp"

/// Individual fairness: the figures of `audit-individual`, and of `train --learner budro` for its
/// result.
namespace rampart::evaluation {

struct IndividualFairness {
    fairness::IndividualAudit audit;
    std::vector<fairness::Consistency> consistency;
    std::optional<double> balanced_accuracy;
    std::optional<fairness::RateGaps> gaps;  // between protected groups
};

/// What is asked of an audit.
struct IndividualQuestion {
    const fairness::FairMetric& metric;
    fairness::IndividualAuditParams params = {};
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
