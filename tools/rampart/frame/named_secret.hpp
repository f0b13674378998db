#pragma once

#include <filesystem>

#include "rampart/base/result.hpp"

namespace rampart::cli {

/// Returns the file with a secret that an option names: a path or "credential:NAME", as in the
/// configuration (config::secret_file()). Fails as that does.
base::Result<std::filesystem::path> named_secret(const std::filesystem::path& option);

}  // namespace rampart::cli
