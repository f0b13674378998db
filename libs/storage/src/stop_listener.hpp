#pragma once

#include <rocksdb/listener.h>

#include <filesystem>
#include <memory>

namespace rampart::storage {

/// Tells all_writable() when the database at `path` stops, and when it is gone.
std::shared_ptr<rocksdb::EventListener> stop_listener(const std::filesystem::path& path);

}  // namespace rampart::storage
