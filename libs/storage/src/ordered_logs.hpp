#pragma once

#include <rocksdb/env.h>

#include <memory>

namespace rampart::storage {

/// An Env for one database, over `base`, in which a write-ahead log is synced before the next one
/// comes into being.
///
/// RocksDB leaves that to the flush that follows. A power cut in between could take the end of a
/// log and spare the beginning of the next: writes would be missing from the middle. Where it
/// notices, it will not open the database at all ("SST file is ahead of WALs"), since the manifest
/// may say by then that idle column families need the older log no more.
std::shared_ptr<rocksdb::Env> with_ordered_logs(std::shared_ptr<rocksdb::Env> base);

}  // namespace rampart::storage
