#include "batch_layout.hpp"

#include <algorithm>
#include <map>

namespace rampart::model {
namespace {

constexpr size_t kChunk = 128, kByte = 256;

size_t leaves_of(const Tree& tree) { return tree.nodes.size() / 2 + 1; }

bool in_words(const std::vector<uint64_t>& words, size_t code) {
    return code / 64 < words.size() && (words[code / 64] >> (code % 64) & 1) != 0;
}

/// Returns the longest path down from each node; children come after their parents.
std::vector<uint32_t> heights_of(const Tree& tree) {
    std::vector<uint32_t> heights(tree.nodes.size(), 0);
    for (size_t i = tree.nodes.size(); i-- > 0;) {
        const TreeNode& node = tree.nodes[i];
        if (node.feature < 0) continue;
        heights[i] = 1 + std::max(heights[static_cast<size_t>(node.left)],
                                  heights[static_cast<size_t>(node.right)]);
    }
    return heights;
}

/// Writes the programs of groups of trees into a layout with a complete arena.
class GroupWriter {
  public:
    GroupWriter(BatchEngine::Layout& layout, const Ensemble& ensemble,
                const std::map<uint32_t, uint32_t>& first_chunk)
        : layout_(layout), ensemble_(ensemble), first_chunk_(first_chunk) {}

    void add(size_t first_tree, size_t count) {
        TreeGroup group;
        group.first_tree = static_cast<uint32_t>(first_tree);
        group.tree_count = static_cast<uint32_t>(count);
        group.nodes = static_cast<uint32_t>(layout_.nodes.size());
        group.tests = static_cast<uint32_t>(layout_.tests.size());
        answers_.assign(count, {});
        known_.clear();
        next_slot_ = layout_.slots_at;
        next_member_ = layout_.members_at;
        const bool wide = leaves_of(ensemble_.trees[first_tree]) > kByte;
        for (size_t t = 0; t < count; ++t) number_leaves(t, first_tree + t, 0);
        write_nodes(first_tree);
        for (size_t t = 0; t < count; ++t) {
            layout_.roots.push_back({answers_[t].front(), 0, first_value_of(first_tree + t), wide});
        }
        if (wide) {  // once more, for the high bytes of the leaf numbers
            number_leaves(0, first_tree, 8);
            write_nodes(first_tree);
            layout_.roots.back().high = answers_.front().front();
        }
        group.node_count = static_cast<uint32_t>(layout_.nodes.size()) - group.nodes;
        group.test_count = static_cast<uint32_t>(layout_.tests.size()) - group.tests;
        layout_.groups.push_back(group);
        layout_.arena_size = std::max<size_t>({layout_.arena_size, next_slot_, next_member_});
    }

  private:
    /// Sets a leaf's result: a byte of its number among the tree's leaves, a constant of the arena.
    void number_leaves(size_t at, size_t tree_index, unsigned shift) {
        const Tree& tree = ensemble_.trees[tree_index];
        answers_[at].assign(tree.nodes.size(), 0);
        uint32_t leaf = 0;
        for (size_t i = 0; i < tree.nodes.size(); ++i) {
            if (tree.nodes[i].feature >= 0) continue;
            answers_[at][i] = (leaf >> shift) % kByte * kBlock;
            ++leaf;
        }
    }

    /// Returns the place of a tree's first leaf value; they were stored tree by tree, in node
    /// order.
    uint32_t first_value_of(size_t tree_index) {
        const auto first = static_cast<uint32_t>(layout_.values.size());
        for (const TreeNode& node : ensemble_.trees[tree_index].nodes) {
            if (node.feature < 0) layout_.values.push_back(node.value);
        }
        return first;
    }

    void write_nodes(size_t first_tree) {
        struct Waiting {
            uint32_t height;
            size_t tree, node;
        };
        std::vector<Waiting> order;
        for (size_t t = 0; t < answers_.size(); ++t) {
            const auto heights = heights_of(ensemble_.trees[first_tree + t]);
            for (size_t i = 0; i < heights.size(); ++i) {
                if (heights[i] > 0) order.push_back({heights[i], t, i});
            }
        }
        std::stable_sort(order.begin(), order.end(),
                         [](const Waiting& a, const Waiting& b) { return a.height < b.height; });
        for (const Waiting& next : order) {
            const Tree& tree = ensemble_.trees[first_tree + next.tree];
            auto& answers = answers_[next.tree];
            const TreeNode& node = tree.nodes[next.node];
            BlockNode out{0, answers[static_cast<size_t>(node.left)],
                          answers[static_cast<size_t>(node.right)], 0};
            if (node.categories >= 0) {
                out.column = member_column(tree, node);
            } else {
                const CutPlace place = layout_.cuts.place(node);
                const uint32_t side = node.default_left ? 1 : 0;
                out.column =
                    layout_.columns_at + (2 * place.column + side) * static_cast<uint32_t>(kBlock);
                out.cut = place.cut;
            }
            layout_.nodes.push_back(out);
            answers[next.node] = next_slot_;
            next_slot_ += kBlock;
        }
    }

    /// Returns the column that is 0 where the node goes left; its tests are added once per group.
    uint32_t member_column(const Tree& tree, const TreeNode& node) {
        const auto& words = tree.category_sets[static_cast<size_t>(node.categories)];
        const auto [known, fresh] =
            known_.try_emplace(std::tuple(node.feature, node.default_left, words), next_member_);
        if (!fresh) return known->second;
        next_member_ += kBlock;
        const uint32_t first = first_chunk_.at(static_cast<uint32_t>(node.feature));
        const size_t codes = layout_.chunks[first].codes;
        bool any = false;
        for (uint32_t c = 0; c <= codes / kChunk; ++c) {
            MemberTest test{};
            bool empty = true;
            for (size_t i = 0; i < kChunk && c * kChunk + i <= codes; ++i) {
                const size_t code = c * kChunk + i;
                if (!(code == codes ? node.default_left : in_words(words, code))) continue;
                test.bits[i / 8] = static_cast<uint8_t>(test.bits[i / 8] | 1u << i % 8);
                empty = false;
            }
            // no code is in an empty part, but at least one test must write the column
            if (empty && (any || c < codes / kChunk)) continue;
            test.index = layout_.chunks_at + (first + c) * 2 * static_cast<uint32_t>(kBlock);
            test.bit = test.index + static_cast<uint32_t>(kBlock);
            test.out = known->second;
            test.first = any ? 0 : 1;
            layout_.tests.push_back(test);
            any = true;
        }
        return known->second;
    }

    BatchEngine::Layout& layout_;
    const Ensemble& ensemble_;
    const std::map<uint32_t, uint32_t>& first_chunk_;
    std::vector<std::vector<uint32_t>> answers_;  // per tree of the group: offset by node
    std::map<std::tuple<int32_t, bool, std::vector<uint64_t>>, uint32_t> known_;
    uint32_t next_slot_ = 0, next_member_ = 0;
};

/// Returns the number of codes of each categorical feature in the ensemble: that of its longest
/// set.
std::map<uint32_t, uint32_t> codes_of(const Ensemble& ensemble) {
    std::map<uint32_t, uint32_t> codes;
    for (const Tree& tree : ensemble.trees) {
        for (const TreeNode& node : tree.nodes) {
            if (node.feature < 0 || node.categories < 0) continue;
            const auto& words = tree.category_sets[static_cast<size_t>(node.categories)];
            auto& most = codes[static_cast<uint32_t>(node.feature)];
            most = std::max(most, static_cast<uint32_t>(words.size() * 64));
        }
    }
    return codes;
}

/// Returns the end of the group of trees that begins at `first`.
size_t end_of_group(const Ensemble& ensemble, size_t first) {
    size_t end = first;
    while (end < ensemble.trees.size() && end - first < BatchEngine::Layout::kTreesAtOnce &&
           leaves_of(ensemble.trees[end]) <= kByte) {
        ++end;
    }
    return std::max(end, first + 1);  // a wide tree is a group of its own
}

}  // namespace

BatchEngine::Layout::Layout(const Ensemble& ensemble, InstructionSet set)
    : base_score(ensemble.base_score), kernels(batch_kernels(set)), cuts(ensemble) {
    std::map<uint32_t, uint32_t> first_chunk;
    for (const auto& [feature, codes] : codes_of(ensemble)) {
        first_chunk[feature] = static_cast<uint32_t>(chunks.size());
        for (uint32_t first = 0; first <= codes; first += kChunk) {
            chunks.push_back({feature, codes, first});
        }
    }
    size_t slots = 0;
    for (size_t t = 0, end = 0; t < ensemble.trees.size(); t = end) {
        end = end_of_group(ensemble, t);
        size_t inner = 0;
        for (size_t i = t; i < end; ++i) {
            const size_t leaves = leaves_of(ensemble.trees[i]);
            leaf_numbers = std::max(leaf_numbers, std::min(leaves, kByte));
            inner += (leaves - 1) * (leaves > kByte ? 2 : 1);
            for (const TreeNode& node : ensemble.trees[i].nodes)
                features = std::max(features, static_cast<size_t>(node.feature + 1));
        }
        slots = std::max(slots, inner);
    }
    const auto place = [this](size_t columns) {
        const auto at = static_cast<uint32_t>(arena_size);
        arena_size += columns * kBlock;
        return at;
    };
    place(leaf_numbers);
    columns_at = place(2 * cuts.columns().size());
    chunks_at = place(2 * chunks.size());
    slots_at = place(slots);
    members_at = static_cast<uint32_t>(arena_size);
    GroupWriter writer(*this, ensemble, first_chunk);
    for (size_t t = 0, end = 0; t < ensemble.trees.size(); t = end) {
        end = end_of_group(ensemble, t);
        writer.add(t, end - t);
    }
}

}  // namespace rampart::model
