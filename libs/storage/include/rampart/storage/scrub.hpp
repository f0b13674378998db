#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "rampart/base/clock.hpp"

namespace rampart::storage {

struct ScrubOptions {
    uint64_t bytes_per_second = 0;  // that are read at most, on average; 0: no bound
    /// Waits for so long, at least; false: the scrub is to stop. Called before each table, with 0
    /// where the rate allows it at once. Null: never waits, never stops.
    std::function<bool(base::Duration)> wait{};
};

/// What a scrub has read, and which files cannot be read, or do not have what was written to them.
struct ScrubReport {
    uint64_t files = 0, bytes = 0;
    std::vector<std::filesystem::path> damaged;
    bool stopped = false;  // before it had read all
};

/// Reads every table of the databases that this process has open for writing, past the cache of
/// the file system where that allows it, and compares each block with its checksum: finds what the
/// disk has lost before it is needed. A damaged database is in its damage() afterwards; one
/// that can be made anew is set aside by its user. Write-ahead logs and manifests are not read.
ScrubReport scrub(const ScrubOptions& options);

}  // namespace rampart::storage
