#include "binned_data.hpp"

#include <algorithm>

#include "work.hpp"

namespace rampart::gbdt {
namespace {

/// Makes tiles of equal size if possible: 15 features give 8 and 7, not 14 and 1.
std::vector<Tile> empty_tiles(size_t features, size_t rows) {
    const size_t count = (features + BinnedData::kTileFeatures - 1) / BinnedData::kTileFeatures;
    std::vector<Tile> tiles(count);
    for (size_t t = 0; t < count; ++t) {
        tiles[t].first = t * features / count;
        tiles[t].features = (t + 1) * features / count - tiles[t].first;
        tiles[t].bins.resize(tiles[t].features * rows);
    }
    return tiles;
}

void fill_rows(Tile& tile, const std::vector<std::vector<uint8_t>>& columns, size_t begin,
               size_t end) {
    for (size_t k = 0; k < tile.features; ++k) {
        const uint8_t* const column = columns[tile.first + k].data();
        uint8_t* const out = tile.bins.data() + k;
        for (size_t row = begin; row < end; ++row) out[row * tile.features] = column[row];
    }
}

}  // namespace

base::Result<BinnedData> BinnedData::create(const dataset::Dataset& data, size_t max_bins,
                                            base::ThreadPool* pool) {
    BinnedData binned;
    RAMPART_TRY(binned.mapper, dataset::BinMapper::fit(data, max_bins, pool));
    const size_t features = data.columns.size();
    binned.offsets.push_back(0);
    for (const auto& bins : binned.mapper.features()) {
        binned.offsets.push_back(binned.offsets.back() + bins.bins() + 1);
    }
    binned.columns.resize(features);
    run_tasks(pool, features,
              [&](size_t f) { binned.columns[f] = binned.mapper.bin_column(f, data.columns[f]); });
    binned.tiles = empty_tiles(features, data.rows());
    // few rows at a time, so that a tile's cache lines are still there for its next column
    constexpr size_t kRows = 4096;
    run_tasks(pool, (data.rows() + kRows - 1) / kRows, [&](size_t i) {
        const size_t end = std::min(data.rows(), (i + 1) * kRows);
        for (Tile& tile : binned.tiles) fill_rows(tile, binned.columns, i * kRows, end);
    });
    return binned;
}

}  // namespace rampart::gbdt
