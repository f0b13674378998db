#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::model {

/// A binary decision tree over encoded rows (dataset::FeatureSchema).
///
/// Nodes in an array, root first; node i goes left iff
///   numeric:     x <= threshold   (missing: as default_left says)
///   categorical: bit x of categories is set (missing or unseen: as default_left says)
struct TreeNode {
    int32_t feature = -1;            // -1: a leaf
    float threshold = 0;
    int32_t left = -1, right = -1;   // indices > own index
    int32_t categories = -1;         // categorical: index into Tree::category_sets, else -1
    bool default_left = false;
    double value = 0;                // of a leaf
    double cover = 0;                // sum of training weights that came through
    double gain = 0;
};

struct Tree {
    std::vector<TreeNode> nodes;
    std::vector<std::vector<uint64_t>> category_sets;  // bit sets by category code
    double predict(std::span<const float> row) const;
};

/// base_score + sum of trees: a raw score (log-odds for log loss).
struct Ensemble {
    double base_score = 0;
    std::vector<Tree> trees;

    double predict_raw(std::span<const float> row) const;
    /// After the first `trees_used` trees only.
    double predict_raw(std::span<const float> row, size_t trees_used) const;
};

/// Indices inside limits, children after parents, every node reached once, values finite, features < d.
base::Status validate(const Ensemble& ensemble, size_t features);

double sigmoid(double raw);  // 1 / (1 + exp(-raw)), without overflow

}  // namespace rampart::model
