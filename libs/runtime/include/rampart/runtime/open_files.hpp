#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "rampart/base/result.hpp"

namespace rampart::runtime {

/// What a part of the process may have open at a time at most: files and sockets.
struct FilesNeeded {
    std::string what;  // "14 databases"
    uint64_t count = 0;
};

/// RLIMIT_NOFILE. The process may raise `soft` up to `hard` by itself.
struct FileLimits {
    uint64_t soft = 0, hard = 0;
};

/// The soft limit under which all of them fit: the one there is, or a higher one.
/// failed_precondition "too_few_files", naming need, limit and remedy: the hard limit is too low.
base::Result<uint64_t> soft_limit_for(std::span<const FilesNeeded> needs, FileLimits limits);

/// Raises this process's soft limit to what is needed. Errors: those of soft_limit_for; unavailable
/// "no_file_limit".
base::Status reserve_files(std::span<const FilesNeeded> needs);

}  // namespace rampart::runtime
