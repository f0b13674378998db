#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace rampart::gbdt {

/// Rows are shared out between threads in ranges that begin at multiples of this.
constexpr size_t kChunkRows = 1 << 14;

/// What boosting descends on. Life of one: initial_score() once; then for each iteration prepare()
/// and gradients_of_rows() of the scores so far, a tree is grown and added, and after_tree() sees
/// the new scores.
///
/// Spans have n entries, one for each training row, in row order, but where a range is named. g and
/// h are derivatives of the sum (not mean) of the weighted loss by each row's raw score; h > 0.
class Objective {
  public:
    virtual ~Objective() = default;
    virtual std::string_view name() const = 0;
    virtual double initial_score() const = 0;

    /// Before the gradients of an iteration, for what needs all scores at once.
    virtual void prepare(std::span<const double> scores) { static_cast<void>(scores); }
    /// g and h of the rows first … first + g.size() - 1. Called by several threads at once, for
    /// rows that do not overlap.
    virtual void gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                                   std::span<float> h) const = 0;
    /// Of all rows, by one thread.
    void gradients(std::span<const double> scores, std::span<float> g, std::span<float> h) {
        prepare(scores);
        gradients_of_rows(scores, 0, g, h);
    }

    /// For losses whose curvature says little (absolute, quantile): a leaf's value is then not the
    /// Newton step but the constant that, added to the scores of its rows, makes their loss
    /// smallest. Called by several threads at once.
    virtual bool sets_leaves() const { return false; }
    virtual double leaf_value(std::span<const double> scores,
                              std::span<const uint32_t> rows) const {
        static_cast<void>(scores);
        static_cast<void>(rows);
        return 0;
    }

    /// The new scores of rows first … first + n - 1, while they are in the cache; n is kChunkRows
    /// or what is left. Called by several threads at once, before after_tree().
    virtual void rows_scored(std::span<const double> scores, size_t first, size_t n) {
        static_cast<void>(scores);
        static_cast<void>(first);
        static_cast<void>(n);
    }

    /// For objectives with state (FairGBM's multipliers). iteration counts from 0.
    virtual void after_tree(int iteration, std::span<const double> scores) {
        static_cast<void>(iteration);
        static_cast<void>(scores);
    }
};

}  // namespace rampart::gbdt
