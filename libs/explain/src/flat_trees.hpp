#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "rampart/model/ensemble.hpp"

namespace rampart::explain {

/// A node, in the order of its tree; children are numbered within the tree.
struct FlatNode {
    int32_t feature = -1;  // -1: a leaf
    float threshold = 0;
    uint32_t child[2] = {0, 0};  // side 0 is left
    uint32_t set = 0;            // categorical: first word in FlatTrees::sets
    uint32_t set_words = 0;      // 0: numeric
    uint32_t missing_side = 1;
    /// Nearest edge above on the same feature, as 2 · node + side; -1: none.
    int64_t same = -1;
};

struct FlatTree {
    size_t begin = 0, nodes = 0;  // in FlatTrees::nodes
    size_t path_features = 0;     // largest number of distinct features on a path
};

/// An ensemble laid out for traversals that visit both sides of a split. Rows take the same
/// branches as in model::Tree::predict.
struct FlatTrees {
    std::vector<FlatNode> nodes;
    std::vector<double> values;  // per node; used at leaves
    std::vector<uint64_t> sets;
    std::vector<FlatTree> trees;  // those with a split, in order
    size_t most_nodes = 0;        // nodes of the largest tree
    size_t path_features = 0;

    /// Requires a valid ensemble.
    FlatTrees(const model::Ensemble& ensemble, size_t features);

    std::span<const FlatNode> nodes_of(const FlatTree& tree) const {
        return {nodes.data() + tree.begin, tree.nodes};
    }

    unsigned side_of(const FlatNode& node, float x) const {
        if (std::isnan(x)) return node.missing_side;
        if (node.set_words == 0) return x <= node.threshold ? 0 : 1;
        if (!(x >= 0) || x >= static_cast<float>(node.set_words * 64)) return 1;
        const auto code = static_cast<uint32_t>(x);
        return (sets[node.set + code / 64] >> (code % 64) & 1) != 0 ? 0 : 1;
    }

  private:
    void add(const model::Tree& tree);
    void link(FlatTree& tree, std::vector<int64_t>& nearest);
};

}  // namespace rampart::explain
