#pragma once

#include <array>

#include "rampart/stats/betting.hpp"

namespace rampart::stats {

/// Returns whether the bets and weights are finite and in range, so that a wealth is defined.
bool usable_bets(const Bets& bets);

/// Returns ln sum_k weight_k exp(logs_k), rounded down; -infinity if a term is NaN or too large.
double log_mixture(const Bets& bets, const std::array<double, kBetCount>& logs);

}  // namespace rampart::stats
