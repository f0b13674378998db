#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace rampart::gbdt {

/// What boosting descends on. Life of one: initial_score() once; then for each iteration
/// gradients() of the scores so far, a tree is grown and added, and after_tree() sees the new
/// scores.
///
/// All spans have n entries, one for each training row, in row order. g and h are derivatives of
/// the sum (not mean) of the weighted loss by each row's raw score; h > 0.
class Objective {
  public:
    virtual ~Objective() = default;
    virtual std::string_view name() const = 0;
    virtual double initial_score() const = 0;
    virtual void gradients(std::span<const double> scores, std::span<float> g,
                           std::span<float> h) = 0;
    /// For objectives with state (FairGBM's multipliers). iteration counts from 0.
    virtual void after_tree(int iteration, std::span<const double> scores) {
        static_cast<void>(iteration);
        static_cast<void>(scores);
    }
};

}  // namespace rampart::gbdt
