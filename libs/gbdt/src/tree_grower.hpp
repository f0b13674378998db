#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "histogram.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/model/ensemble.hpp"
#include "split_finder.hpp"

namespace rampart::gbdt {

struct GrownLeaf {
    int32_t node;
    std::span<const uint32_t> rows;
};

struct GrownTree {
    model::Tree tree;               // values times the learning rate; cover not filled in yet
    std::vector<GrownLeaf> leaves;  // valid until the next tree is grown
};

/// Grows one tree at a time, best leaf first:
///   1. all rows in one leaf: its histogram, its best split;
///   2. the leaf with the greatest gain is split and its rows partitioned, order kept;
///   3. the smaller child's histogram is summed up, the larger one's is the parent's minus that;
///   4. both children's best splits; back to 2 until there are enough leaves or nothing to gain.
/// Each feature is worked on by one thread at a time and results are compared in feature order: the
/// tree does not depend on the number of threads. Histograms take at most kHistogramBytes (or four
/// of them); past that the leaf that is least likely to be split next gives its own up, and its
/// children's are summed up from their rows. Not thread safe.
class TreeGrower {
  public:
    static constexpr size_t kHistogramBytes = 128u << 20;

    TreeGrower(const BinnedData& data, const LearnerParams& params, base::ThreadPool* pool);

    /// gradients: [n] by row. rows: those to learn from. features: those to split on, ascending.
    GrownTree grow(std::span<const Gradient> gradients, std::vector<uint32_t> rows,
                   std::span<const uint32_t> features);

  private:
    struct Leaf {
        int32_t node;
        size_t begin, end;  // of rows_
        int depth;
        Sums sums;
        size_t feature = 0;
        Split split = {};
        std::unique_ptr<Histogram> histogram = {};
        size_t rows() const { return end - begin; }
    };

    bool can_split(const Leaf& leaf) const;
    void study(Leaf& leaf);
    void study(Leaf& smaller, Leaf& larger, std::unique_ptr<Histogram> parent);
    void run_features(size_t rows, const std::function<void(size_t)>& task);
    void gather(const Leaf& leaf);
    void fill(const Leaf& leaf, size_t feature);
    void keep_best(Leaf& leaf, std::vector<Split>& found);
    std::unique_ptr<Histogram> take_histogram();
    void release(Leaf& leaf);
    void split_leaf(size_t index, bool last);
    size_t partition(const Leaf& leaf);
    void write_node(const Leaf& leaf);

    const BinnedData& data_;
    const LearnerParams& params_;
    base::ThreadPool* pool_;
    size_t histograms_left_;
    std::vector<std::unique_ptr<Histogram>> free_;

    // of the tree under way
    std::span<const Gradient> gradients_;
    std::span<const uint32_t> features_;
    std::vector<uint32_t> rows_, moved_;
    std::vector<Gradient> gathered_;
    std::vector<Split> found_small_, found_large_;
    std::vector<Leaf> leaves_;
    model::Tree tree_;
};

}  // namespace rampart::gbdt
