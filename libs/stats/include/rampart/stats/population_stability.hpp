#pragma once

#include <span>

namespace rampart::stats {

/// Returns the population stability index from one distribution to another over the same bins: the
/// sum of (b - a) ln(b / a) over their shares a and b (N. Siddiqi, Credit Risk Scorecards, 2006,
/// chapter 9; J. Lin, Divergence measures based on the Shannon entropy, IEEE Transactions on
/// Information Theory 37, 1991: Jeffreys' divergence). `first`, `second`: weights >= 0, as many; a
/// share below 1e-4 counts as 1e-4, and a bin that both lack as none. 0 if one has no weight.
double population_stability(std::span<const double> first, std::span<const double> second);

/// Returns what the index is on average where both are samples of one distribution over `bins`
/// bins: (bins - 1) (1 / n + 1 / m). Rows n, m > 0.
double stability_by_chance(double bins, double first_rows, double second_rows);

}  // namespace rampart::stats
