#pragma once

#include <rocksdb/env.h>

#include <cstdint>
#include <filesystem>
#include <optional>

#include "rampart/base/result.hpp"

namespace rampart::storage {

/// What the write-ahead logs of a database hold.
struct LogTail {
    uint64_t last = 0;  // the highest sequence number of any write that stands whole; 0: none does
    bool whole = true;  // false: something in them is damaged, or torn
    /// The first number that is missing between two writes that stand whole, or before the first
    /// one of a log that begins with damage; nullopt: none is, or none that damage has taken.
    std::optional<uint64_t> lost;
};

/// Reads the write-ahead logs of the database. Distinguishes a torn last write from damage before
/// other writes, which RocksDB does not: it takes a damaged length or kind, and a header of zeros,
/// for the end of a log, and goes on with the next one.
///
/// Reads RocksDB's format: blocks of 32 KiB, in them pieces of records, each with a checksum; a
/// record begins with its sequence number and how many changes it has.
///
/// `env` is that of the database: the logs may be encrypted. Logs of a number below `from` are left
/// out: what RocksDB does not need any more may still be there, and be of any content.
base::Result<LogTail> look_at_logs(const std::filesystem::path& database, rocksdb::Env& env,
                                   uint64_t from = 0);

}  // namespace rampart::storage
