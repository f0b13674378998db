#pragma once

#include <vector>

#include "rampart/fairgbm/objective.hpp"
#include "rampart/fairness/operating_point.hpp"
#include "rampart/fairness/rate_constraints.hpp"
#include "rampart/learning/learner.hpp"

/// Options of constraints on rates and of the operating point, which FairGBM, the reductions and
/// BuDRO share.
namespace rampart::learning {

/// `constraints`: those by default; empty: none.
std::vector<Option> rate_options(std::vector<std::string> constraints);

/// Returns whether constraints on rates are to be kept: `constraints` or `targets`.
bool asks_for_rates(const OptionValues& values);

struct RateSettings {
    fairness::RateConstraints constraints;
    fairness::OperatingPoint operating_point;
};
/// Errors name the option: unknown rates, bounds out of range.
base::Result<RateSettings> rate_settings(const OptionValues& values);

/// Returns the operating point alone.
base::Result<fairness::OperatingPoint> operating_point(const OptionValues& values);

/// Measures decisions by the constraints and targets that the options name; see Learner::measure().
base::Result<Kept> rates_kept(const dataset::Dataset& rows, std::span<const double> approve,
                              const OptionValues& values);

/// Returns the raw score from which trees of P(favourable) approve: the point's threshold, or where
/// its bound just holds on the validation rows, else on the training rows. Errors:
/// "nothing_approved": no threshold that approves a row keeps the bound.
base::Result<double> threshold_on(const fairness::OperatingPoint& point,
                                  const model::Ensemble& ensemble, const Task& task);

/// Options of FairGBM's game, and what they say.
std::vector<Option> lagrangian_options();
base::Result<fairgbm::LagrangianParams> lagrangian_params(const OptionValues& values,
                                                          const fairness::OperatingPoint& point);

/// Returns the option of the weight of rows with the favourable label.
Option favourable_weight_option();

/// Returns the rule that approves from a raw score on, for a link of slope 2 and intercept -1.
model::RampRule rule_at(double raw_threshold);

/// Returns the largest of the gaps between groups; 0 without.
double largest_gap(const fairness::RateValues& values);

}  // namespace rampart::learning
