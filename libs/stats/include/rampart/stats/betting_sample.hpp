#pragma once

#include <array>
#include <vector>

#include "rampart/stats/betting.hpp"
#include "rampart/stats/confidence_bound.hpp"

namespace rampart::stats {

/// One-pass sample with constant memory: accumulates the wealth of constant bets against "the mean
/// is at most 0", and what the bounds need.
///
/// A bound needs the wealth against other means, so the values are kept as masses on 4,097 grid
/// points of their range: each value's mass is split between its two neighbours so that the mean is
/// kept. The logarithm is concave, so the wealth of the points never exceeds that of the values:
/// the bound stays valid, and is lower than the exact one by about (4096)^-2 of the range.
///
/// As everywhere in this room: a result that cannot be computed (no values, NaN, a value outside
/// the range) is -infinity. Deterministic in the order of the values. Not thread safe.
class BettingSample {
  public:
    /// Requires every value to lie in `range`, with lo < 0 < hi or lo < hi = 0.
    BettingSample(Range range, const Bets& bets);

    void add(double value);

    Moments moments() const;  // compensated sums around the first value
    bool varied() const { return smallest_ < largest_; }
    /// Returns ln W(0), rounded down.
    double log_wealth() const;
    /// Returns betting_lower_bound over the grid; at least 0 if the wealth rejects "mean <= 0".
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
    Sum sum_, squares_;  // over value - pivot
    std::array<Product, kBetCount> products_;
    std::vector<double> mass_;  // [kCells + 1]
};

}  // namespace rampart::stats
