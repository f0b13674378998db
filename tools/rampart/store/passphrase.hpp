#pragma once

#include <filesystem>
#include <string>

#include "rampart/base/result.hpp"

namespace CLI {
class App;
}

namespace rampart::cli {

/// Reads the passphrase from its file, which is for its owner only, or from the terminal.
base::Result<std::string> read_passphrase(const std::filesystem::path& file, bool twice);

/// Adds --passphrase-file.
void add_passphrase_option(CLI::App& command, std::filesystem::path& file);

}  // namespace rampart::cli
