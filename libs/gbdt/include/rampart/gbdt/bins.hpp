#pragma once

#include <memory>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"

namespace rampart::gbdt {

struct BinnedData;  // of the source

/// The features of a training set as the learner reads them, made once for many fits: a reduction
/// learns from the same rows again and again, each time with labels and weights of its own (which
/// are its Objective's), and making bins costs as much as some tens of trees.
///
/// The quantiles are those by the data set's weights, whatever a fit weighs its rows by. Immutable,
/// safe to use from many threads; copies share what was made. Keeps no reference to the data.
class Bins {
  public:
    /// max_bins: 2 … 255. Errors: no_rows, out_of_range, and what dataset::check_columns says.
    static base::Result<Bins> create(const dataset::Dataset& data, int max_bins,
                                     base::ThreadPool* pool);

    size_t rows() const;
    int max_bins() const;
    /// Error other_bins: they were made of other features, another number of rows or of bins. That
    /// the values are the same is the caller's promise.
    base::Status check(const dataset::Dataset& data, int max_bins) const;

    const BinnedData& binned() const;

  private:
    struct Kept;
    explicit Bins(std::shared_ptr<const Kept> kept) : kept_(std::move(kept)) {}
    std::shared_ptr<const Kept> kept_;
};

}  // namespace rampart::gbdt
