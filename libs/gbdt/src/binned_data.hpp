#pragma once

#include <cstdint>
#include <vector>

#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/bin_mapper.hpp"

namespace rampart::gbdt {

/// Bins of a few neighbouring features, row by row: the input of one histogram pass. Small enough
/// that the sums of all its bins stay in the first-level cache.
struct Tile {
    size_t first = 0, features = 0;
    std::vector<uint8_t> bins;  // [n][features]
};

/// The binned training set, stored twice: by column to partition a leaf's rows, by tile
/// to build histograms.
struct BinnedData {
    static constexpr size_t kTileFeatures = 14;

    dataset::BinMapper mapper;
    std::vector<std::vector<uint8_t>> columns;  // [d][n]
    std::vector<Tile> tiles;
    std::vector<size_t> offsets;  // [d + 1] offset of each feature's bins in a histogram

    static base::Result<BinnedData> create(const dataset::Dataset& data, size_t max_bins,
                                           base::ThreadPool* pool);
    size_t histogram_size() const { return offsets.back(); }
    size_t bins_of(size_t feature) const { return offsets[feature + 1] - offsets[feature]; }
};

}  // namespace rampart::gbdt
