#include "histogram.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "work.hpp"

namespace rampart::gbdt {
namespace {

// Layout of a word: count in the upper 12 bits, h in the next 26, g (with its bias) in the lower
// 26.
constexpr uint32_t kSumBits = 26;
constexpr uint32_t kCountShift = 2 * kSumBits;
constexpr uint64_t kSumMask = (uint64_t{1} << kSumBits) - 1;
constexpr size_t kBlockRows = (1 << 12) - 1;
static_assert(kBlockRows * kLargestUnit <= kSumMask);

// Not a power of two, which would map the same bin of all features to one set of the cache.
constexpr size_t kStride = 264;

uint64_t word_of(uint32_t q) {
    return uint64_t{1} << kCountShift | static_cast<uint64_t>(q >> kBits) << kSumBits |
           (q & kLargestUnit);
}

template <size_t kFeatures>
void add_rows(const uint8_t* bins, const Entry* entries, size_t n, uint64_t* words) {
    constexpr size_t kAhead = 24;
    const auto add = [&](const Entry& entry) {
        const uint8_t* const row = bins + size_t{entry.row} * kFeatures;
        const uint64_t word = word_of(entry.q);
        for (size_t k = 0; k < kFeatures; ++k) words[k * kStride + row[k]] += word;
    };
    size_t i = 0;
    for (; i + kAhead < n; ++i) {
        __builtin_prefetch(bins + size_t{entries[i + kAhead].row} * kFeatures);
        add(entries[i]);
    }
    for (; i < n; ++i) add(entries[i]);
}

using AddRows = void (*)(const uint8_t*, const Entry*, size_t, uint64_t*);

template <size_t... kFeatures>
constexpr auto all_widths(std::index_sequence<kFeatures...>) {
    return std::array<AddRows, sizeof...(kFeatures)>{add_rows<kFeatures + 1>...};
}
constexpr auto kAddRows = all_widths(std::make_index_sequence<BinnedData::kTileFeatures>());

/// Unpacks the words, adds them to the histogram and sets them to zero.
void flush(uint64_t* words, size_t n, int64_t* g, int64_t* h, uint32_t* rows) {
    for (size_t b = 0; b < n; ++b) {
        const uint64_t word = words[b];
        const uint64_t count = word >> kCountShift;
        g[b] += static_cast<int64_t>(word & kSumMask) - static_cast<int64_t>(count * kBias);
        h[b] += static_cast<int64_t>(word >> kSumBits & kSumMask);
        rows[b] += static_cast<uint32_t>(count);
        words[b] = 0;
    }
}

void add_up(Histogram& to, const Histogram& more, size_t begin, size_t end) {
    for (size_t b = begin; b < end; ++b) to.g[b] += more.g[b];
    for (size_t b = begin; b < end; ++b) to.h[b] += more.h[b];
    for (size_t b = begin; b < end; ++b) to.rows[b] += more.rows[b];
}

void clear(Histogram& histogram) {
    std::fill(histogram.g.begin(), histogram.g.end(), 0);
    std::fill(histogram.h.begin(), histogram.h.end(), 0);
    std::fill(histogram.rows.begin(), histogram.rows.end(), 0);
}

}  // namespace

HistogramFiller::HistogramFiller(const BinnedData& data, base::ThreadPool* pool)
    : data_(data), pool_(pool) {
    const size_t count = pool == nullptr ? 1 : pool->size();
    workers_.reserve(count);
    for (size_t w = 0; w < count; ++w) {
        workers_.emplace_back(w == 0 ? 0 : data.histogram_size());  // the first worker fills the
                                                                    // result directly
        workers_.back().words.assign(kStride * BinnedData::kTileFeatures, 0);
    }
}

void HistogramFiller::add(std::span<const Entry> entries, const Tile& tile,
                          std::vector<uint64_t>& words, Histogram& out) const {
    const AddRows add_to_words = kAddRows[tile.features - 1];
    for (size_t begin = 0; begin < entries.size(); begin += kBlockRows) {
        const size_t count = std::min(kBlockRows, entries.size() - begin);
        add_to_words(tile.bins.data(), entries.data() + begin, count, words.data());
        for (size_t k = 0; k < tile.features; ++k) {
            const size_t offset = data_.offsets[tile.first + k];
            flush(words.data() + k * kStride, data_.bins_of(tile.first + k), out.g.data() + offset,
                  out.h.data() + offset, out.rows.data() + offset);
        }
    }
}

void HistogramFiller::add_parallel(std::span<const Entry> entries, const std::vector<bool>& tiles,
                                   Histogram& out) {
    for (Worker& worker : workers_) worker.used = false;
    run_workers(pool_, chunks_of(entries.size()), [&](size_t w, size_t chunk) {
        Worker& worker = workers_[w];
        if (w != 0 && !worker.used) clear(worker.sums);
        worker.used = true;
        const size_t begin = chunk * kChunkRows;
        const auto rows = entries.subspan(begin, std::min(kChunkRows, entries.size() - begin));
        for (size_t t = 0; t < tiles.size(); ++t) {
            if (tiles[t]) add(rows, data_.tiles[t], worker.words, w == 0 ? out : worker.sums);
        }
    });
    for (size_t w = 1; w < workers_.size(); ++w) {
        if (!workers_[w].used) continue;
        for (size_t t = 0; t < tiles.size(); ++t) {
            const Tile& tile = data_.tiles[t];
            if (!tiles[t]) continue;
            add_up(out, workers_[w].sums, data_.offsets[tile.first],
                   data_.offsets[tile.first + tile.features]);
        }
    }
}

void HistogramFiller::fill(std::span<const Entry> entries, const std::vector<bool>& tiles,
                           Histogram& out) {
    clear(out);
    if (workers_.size() > 1 && entries.size() >= 2 * kChunkRows) {
        add_parallel(entries, tiles, out);
        return;
    }
    for (size_t t = 0; t < tiles.size(); ++t) {
        if (tiles[t]) add(entries, data_.tiles[t], workers_[0].words, out);
    }
}

void subtract(Histogram& from, const Histogram& less) {
    for (size_t b = 0; b < from.g.size(); ++b) from.g[b] -= less.g[b];
    for (size_t b = 0; b < from.h.size(); ++b) from.h[b] -= less.h[b];
    for (size_t b = 0; b < from.rows.size(); ++b) from.rows[b] -= less.rows[b];
}

}  // namespace rampart::gbdt
