#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "batch_kernels.hpp"
#include "cut_columns.hpp"
#include "rampart/model/batch_engine.hpp"

/// What BatchEngine makes of an ensemble: programs over an arena of byte columns.
namespace rampart::model {

/// 128 codes of a categorical feature, missing (the code after the last) among them.
struct CodeChunk {
    uint32_t feature = 0;
    uint32_t codes = 0;  // of the feature
    uint32_t first = 0;  // code
};

/// Trees that are scored together; their nodes ordered by height, so that neighbours do not wait
/// for each other.
struct TreeGroup {
    uint32_t nodes = 0, node_count = 0;  // in BatchLayout::nodes
    uint32_t tests = 0, test_count = 0;  // in BatchLayout::tests
    uint32_t first_tree = 0, tree_count = 0;
};

/// Where a tree's answer is found: leaf = low byte + 256 · high byte (of trees past 256 leaves).
struct TreeRoot {
    uint32_t low = 0, high = 0;  // offsets
    uint32_t values = 0;         // in BatchLayout::values
    bool wide = false;
};

struct BatchEngine::Layout {
    static constexpr size_t kTreesAtOnce = 4;

    Layout(const Ensemble& ensemble, InstructionSet set);

    double base_score;
    BatchKernels kernels;
    CutColumns cuts;
    std::vector<CodeChunk> chunks;  // by feature
    std::vector<BlockNode> nodes;
    std::vector<MemberTest> tests;
    std::vector<TreeGroup> groups;
    std::vector<TreeRoot> roots;
    std::vector<double> values;  // of leaves, tree after tree
    size_t features = 0;
    // The arena: leaf numbers (constants), cut columns (missing right, missing left), code chunks
    // (index, bit), node answers, answers of categorical questions.
    size_t leaf_numbers = 1;  // how many
    uint32_t columns_at = 0, chunks_at = 0, slots_at = 0, members_at = 0;
    size_t arena_size = 0;
};

}  // namespace rampart::model
