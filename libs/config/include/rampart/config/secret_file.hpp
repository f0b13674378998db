#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/config/table.hpp"

namespace rampart::config {

/// Where the files are that settings name.
struct Places {
    std::filesystem::path folder;            // with the configuration: relative paths begin here
    std::filesystem::path credentials = {};  // systemd's $CREDENTIALS_DIRECTORY; empty: none
};

/// Returns the file of a secret that a setting names: a path, or "credential:NAME", which systemd
/// hands to the service (LoadCredential=NAME:FILE, systemd.exec(5)). A file that has such a name is
/// named with "./" before it. "": no file. Errors, with the value and the remedy: not_found
/// "no_credential"; invalid_argument "bad_credential_name".
base::Result<std::filesystem::path> secret_file(std::string_view value, const Places& places);

/// Reads the setting `key`, which may be absent: "". An error is the table's.
std::filesystem::path secret_file(Table& table, std::string_view key, const Places& places);
/// Reads a list of such names; empty after an error.
std::vector<std::filesystem::path> secret_files(Table& table, std::string_view key,
                                                const Places& places);

}  // namespace rampart::config
