#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "rampart/base/histogram.hpp"
#include "rampart/base/result.hpp"

namespace rampart::storage {

/// How an open database does, at this moment.
struct DatabaseFigures {
    std::filesystem::path path;
    uint64_t live_bytes = 0;                // table files in use
    uint64_t pending_compaction_bytes = 0;  // that compaction has to rewrite, roughly
    uint64_t level0_files = 0;              // most of any column family
    bool writes_stopped = false;            // until compaction has caught up: every write waits
    bool writes_delayed = false;            // the same, every write is slowed down
    bool damaged = false;                   // a call has met a damaged block: Database::damage()
    /// Seconds of writes with Sync::kAlways since it was opened.
    std::shared_ptr<const base::Histogram> synced_writes;
};

/// Returns those of all databases that this process has open for writing. Reads no file: some
/// microseconds a database. Thread safe; a database that is being closed waits for it.
std::vector<DatabaseFigures> database_figures();

/// Returns ok where no call has met a damaged block in a database that this process has open for
/// writing and that cannot be made anew (OpenOptions::derived), else the first such error
/// (Database::damage()) of the first of them. Reads no file. Thread safe.
base::Status damage_met();

}  // namespace rampart::storage
