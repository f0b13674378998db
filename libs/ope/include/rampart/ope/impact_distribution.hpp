#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/ope/estimator.hpp"
#include "rampart/ope/logged_feedback.hpp"
#include "rampart/stats/distribution_bounds.hpp"

namespace rampart::ope {

/// Distribution of a candidate's impacts, not only their mean: P(I <= v) is the mean of an
/// indicator, so estimator.hpp and value_bound.hpp apply to it (Weber et al. 2022, appendix C.3;
/// Chandak et al. 2021). Pure; safe to call from many threads.

/// Selects the indicator: 1{I <= v}, or 1{I > v}, whose increase means less harm in the tail.
enum class Tail { kAtMost, kAbove };

/// Returns 1 or 0 for each impact, NaN where the impact is NaN.
std::vector<double> tail_indicators(std::span<const double> impact, double v, Tail tail);

/// Returns `model` for that indicator: range [0, 1], known impact of declines converted, centres 0
/// (set them from other data).
ImpactModel tail_model(const ImpactModel& model, double v, Tail tail);

/// Records of a group; impacts are indexed like the decisions.
struct GroupFeedback {
    const LoggedDecisions& decisions;
    std::span<const uint32_t> records;
    std::span<const double> impact;
};

/// Returns a simultaneous band, with confidence 1 - delta for any distribution, around the
/// distribution function of the candidate's impacts in `test`: two betting bounds (betting.hpp) at
/// delta / 2K at each of K points, centres and bets from `selection`, one sum per person, a missing
/// impact at its worst. Quantiles, median, CVaR, mean and variance follow from it jointly at the
/// same confidence (stats/distribution_bounds.hpp).
///
/// Reads range, known impact of declines, declines_overridden and max_weight of `model`. `points`:
/// ascending, distinct, in [lo, hi), 1 to 1000. Decisions must have passed validate() and
/// has_support() with model.absolute set. Fails with out_of_range "bad_points"; invalid_argument
/// "bad_delta", "too_few_records" (none in selection, fewer than two units in test); "bad_band" if
/// the bounds contradict each other: then no conclusion may be drawn.
base::Result<stats::DistributionBand> candidate_distribution(const GroupFeedback& selection,
                                                             const GroupFeedback& test,
                                                             const ImpactModel& model,
                                                             std::span<const double> points,
                                                             double delta);

}  // namespace rampart::ope
