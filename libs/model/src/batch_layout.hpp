#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "batch_kernels.hpp"
#include "cut_columns.hpp"
#include "rampart/model/batch_engine.hpp"

/// Layout of BatchEngine: programs over an arena of byte columns.
namespace rampart::model {

/// 128 codes of a categorical feature; missing is the code after the last.
struct CodeChunk {
    uint32_t feature = 0;
    uint32_t codes = 0;  // number of codes of the feature
    uint32_t first = 0;  // first code of the chunk
};

/// Trees that are scored together; nodes are ordered by height, so that neighbours do not
/// depend on each other.
struct TreeGroup {
    uint32_t nodes = 0, node_count = 0;  // in BatchLayout::nodes
    uint32_t tests = 0, test_count = 0;  // in BatchLayout::tests
    uint32_t first_tree = 0, tree_count = 0;
};

/// Location of a tree's result: leaf = low byte + 256 · high byte (trees of over 256 leaves).
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
    std::vector<CodeChunk> chunks;  // per feature
    std::vector<BlockNode> nodes;
    std::vector<MemberTest> tests;
    std::vector<TreeGroup> groups;
    std::vector<TreeRoot> roots;
    std::vector<double> values;  // leaf values, tree after tree
    size_t features = 0;
    // The arena: leaf numbers (constants), cut columns (missing right, missing left), code chunks
    // (index, bit), node results, results of categorical splits.
    size_t leaf_numbers = 1;  // number of leaf numbers
    uint32_t columns_at = 0, chunks_at = 0, slots_at = 0, members_at = 0;
    size_t arena_size = 0;
};

}  // namespace rampart::model
