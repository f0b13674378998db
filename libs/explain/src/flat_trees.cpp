#include "flat_trees.hpp"

#include <algorithm>

namespace rampart::explain {

FlatTrees::FlatTrees(const model::Ensemble& ensemble, size_t features) {
    std::vector<int64_t> nearest(features, -1);
    for (const auto& tree : ensemble.trees) {
        if (tree.nodes.size() == 1) continue;
        add(tree);
        link(trees.back(), nearest);
        most_nodes = std::max(most_nodes, tree.nodes.size());
        path_features = std::max(path_features, trees.back().path_features);
    }
}

void FlatTrees::add(const model::Tree& tree) {
    trees.push_back({nodes.size(), tree.nodes.size(), 0});
    for (const auto& node : tree.nodes) {
        FlatNode& flat = nodes.emplace_back();
        values.push_back(node.value);
        if (node.feature < 0) continue;
        flat.feature = node.feature;
        flat.threshold = node.threshold;
        flat.child[0] = static_cast<uint32_t>(node.left);
        flat.child[1] = static_cast<uint32_t>(node.right);
        flat.missing_side = node.default_left ? 0 : 1;
        if (node.categories < 0) continue;
        const auto& set = tree.category_sets[static_cast<size_t>(node.categories)];
        flat.set = static_cast<uint32_t>(sets.size());
        flat.set_words = static_cast<uint32_t>(set.size());
        sets.insert(sets.end(), set.begin(), set.end());
    }
}

/// Traverses depth first and keeps the nearest edge of each feature; restores nearest[f] to -1.
void FlatTrees::link(FlatTree& tree, std::vector<int64_t>& nearest) {
    struct Step {
        uint32_t node;
        int64_t edge;   // edge by which the node is entered
        int64_t saved;  // on leaving: the previous value of nearest
        bool leave;
    };
    FlatNode* const first = nodes.data() + tree.begin;
    const auto feature_of = [&](int64_t edge) {
        return static_cast<size_t>(first[edge / 2].feature);
    };
    size_t different = 0;
    std::vector<Step> open{{0, -1, -1, false}};
    while (!open.empty()) {
        const Step step = open.back();
        open.pop_back();
        if (step.leave) {
            nearest[feature_of(step.edge)] = step.saved;
            different -= step.saved < 0 ? 1 : 0;
            continue;
        }
        if (step.edge >= 0) {
            int64_t& place = nearest[feature_of(step.edge)];
            open.push_back({step.node, step.edge, place, true});
            different += place < 0 ? 1 : 0;
            place = step.edge;
        }
        tree.path_features = std::max(tree.path_features, different);
        FlatNode& node = first[step.node];
        if (node.feature < 0) continue;
        node.same = nearest[static_cast<size_t>(node.feature)];
        for (const unsigned side : {0u, 1u}) {
            const int64_t edge = 2 * static_cast<int64_t>(step.node) + side;
            open.push_back({node.child[side], edge, 0, false});
        }
    }
}

}  // namespace rampart::explain
