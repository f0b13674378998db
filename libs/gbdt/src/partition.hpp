#pragma once

#include <bitset>
#include <span>
#include <vector>

#include "quantised.hpp"
#include "rampart/base/thread_pool.hpp"

namespace rampart::gbdt {

/// Partitions the entries of a leaf, left rows first; the order within each side is
/// kept. Not thread safe.
class Partition {
  public:
    explicit Partition(base::ThreadPool* pool) : pool_(pool) {}

    /// Partitions by a column, [n] bins. Returns the number of left rows.
    size_t run(std::span<Entry> entries, std::span<const uint8_t> column,
               const std::bitset<256>& left);

  private:
    base::ThreadPool* pool_;
    std::vector<Entry> moved_;
    std::vector<size_t> lefts_;  // per chunk
};

}  // namespace rampart::gbdt
