#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "audit/evaluation.hpp"
#include "frame/text_table.hpp"
#include "rampart/fairness/budro/audit.hpp"
#include "rampart/fairness/budro/consistency.hpp"
#include "rampart/fairness/budro/metric.hpp"

/// How alike a policy treats people who are alike: what `audit-individual` says, and `train
/// --learner budro` of its result.
namespace rampart::cli {

struct IndividualFairness {
    fairness::IndividualAudit audit;
    std::vector<fairness::Consistency> consistency;
    std::optional<double> balanced_accuracy;
    std::optional<fairness::RateGaps> gaps;  // between protected groups
};

/// answers: the policy's, for these rows. counterfactuals: as typed. projected: the policy reads
/// the metric's projected columns instead of the rows.
base::Result<IndividualFairness> individual_fairness(
    const model::Policy& policy, const dataset::Dataset& rows, const PolicyAnswers& answers,
    const fairness::FairMetric& metric, const fairness::IndividualAuditParams& params,
    const std::vector<std::string>& counterfactuals, base::ThreadPool& pool,
    bool projected = false);

/// Robust loss, certificate, gaps, consistency: two columns.
Table summary_table(const IndividualFairness& found);
boost::json::object to_json(const IndividualFairness& found);

}  // namespace rampart::cli
