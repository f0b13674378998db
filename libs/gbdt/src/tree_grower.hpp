#pragma once

#include <memory>
#include <span>
#include <vector>

#include "histogram.hpp"
#include "partition.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/model/ensemble.hpp"
#include "split_finder.hpp"

namespace rampart::gbdt {

struct GrownLeaf {
    int32_t node;
    Bounds bounds;
    std::span<const Entry> entries;
};

struct GrownTree {
    model::Tree tree;               // splits only: values, gains and covers are not set yet
    std::vector<Split> splits;      // per node; unused at leaves
    std::vector<GrownLeaf> leaves;  // valid until the next tree is grown
};

/// Grows one tree at a time, best leaf first:
///   1. all rows in one leaf: computes its histogram and best split;
///   2. the leaf with the largest gain is split and its rows are partitioned, order kept;
///   3. the smaller child's histogram is summed, the larger one's is the parent's minus that;
///   4. both children's best splits; back to 2 until there are enough leaves or nothing to gain.
/// Sums are integers and rows keep their order: the tree does not depend on the number of threads.
/// Histograms take at most kHistogramBytes (or four of them); beyond that the leaf that is least
/// likely to be split next frees its histogram, and its children's are summed from their rows. Not
/// thread safe.
///
/// A split on a monotone feature divides the value range of its leaf at the midpoint of the two
/// sides' values: the lower side stays below it, the upper side above. Every later split keeps to
/// its leaf's range, so the order holds in the whole tree.
class TreeGrower {
  public:
    static constexpr size_t kHistogramBytes = 128u << 20;

    TreeGrower(const BinnedData& data, const LearnerParams& params, base::ThreadPool* pool);

    /// Grows one tree. entries: the training rows, ascending; they are reordered. features: those
    /// to split on, ascending.
    GrownTree grow(std::span<Entry> entries, const Scale& scale,
                   std::span<const uint32_t> features);

  private:
    struct Leaf {
        int32_t node;
        size_t begin, end;  // in entries_
        int depth;
        IntSums sums;
        Bounds bounds = {};
        std::vector<uint32_t> sets = {};  // sets of interactions_ that contain all features above
        size_t feature = 0;
        Split split = {};
        std::unique_ptr<Histogram> histogram = {};
        size_t rows() const { return end - begin; }
    };

    int direction(size_t feature) const;
    bool can_split(const Leaf& leaf) const;
    bool may_use(const Leaf& leaf, size_t feature) const;
    void evaluate(Leaf& leaf);
    void evaluate(Leaf& smaller, Leaf& larger, std::unique_ptr<Histogram> parent);
    void fill(const Leaf& leaf);
    void find_best(Leaf& leaf);
    std::unique_ptr<Histogram> take_histogram();
    void release(Leaf& leaf);
    void split_leaf(size_t index, bool last);
    Leaf child(const Leaf& parent, bool left, size_t middle) const;
    void write_node(const Leaf& leaf);
    IntSums sums_of_root(const Histogram& histogram) const;

    const BinnedData& data_;
    const LearnerParams& params_;
    base::ThreadPool* pool_;
    std::vector<std::vector<uint32_t>> interactions_;  // every feature in at least one, or empty
    HistogramFiller filler_;
    Partition partition_;
    size_t histograms_left_;
    std::vector<std::unique_ptr<Histogram>> free_;

    // state of the current tree
    std::span<Entry> entries_;
    Scale scale_;
    std::span<const uint32_t> features_;
    std::vector<bool> tiles_;
    std::vector<Split> found_;
    std::vector<Leaf> leaves_;
    std::vector<Split> splits_;
    model::Tree tree_;
};

}  // namespace rampart::gbdt
