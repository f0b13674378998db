#pragma once

#include <filesystem>
#include <string_view>

#include "rampart/base/result.hpp"

namespace rampart::base {

/// Writes a file that is not there yet, durably. It has no name until it is whole: a process that
/// ends meanwhile leaves nothing. Where the file system has no files without a name (NFS), it is
/// written under its own: such a process then leaves a part of it. Errors: those of
/// write_file_atomically(); a file that is there, also one that comes meanwhile, stays as it is.
Status write_new_file(const std::filesystem::path& path, std::string_view content, unsigned mode);

}  // namespace rampart::base
