#pragma once

#include <rocksdb/options.h>

#include <string>
#include <unordered_map>

#include "rampart/storage/database.hpp"

namespace rampart::storage {

/// RocksDB's options for a database: what we ask for beyond its defaults, and why, stands at each.
rocksdb::Options database_options(const OpenOptions& options);

/// An option of a column family and the value that it has already, for DB::SetOptions.
std::unordered_map<std::string, std::string> unchanged_option();

}  // namespace rampart::storage
