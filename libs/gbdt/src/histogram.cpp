#include "histogram.hpp"

#include <algorithm>

namespace rampart::gbdt {

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
    const auto bin_one = [&](size_t f) {
        binned.columns[f] = binned.mapper.bin_column(f, data.columns[f]);
    };
    if (pool != nullptr) {
        pool->run(features, bin_one);
    } else {
        for (size_t f = 0; f < features; ++f) bin_one(f);
    }
    return binned;
}

void fill_histogram(std::span<const uint8_t> column, std::span<const uint32_t> rows,
                    std::span<const Gradient> gradients, std::span<Sums> bins) {
    std::fill(bins.begin(), bins.end(), Sums{});
    for (size_t i = 0; i < rows.size(); ++i) {
        Sums& bin = bins[column[rows[i]]];
        bin.g += gradients[i].g;
        bin.h += gradients[i].h;
        ++bin.rows;
    }
}

void subtract_histogram(std::span<Sums> parent, std::span<const Sums> child) {
    for (size_t b = 0; b < parent.size(); ++b) parent[b] = parent[b] - child[b];
}

}  // namespace rampart::gbdt
