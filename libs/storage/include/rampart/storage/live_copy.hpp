#pragma once

#include <filesystem>

#include "rampart/base/result.hpp"

namespace rampart::storage {

/// Makes `target` a copy of a database that another process may be writing to at the same time: as
/// it stood at some moment during the call, with all that had been written by its beginning. Table
/// files are hard links, the rest is copied; the writer is not disturbed, and not asked.
///
/// How: tables never change, logs only grow, and whenever a file becomes superfluous the manifest
/// changes first. So what was linked and copied between two looks at the same manifest is whole; if
/// it has changed, all begins anew. Not synced to the disk.
///
/// Errors: those of Database::open for reading; already_exists "copy_exists"; failed_precondition
/// "other_file_system" (links are not possible); unavailable "database_too_busy": the manifest
/// changed at every attempt, try again.
base::Status copy_live(const std::filesystem::path& database, const std::filesystem::path& target);

}  // namespace rampart::storage
