#pragma once

#include <rocksdb/db.h>

#include <memory>
#include <span>
#include <vector>

#include "damage_note.hpp"
#include "erased_families.hpp"
#include "rampart/base/histogram.hpp"
#include "rampart/storage/database.hpp"

namespace rampart::storage {

struct Database::Impl {
    std::filesystem::path path;
    std::shared_ptr<rocksdb::Env> environment;
    std::shared_ptr<MemoryBudget> budget;
    std::shared_ptr<DamageNote> damage = std::make_shared<DamageNote>();
    std::unique_ptr<rocksdb::DB> db;  // declared after what has to outlive it
    // By ColumnFamily::index; behind them families of our own and RocksDB's.
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    size_t families = 0;                            // the caller's
    rocksdb::ColumnFamilyHandle* format = nullptr;  // null: open for reading, has none
    uint64_t min_free_bytes = 0;
    bool derived = false;
    ErasedFamilies erased;
    std::shared_ptr<base::Histogram> synced_writes =
        std::make_shared<base::Histogram>(base::latency_bounds());

    ~Impl();
    rocksdb::ColumnFamilyHandle* handle(ColumnFamily family) const;
    /// Once a write-ahead log has failed, RocksDB takes no write until it is opened anew; so a full
    /// disk is seen before it is hit, and the refusal leaves the database in working order.
    base::Status check_room(size_t bytes) const;
    /// RocksDB's error as ours; damage is noted.
    base::Error failed(const rocksdb::Status& status, std::string_view action) const;
    /// Adds the changes; what is returned is to be held until they are written.
    base::Result<ErasedFamilies::Writing> add(rocksdb::WriteBatch& batch,
                                              const WriteBatch& changes);
    base::Status write(rocksdb::WriteBatch& batch, Sync sync);
    base::Status compact(std::span<const FamilyRange> parts);
    base::Result<uint32_t> present_version(const Schema& schema);
};

/// The tables of a database that is open for writing, at one moment.
struct OpenTables {
    std::filesystem::path path;
    std::shared_ptr<rocksdb::Env> environment;
    std::shared_ptr<DamageNote> damage;
    std::vector<std::filesystem::path> files;
};
std::vector<OpenTables> open_tables();

/// Lets database_figures() and open_tables() see a database that is open for writing, until
/// note_closing().
void note_open(const Database::Impl& impl);
void note_closing(const Database::Impl& impl);

}  // namespace rampart::storage
