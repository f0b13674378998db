#pragma once

#include "rampart/base/new_file.hpp"

namespace rampart::base {

/// Writes a new file under its own name: write_new_file() where it has to.
Status write_under_its_name(const std::filesystem::path& path, std::string_view content,
                            unsigned mode);

}  // namespace rampart::base
