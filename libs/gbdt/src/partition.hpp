#pragma once

#include <bitset>
#include <span>
#include <vector>

#include "quantised.hpp"
#include "rampart/base/thread_pool.hpp"

namespace rampart::gbdt {

/// Divides the entries of a leaf, those that go left first, both sides in their old order. Not
/// thread safe.
class Partition {
  public:
    explicit Partition(base::ThreadPool* pool) : pool_(pool) {}

    /// column: [n] bins. Returns how many go left.
    size_t run(std::span<Entry> entries, std::span<const uint8_t> column,
               const std::bitset<256>& left);

  private:
    base::ThreadPool* pool_;
    std::vector<Entry> moved_;
    std::vector<size_t> lefts_;  // of each chunk
};

}  // namespace rampart::gbdt
