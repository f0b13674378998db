#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"

namespace rampart::model {

/// A binary decision tree over encoded rows (dataset::FeatureSchema).
///
/// Nodes in an array, root first; node i goes left iff
///   numeric:     x <= threshold   (missing: as default_left)
///   categorical: bit x of categories is set (missing or unseen: as default_left)
struct TreeNode {
    int32_t feature = -1;  // -1: a leaf
    float threshold = 0;
    int32_t left = -1, right = -1;  // indices > own index
    int32_t categories = -1;        // categorical: index into Tree::category_sets, else -1
    bool default_left = false;
    double value = 0;  // used at leaves
    double cover = 0;  // sum of training weights of the rows that reach it
    double gain = 0;
};

struct Tree {
    std::vector<TreeNode> nodes;
    std::vector<std::vector<uint64_t>> category_sets;  // bit sets by category code
    double predict(std::span<const float> row) const;
};

/// Raw score = base_score + sum of trees (log-odds for log loss).
struct Ensemble {
    double base_score = 0;
    std::vector<Tree> trees;

    double predict_raw(std::span<const float> row) const;
    /// Evaluates the first `trees_used` trees only.
    double predict_raw(std::span<const float> row, size_t trees_used) const;
};

/// Returns whether a tree has a split; if not, the score is the same for every row.
bool reads_a_feature(const Ensemble& ensemble);

/// Leaf values and base scores lie in [-kMaxRawValue, kMaxRawValue], so that no sum overflows.
inline constexpr double kMaxRawValue = 1e9;

/// Checks that indices are within limits, children after parents, every node reached once, values
/// finite and within kMaxRawValue, features < d. Errors name tree and node.
base::Status validate(const Ensemble& ensemble, size_t features);
/// Checks also that splits fit features: thresholds for numbers, sets of known codes otherwise.
base::Status validate(const Ensemble& ensemble, const dataset::FeatureSchema& schema);

double sigmoid(double raw);  // 1 / (1 + exp(-raw)), without overflow

}  // namespace rampart::model
