#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "binned_data.hpp"
#include "quantised.hpp"

namespace rampart::gbdt {

/// Gradient sums of a set of rows, in units of a Scale, and the number of rows.
struct IntSums {
    int64_t g = 0, h = 0;
    uint32_t rows = 0;

    IntSums operator+(const IntSums& o) const { return {g + o.g, h + o.h, rows + o.rows}; }
    IntSums operator-(const IntSums& o) const { return {g - o.g, h - o.h, rows - o.rows}; }
    bool operator==(const IntSums&) const = default;
};

/// Sums by bin of all features, one after the other; each has bins() + 1 entries,
/// the last for missing.
struct Histogram {
    explicit Histogram(size_t bins) : g(bins), h(bins), rows(bins) {}
    std::vector<int64_t> g, h;
    std::vector<uint32_t> rows;

    static size_t bytes(size_t bins) { return bins * (2 * sizeof(int64_t) + sizeof(uint32_t)); }
    IntSums at(size_t bin) const { return {g[bin], h[bin], rows[bin]}; }
};

/// Computes the histogram of one leaf at a time:
///   1. a 64-bit word per bin holds count, h and g of up to kBlockRows rows side by side; a row is
///      added to each of a tile's features by one addition;
///   2. after each block the words are unpacked and added to the histogram.
/// Each thread fills its own histogram, and these are added; the sums are integers, so the result
/// does not depend on the number of threads. Not thread safe.
class HistogramFiller {
  public:
    /// Keeps references to both; `pool` may be nullptr.
    HistogramFiller(const BinnedData& data, base::ThreadPool* pool);

    /// Fills the histogram. tiles: which to fill, [data.tiles.size()]; other bins are not changed.
    void fill(std::span<const Entry> entries, const std::vector<bool>& tiles, Histogram& out);

  private:
    struct Worker {
        explicit Worker(size_t bins) : sums(bins) {}
        Histogram sums;
        bool used = false;
        std::vector<uint64_t> words;
    };
    void add(std::span<const Entry> entries, const Tile& tile, std::vector<uint64_t>& words,
             Histogram& out) const;
    void add_parallel(std::span<const Entry> entries, const std::vector<bool>& tiles,
                      Histogram& out);

    const BinnedData& data_;
    base::ThreadPool* pool_;
    std::vector<Worker> workers_;
};

/// Computes from = from - less.
void subtract(Histogram& from, const Histogram& less);

}  // namespace rampart::gbdt
