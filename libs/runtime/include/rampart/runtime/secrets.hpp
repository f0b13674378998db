#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::runtime {

/// Loads 32 random bytes, stored as 64 hex digits and a newline in a file of mode 0600. Fails with
/// not_found "no_secret"; permission_denied if others than the owner may read or write the file
/// (the message gives the remedy); data_loss if it contains anything else.
base::Result<std::string> load_secret(const std::filesystem::path& path);

/// The same, but creates a missing file and its folder, with bytes from the
/// operating system's generator.
base::Result<std::string> load_or_create_secret(const std::filesystem::path& path);

/// Returns a public id of a secret: the first 16 hex digits of a keyed hash of it.
std::string secret_id(std::string_view secret);

/// Makes all that this process creates from now on accessible to its owner only (umask 077).
/// Programs that write into a store call it first.
void make_files_private();

/// Returns what in a store others than its owner can reach and read or write: folders before what
/// is in them, by name, and nothing of a folder that others cannot enter. A file that goes away
/// meanwhile is none.
std::vector<std::filesystem::path> exposed_in(const std::filesystem::path& store);

/// Logs a warning with the remedy if there are such files in a store that was made before.
void warn_of_exposed(const std::filesystem::path& store);

}  // namespace rampart::runtime
