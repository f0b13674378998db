#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "rampart/evaluation/evaluation.hpp"
#include "rampart/evaluation/individual_fairness.hpp"
#include "rampart/evaluation/regression_evaluation.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/report/text_table.hpp"

/// The figures of a model's evaluation: for programs as JSON, for people as tables.
namespace rampart::cli {

boost::json::object to_json(const evaluation::Evaluation& evaluation);
std::string to_text(const evaluation::Evaluation& evaluation);

boost::json::object to_json(const evaluation::RegressionEvaluation& evaluation);
std::string to_text(const evaluation::RegressionEvaluation& evaluation);

boost::json::object to_json(const evaluation::IndividualFairness& found);
/// Returns loss, bound, gaps and consistency in two columns.
report::Table summary_table(const evaluation::IndividualFairness& found);

/// Draws each group's distribution of the score; tails [groups x levels]: P(score >= j / levels |
/// group); cut: where a policy approves from or up to, on the unit scale.
std::string distribution_picture(const std::vector<std::string>& groups,
                                 const std::vector<double>& tails, size_t levels,
                                 const fair_regression::LabelRange& range,
                                 std::optional<double> cut);

/// "a mixture of 150 members over 1 ensemble with 150 trees"; empty for a link without members.
std::string mixture_text(const model::LearnedLink& link);
/// What is done to the ensemble's score before the ramp: "calibrated by group", "less the
/// adjustment for P(group | features)"; empty: nothing.
std::string score_text(const model::LearnedLink& link);
/// For commands that take one ensemble apart: says that more than it decides; empty: it alone does.
std::string main_ensemble_note(const model::LearnedLink& link);

/// Returns whom each threshold of the link's ramp is for: a group, or, with strata, a group in a
/// stratum; empty: one for all.
std::vector<std::string> cell_names(const model::LearnedLink& link, const model::Policy& policy);

}  // namespace rampart::cli
