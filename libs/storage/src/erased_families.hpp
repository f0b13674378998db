#pragma once

#include <rocksdb/db.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "rampart/storage/write_batch.hpp"

namespace rampart::storage {

/// Knows from which families nothing was erased since they were compacted whole. A mark in the
/// database says so; it goes in the write that erases something, so that no crash leaves a mark
/// that is not true. Thread safe.
class ErasedFamilies {
  public:
    /// To be held while a write is under way; empty: it erases nothing.
    using Writing = std::shared_lock<std::shared_mutex>;

    /// Reads the marks. `handles` are the caller's families; no `format`: nothing gets marked.
    rocksdb::Status load(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* format,
                         const std::vector<rocksdb::ColumnFamilyHandle*>& handles);

    /// Marks all families of a new database, from which nothing was erased.
    void mark_new(rocksdb::WriteBatch& batch);

    /// Takes away the marks of the families that a write is about to erase from, in its batch.
    Writing begin(const std::vector<ColumnFamily>& families, rocksdb::WriteBatch& batch);

    /// Returns what end_compaction() wants, when the writes that were begun before are over;
    /// nullopt: nothing was erased.
    std::optional<uint64_t> begin_compaction(ColumnFamily family);
    /// Marks the family, unless something was erased since begin_compaction().
    rocksdb::Status end_compaction(ColumnFamily family, uint64_t before, rocksdb::DB& db);

  private:
    struct Family {
        std::string mark;  // its key
        bool marked = false;
        uint64_t erasures = 0;
    };
    rocksdb::ColumnFamilyHandle* format_ = nullptr;
    std::vector<Family> families_;
    std::shared_mutex writing_;
    std::mutex mutex_;  // guards families_; locked last
};

}  // namespace rampart::storage
