#pragma once

#include <array>
#include <vector>

#include "rampart/stats/betting.hpp"
#include "rampart/stats/confidence_bound.hpp"

namespace rampart::stats {

/// A sample that is seen once, a value at a time, in memory that does not grow with it: the wealth
/// of constant bets against "the mean is at most 0", and what the bounds need.
///
/// A bound needs the wealth against other means, so the values' places are kept as masses on 4,097
/// points of their range: each value's mass is split between its two neighbours so that the mean
/// stays. The logarithm is concave: the wealth of the points is never above that of the values, so
/// the bound stays valid, and it is below the exact one by some (4096)^-2 of the range.
///
/// As everywhere in this room: what cannot be given (no values, NaN, a value outside the range) is
/// -infinity. Deterministic in the order of the values. Used by one thread at a time.
class BettingSample {
  public:
    /// Every value lies in `range`, lo < 0 < hi or lo < hi = 0.
    BettingSample(Range range, const Bets& bets);

    void add(double value);

    Moments moments() const;  // compensated sums about the first value
    bool varied() const { return smallest_ < largest_; }
    /// ln W(0), rounded down.
    double log_wealth() const;
    /// As betting_lower_bound, but over the points; not below 0 where the wealth says more than 0.
    double lower_bound(double delta) const;

    static constexpr size_t kCells = 4096;

  private:
    struct Product {
        Sum logs;
        double rounding = 0;
        void add(double x);
        double value() const;
    };
    double wealth_of_points(double theta) const;

    Range range_;
    Bets bets_;
    bool usable_;
    size_t n_ = 0;
    double pivot_ = 0, smallest_ = 0, largest_ = 0;
    Sum sum_, squares_;  // of value - pivot
    std::array<Product, kBetCount> products_;
    std::vector<double> mass_;  // [kCells + 1]
};

}  // namespace rampart::stats
