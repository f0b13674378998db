#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "rampart/model/ensemble.hpp"

namespace rampart::model {

/// An ensemble laid out for speed: all nodes in one array of 16-byte entries, siblings side by
/// side, eight trees walked at once so that one's memory access hides behind the others'. Gives
/// exactly what Ensemble::predict_raw gives, to the last bit: leaf values are summed in tree order.
///
/// Immutable, safe to use from many threads, allocates nothing in predict_raw. Keeps no reference
/// to the ensemble it was made of.
class Engine {
  public:
    /// The ensemble has to be valid (model::validate).
    explicit Engine(const Ensemble& ensemble);
    /// row: [d] as validated.
    double predict_raw(std::span<const float> row) const;

  private:
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
    void add_tree(const Tree& tree);

    double base_score_;
    std::vector<Node> nodes_;
    std::vector<double> values_;  // by node; of leaves
    std::vector<uint64_t> sets_;
    std::vector<uint32_t> roots_;
    std::vector<uint32_t> depths_;  // longest path of each tree
};

}  // namespace rampart::model
