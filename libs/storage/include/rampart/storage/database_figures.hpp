#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "rampart/base/histogram.hpp"

namespace rampart::storage {

/// How an open database does, at this moment.
struct DatabaseFigures {
    std::filesystem::path path;
    uint64_t live_bytes = 0;                // table files in use
    uint64_t pending_compaction_bytes = 0;  // that compaction has to rewrite, roughly
    uint64_t level0_files = 0;              // most of any column family
    bool writes_stopped = false;            // until compaction has caught up: every write waits
    bool writes_delayed = false;            // the same, every write is slowed down
    /// Seconds of writes with Sync::kAlways since it was opened.
    std::shared_ptr<const base::Histogram> synced_writes;
};

/// Returns those of all databases that this process has open for writing. Reads no file: some
/// microseconds a database. Thread safe; a database that is being closed waits for it.
std::vector<DatabaseFigures> database_figures();

}  // namespace rampart::storage
