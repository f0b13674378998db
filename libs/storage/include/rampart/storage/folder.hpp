#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"

/// What lies in a folder, without opening it as a database.
namespace rampart::storage {

/// Whether the folder holds a database.
bool is_database(const std::filesystem::path& folder);

/// The column families of the database in `folder`, as Database::open takes them. not_found
/// "no_database".
base::Result<std::vector<std::string>> families_in(const std::filesystem::path& folder);

}  // namespace rampart::storage
