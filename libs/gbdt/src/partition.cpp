#include "partition.hpp"

#include <algorithm>
#include <array>

#include "work.hpp"

namespace rampart::gbdt {
namespace {

/// Moves left rows to the front of their range and the others to `right`; returns the
/// number of left rows.
size_t divide(std::span<Entry> entries, const uint8_t* column,
              const std::array<uint8_t, 256>& goes_left, Entry* right) {
    size_t lefts = 0, rights = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
        // writes both and counts one: cheaper than a mispredicted branch
        const Entry entry = entries[i];
        const size_t is_left = goes_left[column[entry.row]];
        entries[lefts] = entry;
        right[rights] = entry;
        lefts += is_left;
        rights += 1 - is_left;
    }
    return lefts;
}

}  // namespace

size_t Partition::run(std::span<Entry> entries, std::span<const uint8_t> column,
                      const std::bitset<256>& left) {
    std::array<uint8_t, 256> goes_left;
    for (size_t b = 0; b < goes_left.size(); ++b) goes_left[b] = left.test(b);
    moved_.resize(std::max(moved_.size(), entries.size()));
    const size_t chunks = pool_ == nullptr || pool_->size() == 1 || entries.size() < 2 * kChunkRows
                              ? 1
                              : chunks_of(entries.size());
    const size_t step = chunks == 1 ? entries.size() : kChunkRows;
    lefts_.assign(chunks, 0);
    const auto chunk_of = [&](size_t c) {
        return entries.subspan(c * step, std::min(step, entries.size() - c * step));
    };
    run_workers(pool_, chunks, [&](size_t, size_t c) {
        lefts_[c] = divide(chunk_of(c), column.data(), goes_left, moved_.data() + c * step);
    });
    // the left rows of all chunks are made contiguous, then the right rows follow
    size_t to = lefts_[0];
    for (size_t c = 1; c < chunks; ++c) {
        std::copy_n(chunk_of(c).begin(), lefts_[c], entries.begin() + static_cast<long>(to));
        to += lefts_[c];
    }
    const size_t middle = to;
    for (size_t c = 0; c < chunks; ++c) {
        const size_t rights = chunk_of(c).size() - lefts_[c];
        std::copy_n(moved_.begin() + static_cast<long>(c * step), rights,
                    entries.begin() + static_cast<long>(to));
        to += rights;
    }
    return middle;
}

}  // namespace rampart::gbdt
