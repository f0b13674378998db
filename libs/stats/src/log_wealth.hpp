#pragma once

#include <array>

#include "rampart/stats/betting.hpp"

namespace rampart::stats {

/// Bets and weights that a wealth can be computed with.
bool usable_bets(const Bets& bets);

/// ln sum_k weight_k exp(logs_k), rounded down; -infinity when a term is NaN or too large.
double log_mixture(const Bets& bets, const std::array<double, kBetCount>& logs);

}  // namespace rampart::stats
