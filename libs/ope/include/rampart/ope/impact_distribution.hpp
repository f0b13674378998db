#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/ope/estimator.hpp"
#include "rampart/ope/logged_feedback.hpp"
#include "rampart/stats/distribution_bounds.hpp"

namespace rampart::ope {

/// How a candidate's impacts are distributed, not only on average: P(I <= v) is the mean of an
/// indicator, so that everything of estimator.hpp and value_bound.hpp holds for it (ELF paper,
/// appendix C.3; Chandak et al. 2021). Pure; safe to call from many threads.

/// Which indicator: 1{I <= v}, or 1{I > v}, whose increase is less harm in the tail.
enum class Tail { kAtMost, kAbove };

/// 1 or 0 for each impact, NaN where the impact is.
std::vector<double> tail_indicators(std::span<const double> impact, double v, Tail tail);

/// `model` for that indicator: range [0, 1], what is known of declines carried over, centres 0
/// (fill them in from other data).
ImpactModel tail_model(const ImpactModel& model, double v, Tail tail);

/// Records of a group, and impacts indexed like the decisions.
struct GroupFeedback {
    const LoggedDecisions& decisions;
    std::span<const uint32_t> records;
    std::span<const double> impact;
};

/// A band around the distribution function of the candidate's impacts over `test`'s records that
/// holds as a whole with confidence 1 - delta, whatever the distribution: at each of K points two
/// betting bounds (betting.hpp) at delta / 2K, centres and bets from `selection`, one sum a person,
/// a missing impact at its worst for either side. Quantiles, median, CVaR, mean and variance follow
/// from it together at the same confidence (stats/distribution_bounds.hpp).
///
/// Of `model` the range, the known impact of declines, declines_overridden and max_weight are used.
/// `points`: ascending, distinct, in [lo, hi), 1 to 1000. Decisions must have passed validate() and
/// has_support() with model.absolute set. Errors (invalid_argument): "bad_points", "bad_delta",
/// "too_few_records" (none in selection, fewer than two units in test); "bad_band" when the bounds
/// contradict each other: then nothing may be concluded.
base::Result<stats::DistributionBand> candidate_distribution(const GroupFeedback& selection,
                                                             const GroupFeedback& test,
                                                             const ImpactModel& model,
                                                             std::span<const double> points,
                                                             double delta);

}  // namespace rampart::ope
