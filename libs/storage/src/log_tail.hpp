#pragma once

#include <rocksdb/env.h>

#include <cstdint>
#include <filesystem>

#include "rampart/base/result.hpp"

namespace rampart::storage {

/// The highest sequence number of any write that stands whole in the database's write-ahead logs;
/// 0: none does. Distinguishes a torn last write from damage before other writes, which RocksDB
/// does not: what is recovered up to the damage has to reach it.
///
/// Reads RocksDB's format: blocks of 32 KiB, in them pieces of records, each with a checksum; a
/// record begins with its sequence number and how many changes it has.
///
/// `env` is that of the database: the logs may be encrypted.
base::Result<uint64_t> last_whole_write(const std::filesystem::path& database, rocksdb::Env& env);

}  // namespace rampart::storage
