#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rampart/model/ensemble.hpp"

namespace rampart::model {

/// Two encoded rows, and the parts that rows between them take from the second: row S, for S in [0,
/// 2^parts.size()), has the features of parts[i] as `other` has them where bit i of S is set, and
/// all else as `row` has it. Refers to what has to outlive it.
struct TwoRows {
    static constexpr size_t kMostParts = 16;

    std::span<const float> row, other;             // [d]
    std::span<const std::vector<size_t>> parts{};  // features, each in one part at most

    size_t count() const { return size_t{1} << parts.size(); }
    /// Returns all rows, [count()][d].
    std::vector<float> rows() const;
};

/// Sets out[S], [count()], to the raw score of row S: that of Ensemble::predict_raw, to the bit.
/// Each tree is walked once for all rows, along both branches where the two rows part; its leaf is
/// added to each row's sum, in the order of the trees.
void predict_between(const Ensemble& ensemble, const TwoRows& two, std::span<double> out);

}  // namespace rampart::model
