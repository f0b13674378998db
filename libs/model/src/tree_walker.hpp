#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "rampart/model/ensemble.hpp"

namespace rampart::model {

/// Trees laid out for traversal: nodes in one array of 16-byte entries, siblings adjacent, eight
/// trees at a time so that memory accesses overlap. Trees of similar depth are grouped, because all
/// eight are traversed to the depth of the deepest; values are summed in tree order.
class TreeWalker {
  public:
    void add_tree(const Tree& tree);
    /// Finishes the layout. Call once after all trees are added.
    void finish();
    /// Returns sum + all trees' leaf values, added in tree order.
    double add(double sum, const float* row) const;
    /// Sets sums[t] = sum + the first t + 1 trees' leaf values. sums.size() <= number of trees.
    void add_each(double sum, const float* row, std::span<double> sums) const;

  private:
    static constexpr size_t kRun = 64;  // number of trees that are sorted by depth together
    using Found = std::array<double, kRun>;
    /// Sets found to the leaf values of trees first … first + count - 1.
    void walk_run(size_t first, size_t count, const float* row, Found& found) const;
    struct Node {
        float threshold;  // for numeric nodes and leaves (always left, to themselves)
        uint16_t feature;
        uint8_t default_left;
        uint8_t categorical;
        uint32_t left;  // right = left + 1
        uint32_t set;   // categorical: index of {word count, words…} in sets_
    };
    static constexpr size_t kAtOnce = 8;
    bool in_set(const Node& node, float x) const;
    template <bool kNumericOnly>
    uint32_t step(uint32_t place, const float* row) const;
    template <bool kNumericOnly>
    void walk(std::array<uint32_t, kAtOnce>& at, uint32_t steps, const float* row) const;

    std::vector<Node> nodes_;
    std::vector<double> values_;  // per node; used at leaves
    std::vector<uint64_t> sets_;
    std::vector<uint32_t> roots_, depths_;  // per tree; depth: the longest path
    std::vector<uint8_t> order_;            // each run's trees by depth: position in the run
};

}  // namespace rampart::model
