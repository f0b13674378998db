#pragma once

#include <memory>
#include <span>

#include "rampart/model/ensemble.hpp"
#include "rampart/model/instruction_set.hpp"

namespace rampart::model {

/// An ensemble laid out to score one row fast. Gives exactly the result of Ensemble::predict_raw,
/// to the last bit: leaf values are summed in tree order.
///
/// With AVX2 no tree is traversed. A row is converted to bytes: for each feature, the number of its
/// thresholds below the value. All splits of a tree (or of the upper part of one with more than 32
/// leaves) are evaluated at once, by one comparison of 32 bytes; a split with result "right"
/// excludes the leaves to its left, and the row's leaf is the first remaining one. Branches depend
/// on the row only for missing values and from a large tree's upper part into a lower one.
///
/// Without AVX2, and for ensembles that do not fit this form (thresholds of over 255 features,
/// where each 254 thresholds count as one, or more than 4,096 categories), eight trees are
/// traversed at a time, so that their memory accesses overlap.
///
/// Immutable, safe to use from many threads, does not allocate in predict_raw. Copies share the
/// layout. Keeps no reference to its ensemble.
class Engine {
  public:
    /// Requires a valid ensemble (model::validate) and a supported instruction set.
    explicit Engine(const Ensemble& ensemble, InstructionSet set = fastest_supported());
    /// Scores one row: [d] as validated.
    double predict_raw(std::span<const float> row) const;
    /// Sets scores[t] to the score after the first t + 1 trees, as Ensemble::predict_raw(row, t +
    /// 1). At most all; later trees are not evaluated.
    void predict_prefixes(std::span<const float> row, std::span<double> scores) const;

    struct Layout;  // defined in engine.cpp

  private:
    std::shared_ptr<const Layout> layout_;
};

}  // namespace rampart::model
