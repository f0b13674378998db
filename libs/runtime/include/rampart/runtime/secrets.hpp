#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"

namespace rampart::runtime {

/// 32 random bytes, kept as 64 hex digits and a newline in a file of mode 0600. Errors: not_found
/// "no_secret"; permission_denied when others than the owner may read or write the file (the
/// message says how to mend it); data_loss when it holds anything else.
base::Result<std::string> load_secret(const std::filesystem::path& path);

/// The same, but a file that is not there is made, with its folder, from the operating system's
/// generator.
base::Result<std::string> load_or_create_secret(const std::filesystem::path& path);

/// Names a secret in records without giving it away: the first 16 hex digits of a keyed hash of it.
std::string secret_id(std::string_view secret);

}  // namespace rampart::runtime
