#pragma once

#include <memory>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"

namespace rampart::gbdt {

struct BinnedData;  // defined in bins.cpp

/// Binned features of a training set, computed once for many fits: a reduction fits the same rows
/// again and again, each time with other labels and weights (which belong to its Objective), and
/// binning costs as much as some tens of trees.
///
/// Quantiles use the data set's weights, whatever weights a fit uses. Immutable, safe to use from
/// many threads; copies share the data. Keeps no reference to the source.
class Bins {
  public:
    /// Bins the data. max_bins: 2 … 255. Fails with no_rows, out_of_range, or as check_columns.
    static base::Result<Bins> create(const dataset::Dataset& data, int max_bins,
                                     base::ThreadPool* pool);

    /// Fails with other_bins if features, number of rows or number of bins differ. That the values
    /// are the same is not checked: the caller must ensure it.
    base::Status check(const dataset::Dataset& data, int max_bins) const;

    const BinnedData& binned() const;

  private:
    struct Kept;
    explicit Bins(std::shared_ptr<const Kept> kept) : kept_(std::move(kept)) {}
    std::shared_ptr<const Kept> kept_;
};

}  // namespace rampart::gbdt
