#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"

/// Looking at databases from outside, whatever is in them, also while another process has them
/// open.
namespace rampart::storage {

struct DatabaseReport {
    uint32_t version = 0;               // version of its data: Schema
    std::vector<std::string> families;  // the rooms' own, by name
    uint64_t keys = 0;                  // roughly
    uint64_t files = 0, bytes = 0;      // number and size of tables
};

/// The databases under `root`, as paths relative to it, in order; "." if it is one itself. Folders
/// whose names begin with a dot, and databases that were set aside, are passed over. not_found
/// "no_folder".
base::Result<std::vector<std::string>> find_databases(const std::filesystem::path& root);

/// Returns what the database is at this moment, after reading every block of every file, and
/// comparing checksums. Errors: those of Database::open for reading; data_loss "corrupt": something
/// is not as it was written.
base::Result<DatabaseReport> verify(const std::filesystem::path& database);

}  // namespace rampart::storage
