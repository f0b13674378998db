#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/dataset/bin_mapper.hpp"

namespace rampart::gbdt {

/// What a set of rows adds up to: sums of first and second derivatives, and how many rows.
struct Sums {
    double g = 0, h = 0;
    uint32_t rows = 0;

    Sums operator+(const Sums& o) const { return {g + o.g, h + o.h, rows + o.rows}; }
    Sums operator-(const Sums& o) const { return {g - o.g, h - o.h, rows - o.rows}; }
    Sums& operator+=(const Sums& o) { return *this = *this + o; }
};

struct Gradient {
    float g, h;
};

/// The training set in bins: a column of bytes for each feature.
struct BinnedData {
    dataset::BinMapper mapper;
    std::vector<std::vector<uint8_t>> columns;  // [d][n]
    std::vector<size_t> offsets;  // [d + 1] where a feature's bins begin in a histogram

    static base::Result<BinnedData> create(const dataset::Dataset& data, size_t max_bins,
                                           base::ThreadPool* pool);
    size_t histogram_size() const { return offsets.back(); }
};

/// Sums by bin of all features, one after the other; each has bins() + 1 entries, the last for
/// missing.
using Histogram = std::vector<Sums>;

inline std::span<Sums> bins_of(Histogram& histogram, const BinnedData& data, size_t feature) {
    return std::span(histogram).subspan(data.offsets[feature],
                                        data.offsets[feature + 1] - data.offsets[feature]);
}

/// Sums of the rows by the bin that column[row] gives; gradients[i] belongs to rows[i]. Rows are
/// added in the order given, by one thread: so the sums are the same however many threads there
/// are.
void fill_histogram(std::span<const uint8_t> column, std::span<const uint32_t> rows,
                    std::span<const Gradient> gradients, std::span<Sums> bins);

/// parent := parent - child, the histogram of the other child.
void subtract_histogram(std::span<Sums> parent, std::span<const Sums> child);

}  // namespace rampart::gbdt
