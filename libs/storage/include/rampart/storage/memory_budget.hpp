#pragma once

#include <cstdint>
#include <memory>

#include "rampart/base/result.hpp"

namespace rampart::storage {

/// Bytes at this moment, and what its databases have counted.
struct MemoryUsage {
    uint64_t used = 0;           // all that counts against the budget, the next line included
    uint64_t write_buffers = 0;  // part of it: written, but not yet in a file
    uint64_t pinned = 0;         // part of it: in use, cannot be given back
    uint64_t limit = 0;          // what the budget was made with
    // Since it was made:
    uint64_t cache_hits = 0, cache_misses = 0;  // blocks found in it, and read from files
    double stall_seconds = 0;                   // for which writes waited for compaction
};

/// One pot of memory for all databases that are opened with it, however many there are: what they
/// hold in write buffers (a quarter at most), cached blocks, indices, filters and open files
/// together.
///
/// When memory is needed, the least recently read blocks are dropped. Not in the budget: fixed
/// amounts for threads, and some 100 kB a database for its log.
///
/// Lifecycle: made once a process, handed to every Database::open as OpenOptions::budget, which
/// shares its ownership. Thread safe.
class MemoryBudget {
  public:
    static constexpr uint64_t kMinBytes = 8u << 20;

    /// invalid_argument "bad_memory_budget": under kMinBytes.
    static base::Result<std::shared_ptr<MemoryBudget>> create(uint64_t bytes);
    ~MemoryBudget();
    MemoryBudget(const MemoryBudget&) = delete;
    MemoryBudget& operator=(const MemoryBudget&) = delete;

    MemoryUsage usage() const;

    struct Impl;
    Impl& impl() { return *impl_; }  // for this library alone

  private:
    explicit MemoryBudget(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::storage
