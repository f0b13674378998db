#pragma once

#include <rocksdb/db.h>

#include "rampart/storage/database.hpp"

namespace rampart::storage {

/// The column family where a database keeps its version and how far a migration has come.
inline constexpr const char* kFormatFamily = "format";

/// invalid_argument "bad_migrations": not consecutive, or not ending at the version.
base::Status check_migrations(const Schema& schema);

/// The version that is stored; nullopt: none is.
base::Result<std::optional<uint32_t>> stored_version(rocksdb::DB& db,
                                                     rocksdb::ColumnFamilyHandle* format,
                                                     const std::filesystem::path& path);

/// failed_precondition "newer_version", "older_version": it cannot be brought to `schema`.
/// `present`: what it says; `whole`: the version of which it has all, which is one less while a
/// migration is under way.
base::Status check_version(uint32_t present, uint32_t whole, const Schema& schema, bool read_only,
                           const std::filesystem::path& path);

}  // namespace rampart::storage
