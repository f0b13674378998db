#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"

namespace rampart::base {

/// The whole file. Errors: not_found, resource_exhausted (longer than `limit`), unavailable.
Result<std::string> read_file(const std::filesystem::path& path, size_t limit);

/// Writes `path` so that a reader, or a crash at any moment, sees the old content or the new, never
/// a part: temporary file, fsync, rename, fsync of the folder. `mode` as in chmod. Errors name the
/// path; a full disk is resource_exhausted.
Status write_file_atomically(const std::filesystem::path& path, std::string_view content,
                             unsigned mode = 0644);

/// Everything below `folder`, and it, is on the disk when this returns. Follows no links.
Status sync_tree(const std::filesystem::path& folder);

}  // namespace rampart::base
