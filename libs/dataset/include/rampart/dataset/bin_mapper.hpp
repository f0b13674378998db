#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"

namespace rampart::dataset {

/// Maps the values of one feature to bins 0 … bins()-1; missing has the bin after them.
///
/// Numeric: bin b holds cuts[b-1] < x <= cuts[b], the last bin all values above the last cut.
/// Cuts are floats, so that "bin <= b" and "x <= cuts[b]" are equivalent, in training and in
/// serving. Categorical: bin b holds the category codes codes_of_bin[b], the most frequent in bin
/// 0; if there are more categories than bins, the rarest share the last. A code without training
/// rows counts as missing.
struct FeatureBins {
    FeatureKind kind = FeatureKind::kNumeric;
    std::vector<float> cuts;                          // numeric, increasing
    std::vector<std::vector<uint32_t>> codes_of_bin;  // categorical
    std::vector<uint8_t> bin_of_code;  // categorical; missing_bin() for an unseen code

    size_t bins() const {
        return kind == FeatureKind::kNumeric ? cuts.size() + 1 : codes_of_bin.size();
    }
    uint8_t missing_bin() const { return static_cast<uint8_t>(bins()); }
    uint8_t bin_of(float value) const;
};

/// Bins of every feature: weighted quantiles, so that a row of weight 2 counts like two rows. A
/// feature with at most max_bins distinct values has one bin per value. Tables of more than
/// kQuantileRows rows are sampled: one row at a hashed position in each of kQuantileRows stretches.
class BinMapper {
  public:
    static constexpr size_t kQuantileRows = 200'000;

    /// Fits the bins. max_bins: 2 … 255. Fails with out_of_range, or as check_columns does.
    static base::Result<BinMapper> fit(const Dataset& data, size_t max_bins,
                                       base::ThreadPool* pool);

    std::span<const FeatureBins> features() const { return features_; }
    /// Returns the bin of each value of the feature's column, [n].
    std::vector<uint8_t> bin_column(size_t feature, std::span<const float> column) const;

  private:
    std::vector<FeatureBins> features_;
};

}  // namespace rampart::dataset
