#pragma once

#include <rocksdb/env.h>

#include <filesystem>
#include <memory>

namespace rampart::storage {

/// Hands what RocksDB says to the logger of this room, and writes no file: when a file of RocksDB's
/// own has had no room once, the next line makes it abort the process. Its warnings are for
/// debugging: slowed writes, and what comes back as an error anyway.
std::shared_ptr<rocksdb::Logger> rocksdb_log(const std::filesystem::path& path);

}  // namespace rampart::storage
