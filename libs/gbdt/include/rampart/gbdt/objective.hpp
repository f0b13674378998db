#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace rampart::gbdt {

/// Threads process ranges of rows that begin at multiples of this.
constexpr size_t kChunkRows = 1 << 14;

/// Objective that boosting minimises. Order of calls: initial_score() once; then in each iteration
/// prepare() and gradients_of_rows() with the scores so far, a tree is grown and added, and
/// after_tree() gets the new scores.
///
/// Spans have n entries, one per training row, in row order, unless a range is given. g and h are
/// derivatives of the sum (not mean) of the weighted loss by each row's raw score; h > 0.
class Objective {
  public:
    virtual ~Objective() = default;
    virtual std::string_view name() const = 0;
    virtual double initial_score() const = 0;

    /// Prepares an iteration, before its gradients, for computations that need all scores at once.
    virtual void prepare(std::span<const double> scores) { static_cast<void>(scores); }
    /// Computes g and h of the rows first … first + g.size() - 1. Called by several threads at
    /// once, for rows that do not overlap.
    virtual void gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                                   std::span<float> h) const = 0;
    /// Computes the gradients of all rows, in one thread.
    void gradients(std::span<const double> scores, std::span<float> g, std::span<float> h) {
        prepare(scores);
        gradients_of_rows(scores, 0, g, h);
    }

    /// Returns true for losses whose curvature says little (absolute, quantile): a leaf's value is
    /// then not the Newton step but the constant that minimises the loss of its rows when added to
    /// their scores. Called by several threads at once.
    virtual bool sets_leaves() const { return false; }
    virtual double leaf_value(std::span<const double> scores,
                              std::span<const uint32_t> rows) const {
        static_cast<void>(scores);
        static_cast<void>(rows);
        return 0;
    }

    /// Receives the new scores of rows first … first + n - 1, while they are in the cache; n is
    /// kChunkRows or the rest. Called by several threads at once, before after_tree().
    virtual void rows_scored(std::span<const double> scores, size_t first, size_t n) {
        static_cast<void>(scores);
        static_cast<void>(first);
        static_cast<void>(n);
    }

    /// Updates the state of an objective (FairGBM's multipliers). iteration counts from 0.
    virtual void after_tree(int iteration, std::span<const double> scores) {
        static_cast<void>(iteration);
        static_cast<void>(scores);
    }
};

}  // namespace rampart::gbdt
