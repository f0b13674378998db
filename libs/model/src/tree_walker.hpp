#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "rampart/model/ensemble.hpp"

namespace rampart::model {

/// Trees laid out to be walked: nodes in one array of 16-byte entries, siblings side by side, eight
/// trees at a time so that one's memory access hides behind the others'. Trees of like depth go
/// together, for all eight are walked as deep as the deepest; values are summed in tree order.
class TreeWalker {
  public:
    void add_tree(const Tree& tree);
    /// Call once all trees are there.
    void finish();
    /// sum + all trees' leaf values, added in tree order.
    double add(double sum, const float* row) const;
    /// sums[t]: sum + the first t + 1 trees' leaf values. At most as many as there are trees.
    void add_each(double sum, const float* row, std::span<double> sums) const;

  private:
    static constexpr size_t kRun = 64;  // trees that are sorted by depth among themselves
    using Found = std::array<double, kRun>;
    /// found: leaf values of trees first … first + count - 1.
    void walk_run(size_t first, size_t count, const float* row, Found& found) const;
    struct Node {
        float threshold;  // numeric, and leaves (always left, to themselves)
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
    std::vector<double> values_;  // by node; of leaves
    std::vector<uint64_t> sets_;
    std::vector<uint32_t> roots_, depths_;  // by tree; depth: the longest path
    std::vector<uint8_t> order_;            // of each run's trees, by depth: place in the run
};

}  // namespace rampart::model
