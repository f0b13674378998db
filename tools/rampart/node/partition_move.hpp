#pragma once

#include <cstdint>
#include <filesystem>

#include "rampart/base/result.hpp"

namespace rampart::cli {

struct MovedPartition {
    std::filesystem::path from, to;
    uint64_t bytes = 0;
};

/// Copies the databases of a partition from one store to another by checkpoint, and takes them away
/// where they were; each step leaves either store whole, so that it may be run again after a crash.
/// Neither node may be running on its partition: failed_precondition "database_in_use". not_found
/// "no_partition"; already_exists "partition_there".
base::Result<MovedPartition> move_partition(const std::filesystem::path& from_config,
                                            const std::filesystem::path& to_config,
                                            int32_t partition);

}  // namespace rampart::cli
