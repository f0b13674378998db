#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"

namespace rampart::base {

/// Reads a file. Errors: not_found, out_of_range (longer than `limit`), "is_folder", unavailable.
Result<std::string> read_file(const std::filesystem::path& path, size_t limit);

/// Replaces the content of `path` atomically: a reader, or a crash at any moment, sees the old
/// content or the new, never a part (temporary file, fsync, rename, fsync of the folder). `mode` is
/// as in open(2), less the umask. Errors name the path; a full disk is resource_exhausted.
Status write_file_atomically(const std::filesystem::path& path, std::string_view content,
                             unsigned mode = 0644);

/// Makes `folder` and everything below it durable (fsync). Does not follow links.
Status sync_tree(const std::filesystem::path& folder);

}  // namespace rampart::base
