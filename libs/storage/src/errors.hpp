#pragma once

#include <rocksdb/status.h>

#include <filesystem>
#include <string_view>

#include "rampart/base/error.hpp"

namespace rampart::storage {

/// The one place where RocksDB's errors become ours. `action`: what could not be done to the
/// database, such as "open".
base::Error map_error(const rocksdb::Status& status, const std::filesystem::path& path,
                      std::string_view action);

}  // namespace rampart::storage
