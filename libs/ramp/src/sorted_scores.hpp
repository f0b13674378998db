#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rampart::ramp {

/// One ramp as it is applied: q = clip((slope·f - threshold) / gamma + offset, 0, 1); with gamma =
/// 0 the step at slope·f = threshold, on which q = tie.
struct Ramp {
    double slope = 1, threshold = 0, gamma = 0, offset = 0.5, tie = 1;

    /// Before it is clipped; monotone in f as computed too. gamma > 0.
    double line(double f) const { return (slope * f - threshold) / gamma + offset; }
};

/// Weighted sums over rows: of 1, f and f².
struct ScoreSums {
    long double w = 0, wf = 0, wff = 0;
};

/// What a ramp does to rows, as weighted sums over them.
struct RampTotals {
    long double q = 0, fq = 0;  // sums of q, f·q
    long double penalty = 0;    // sum of gamma/2 · (q - offset)²
    ScoreSums inside;           // over the rows with 0 < q < 1 that move with the threshold
};

/// One group's rows in the order of their scores, and sums of them from which what any ramp does
/// follows in O(log n). Immutable, safe to use from many threads.
class SortedScores {
  public:
    /// Rows in any order, at least one; weight: empty (all 1) or one each.
    SortedScores(std::vector<double> score, std::vector<double> weight);

    std::span<const double> score() const { return score_; }  // ascending
    double weight() const { return weight_total_; }
    ScoreSums sums(size_t begin, size_t end) const;

    /// From sums, in O(log n).
    RampTotals totals(const Ramp& ramp) const;
    /// Everything, row by row where 0 < q < 1: as the rule computes it.
    RampTotals exact_totals(const Ramp& ramp) const;

  private:
    /// The rows [none, one) lie on the slope, those on its upper side have q = 1.
    struct Split {
        size_t begin, end;          // 0 < q < 1
        size_t one_begin, one_end;  // q = 1
    };
    Split split(const Ramp& ramp) const;
    RampTotals step_totals(const Ramp& ramp) const;
    ScoreSums before(size_t row) const;
    double weight_of(size_t row) const { return row_weight_.empty() ? 1.0 : row_weight_[row]; }

    std::vector<double> score_;
    std::vector<double> row_weight_;  // empty: all 1
    std::vector<ScoreSums> blocks_;   // over the rows before each block
    double weight_total_ = 0;
};

/// The rows of each group.
std::vector<SortedScores> sort_by_group(std::span<const double> score,
                                        std::span<const int32_t> group, size_t groups,
                                        std::span<const float> weight);

}  // namespace rampart::ramp
