#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/statistics.h>
#include <rocksdb/write_buffer_manager.h>

#include <mutex>
#include <vector>

#include "rampart/storage/memory_budget.hpp"

namespace rampart::storage {

/// RocksDB's own WriteBufferManager only counts here. Left to itself it flushes the database that
/// happens to write, never the idle one that holds the memory, and does not wait: six databases of
/// six families took 70 MB of a budget of 16.
struct MemoryBudget::Impl {
    using Families = std::vector<rocksdb::ColumnFamilyHandle*>;

    uint64_t bytes = 0;
    std::shared_ptr<rocksdb::Cache> cache;
    std::shared_ptr<rocksdb::Statistics> statistics;  // counts only: no times, no histograms
    std::shared_ptr<rocksdb::WriteBufferManager> write_buffers;  // charges what it holds to `cache`

    std::mutex mutex;  // a member is flushed under it, so that it cannot leave meanwhile
    std::vector<std::pair<rocksdb::DB*, const Families*>> members;

    void join(rocksdb::DB* db, const Families* families);
    void leave(rocksdb::DB* db);  // in time: before the database is closed

    /// After a write: has the largest write buffer of all members flushed when they hold too much
    /// together, and waits for that when they hold far too much. A failed flush shows in the next
    /// write to that database.
    void relieve();

  private:
    bool flush_largest(bool wait);
};

}  // namespace rampart::storage
