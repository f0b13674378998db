#pragma once

#include <array>
#include <cstddef>

#include "rampart/stats/confidence_bound.hpp"

namespace rampart::ope {

/// Tests by bets whether approvals, or referrals, were drawn with the logged probabilities p. For a
/// tilt t, a record multiplies the wealth by its likelihood ratio
///     (A e^t + 1 - A) / (1 - p + p e^t),
/// whose mean is 1 if A was drawn with p. The wealth is half the mean over kTilts of the product
/// over all records, and half the product over the tenths of [0, 1] of p of that mean within each:
/// errors at some probabilities that cancel those at others are found as well. It is a martingale
/// that starts at 1, so that P(wealth >= 1 / level at any time) <= level, however often a growing
/// log is looked at (Ville's inequality). One record at a time; not thread safe.
class CalibrationWealth {
  public:
    static constexpr std::array kTilts{-1.0, -0.3, -0.1, 0.1, 0.3, 1.0};

    void add(double p, bool drawn);
    /// Returns ln of the wealth.
    double log_wealth() const;

  private:
    std::array<std::array<stats::Sum, kTilts.size()>, 10> tenths_{};
};

}  // namespace rampart::ope
