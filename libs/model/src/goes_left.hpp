#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rampart/model/ensemble.hpp"

namespace rampart::model {

inline bool in_set(const std::vector<uint64_t>& set, float x) {
    if (!(x >= 0) || x >= static_cast<float>(set.size() * 64)) return false;
    const auto code = static_cast<size_t>(x);
    return (set[code / 64] >> (code % 64) & 1) != 0;
}

/// Returns which branch of a split a value takes.
inline bool goes_left(const Tree& tree, const TreeNode& node, float x) {
    if (std::isnan(x)) return node.default_left;
    if (node.categories < 0) return x <= node.threshold;
    return in_set(tree.category_sets[static_cast<size_t>(node.categories)], x);
}

}  // namespace rampart::model
