#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/model/ensemble.hpp"
#include "rampart/model/instruction_set.hpp"

namespace rampart::model {

/// n encoded rows of d features (dataset::FeatureSchema), seen where they lie. Keeps references:
/// what it was made of has to outlive it.
class TableView {
  public:
    /// values: [n x d], row after row.
    static TableView row_major(std::span<const float> values, size_t features);
    /// columns: [d][n], all of one length.
    static TableView column_major(const std::vector<std::vector<float>>& columns);
    static TableView of(const dataset::Dataset& data) { return column_major(data.columns); }

    size_t rows() const { return rows_; }
    size_t features() const { return features_; }
    /// out[i] = value of feature in row first + i.
    void copy(size_t feature, size_t first, std::span<float> out) const;

  private:
    size_t rows_ = 0, features_ = 0;
    std::span<const float> values_;                             // row-major
    const std::vector<std::vector<float>>* columns_ = nullptr;  // column-major
};

/// An ensemble laid out to score many rows: exactly what Ensemble::predict_raw gives, to the last
/// bit, several times faster than row after row.
///
/// Vocabulary: a block is 64 rows. A column is a byte for each row of a block: how many of at most
/// 254 cuts of one feature lie below its value, so that "x <= cut i" is "byte <= i"; missing is 0
/// or 255, as the nodes that read the column want it. The cuts are the ensemble's own thresholds.
///
///  1. Make the columns of a block: cut points are counted, not searched.
///  2. Node after node, children first: result = column <= cut ? left's result : right's result,
///     for 64 rows at once; a leaf's result is its own number. No branch, no gather. Several trees
///     at a time, so that no node waits for the one before it. What a categorical node reads is a
///     column of its own, made by looking codes up in the set's bits.
///  3. What the root has is each row's leaf. Its value is added to the row's sum, in tree order.
///
/// After J. Ye et al., "RapidScorer" (KDD 2018), which also compares bytes of many rows at once; it
/// clears bits of leaves where this selects leaf numbers.
///
/// Immutable, safe to use from many threads. Keeps no reference to the ensemble it was made of.
class BatchEngine {
  public:
    /// The ensemble has to be valid (model::validate) and the instruction set supported.
    explicit BatchEngine(const Ensemble& ensemble, InstructionSet set = fastest_supported());

    size_t trees() const;
    /// Features that the ensemble reads: 1 + the highest. A table needs at least so many.
    size_t features() const;

    /// out: [n] raw scores. With a pool, blocks are shared out; the result is the same.
    void predict_raw(const TableView& table, std::span<double> out,
                     base::ThreadPool* pool = nullptr) const;

    /// out[i]: the score of row i after its first trees_used[i] trees (all, if there are fewer).
    /// For the randomized classifier, which decides by an iterate drawn for each row.
    void predict_prefix(const TableView& table, std::span<const uint32_t> trees_used,
                        std::span<double> out, base::ThreadPool* pool = nullptr) const;

    /// Scores after `every`, 2 · every, … and after all trees. out: [steps(every) x n], step after
    /// step. every: from 1 on.
    size_t steps(size_t every) const;  // ceil(trees / every); 0 without trees
    void predict_every(const TableView& table, size_t every, std::span<double> out,
                       base::ThreadPool* pool = nullptr) const;

    struct Layout;  // of the source

  private:
    std::shared_ptr<const Layout> layout_;
};

}  // namespace rampart::model
