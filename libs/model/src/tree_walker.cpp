#include "tree_walker.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace rampart::model {

/// Lays the tree out breadth first, so that siblings are adjacent. A leaf's left child is the leaf
/// itself and every value goes left: a traversal stays at a leaf without a test for it.
void TreeWalker::add_tree(const Tree& tree) {
    struct Waiting {
        const TreeNode* node;
        uint32_t place, depth;
    };
    const auto place_for = [&](size_t count) {
        const auto first = static_cast<uint32_t>(nodes_.size());
        nodes_.resize(nodes_.size() + count);
        values_.resize(nodes_.size());
        return first;
    };
    uint32_t deepest = 0;
    std::vector<Waiting> queue{{&tree.nodes.front(), place_for(1), 0}};
    roots_.push_back(queue.front().place);
    for (size_t next = 0; next < queue.size(); ++next) {
        const auto [node, place, depth] = queue[next];
        deepest = std::max(deepest, depth);
        if (node->feature < 0) {
            nodes_[place] = {std::numeric_limits<float>::infinity(), 0, 1, 0, place, 0};
            values_[place] = node->value;
            continue;
        }
        const uint32_t left = place_for(2);
        uint32_t set = 0;
        if (node->categories >= 0) {
            const auto& words = tree.category_sets[static_cast<size_t>(node->categories)];
            set = static_cast<uint32_t>(sets_.size());
            sets_.push_back(words.size());
            sets_.insert(sets_.end(), words.begin(), words.end());
        }
        nodes_[place] = {node->threshold,
                         static_cast<uint16_t>(node->feature),
                         static_cast<uint8_t>(node->default_left),
                         static_cast<uint8_t>(node->categories >= 0),
                         left,
                         set};
        queue.push_back({&tree.nodes[static_cast<size_t>(node->left)], left, depth + 1});
        queue.push_back({&tree.nodes[static_cast<size_t>(node->right)], left + 1, depth + 1});
    }
    depths_.push_back(deepest);
}

bool TreeWalker::in_set(const Node& node, float x) const {
    if (!(x >= 0) || x >= static_cast<float>(sets_[node.set] * 64)) return false;
    const auto code = static_cast<size_t>(x);
    return (sets_[node.set + 1 + code / 64] >> (code % 64) & 1) != 0;
}

template <bool kNumericOnly>
uint32_t TreeWalker::step(uint32_t place, const float* row) const {
    const Node& node = nodes_[place];
    const float x = row[node.feature];
    // branch-free: a number compares, NaN compares false and takes the default
    uint32_t left = static_cast<uint32_t>(x <= node.threshold) |
                    (static_cast<uint32_t>(x != x) & node.default_left);
    if constexpr (!kNumericOnly) {
        if (node.categorical != 0 && x == x) left = static_cast<uint32_t>(in_set(node, x));
    }
    return node.left + 1 - left;
}

/// Traverses kAtOnce trees to their leaves.
template <bool kNumericOnly>
void TreeWalker::walk(std::array<uint32_t, kAtOnce>& at, uint32_t steps, const float* row) const {
    auto [a, b, c, d, e, f, g, h] = at;
    for (uint32_t i = 0; i < steps; ++i) {
        a = step<kNumericOnly>(a, row);
        b = step<kNumericOnly>(b, row);
        c = step<kNumericOnly>(c, row);
        d = step<kNumericOnly>(d, row);
        e = step<kNumericOnly>(e, row);
        f = step<kNumericOnly>(f, row);
        g = step<kNumericOnly>(g, row);
        h = step<kNumericOnly>(h, row);
    }
    at = {a, b, c, d, e, f, g, h};
}

void TreeWalker::finish() {
    order_.resize(roots_.size());
    for (size_t first = 0; first < order_.size(); first += kRun) {
        const auto run = std::span(order_).subspan(first, std::min(kRun, order_.size() - first));
        std::iota(run.begin(), run.end(), uint8_t{0});
        std::stable_sort(run.begin(), run.end(), [&](uint8_t a, uint8_t b) {
            return depths_[first + a] < depths_[first + b];
        });
    }
}

double TreeWalker::add(double sum, const float* row) const {
    Found found;
    for (size_t first = 0; first < roots_.size(); first += kRun) {
        const size_t count = std::min(kRun, roots_.size() - first);
        walk_run(first, count, row, found);
        for (size_t i = 0; i < count; ++i) sum += found[i];
    }
    return sum;
}

void TreeWalker::add_each(double sum, const float* row, std::span<double> sums) const {
    Found found;
    for (size_t first = 0; first < sums.size(); first += kRun) {
        // whole runs: their trees are traversed in order of depth
        walk_run(first, std::min(kRun, roots_.size() - first), row, found);
        const size_t wanted = std::min(kRun, sums.size() - first);
        for (size_t i = 0; i < wanted; ++i) sums[first + i] = sum += found[i];
    }
}

void TreeWalker::walk_run(size_t first, size_t count, const float* row, Found& found) const {
    for (size_t next = 0; next < count; next += kAtOnce) {
        const auto trees = std::span(order_).subspan(first + next, std::min(kAtOnce, count - next));
        std::array<uint32_t, kAtOnce> at;
        // a short last batch traverses its first tree more than once
        for (size_t i = 0; i < kAtOnce; ++i)
            at[i] = roots_[first + trees[i < trees.size() ? i : 0]];
        const uint32_t steps = depths_[first + trees.back()];
        if (sets_.empty()) {
            walk<true>(at, steps, row);
        } else {
            walk<false>(at, steps, row);
        }
        for (size_t i = 0; i < trees.size(); ++i) found[trees[i]] = values_[at[i]];
    }
}

}  // namespace rampart::model
