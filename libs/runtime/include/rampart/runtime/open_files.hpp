#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "rampart/base/result.hpp"

namespace rampart::runtime {

/// Largest number of files and sockets that a part of the process may have open.
struct FilesNeeded {
    std::string what;  // "14 databases"
    uint64_t count = 0;
};

/// RLIMIT_NOFILE. The process may raise `soft` up to `hard`.
struct FileLimits {
    uint64_t soft = 0, hard = 0;
};

/// Reads those of this process. unavailable "no_file_limit".
base::Result<FileLimits> file_limits();

/// Returns a sufficient soft limit: the present one or higher. Fails with failed_precondition
/// "too_few_files", naming need, limit and remedy, if the hard limit is too low.
base::Result<uint64_t> soft_limit_for(std::span<const FilesNeeded> needs, FileLimits limits);

/// Raises this process's soft limit as needed. Fails as soft_limit_for;
/// unavailable "no_file_limit".
base::Status reserve_files(std::span<const FilesNeeded> needs);

}  // namespace rampart::runtime
