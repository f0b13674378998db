#include "rampart/config/secret_file.hpp"

#include <algorithm>

#include "rampart/config/reasons.hpp"

namespace rampart::config {
namespace {

namespace fs = std::filesystem;
using base::Result;

constexpr std::string_view kPrefix = "credential:";
constexpr size_t kMostNameBytes = 255;

/// Says whether systemd takes a name for a credential; so it cannot leave the folder.
bool is_name(std::string_view name) {
    const auto fits = [](char c) { return c > ' ' && c < 0x7f && c != '/' && c != ':'; };
    return !name.empty() && name.size() <= kMostNameBytes && name != "." && name != ".." &&
           std::all_of(name.begin(), name.end(), fits);
}

Result<fs::path> credential(std::string_view name, const fs::path& folder) {
    if (!is_name(name)) {
        return base::make_error(Reason::kBadCredentialName,
                                "'{}{}': the name of a credential has 1 to {} printable ASCII "
                                "characters without blank, '/' and ':'",
                                kPrefix, name, kMostNameBytes);
    }
    if (!folder.is_absolute()) {
        return base::make_error(Reason::kNoCredential,
                                "'{}{}': CREDENTIALS_DIRECTORY is {}, so systemd has handed no "
                                "credentials to this process; add LoadCredential={}:FILE to its "
                                "unit, or name the file here",
                                kPrefix, name, folder.empty() ? "not set" : "no absolute path",
                                name);
    }
    auto file = folder / name;
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored)) return file;
    return base::make_error(Reason::kNoCredential,
                            "'{}{}': there is no file {}; add LoadCredential={}:FILE to the unit "
                            "of this process and start it again",
                            kPrefix, name, file.string(), name);
}

}  // namespace

Result<fs::path> secret_file(std::string_view value, const Places& places) {
    if (value.starts_with(kPrefix))
        return credential(value.substr(kPrefix.size()), places.credentials);
    return value.empty() ? fs::path() : places.folder / value;
}

fs::path secret_file(Table& table, std::string_view key, const Places& places) {
    auto file = secret_file(table.string(key, ""), places);
    if (file) return *std::move(file);
    table.fail(key, file.error().message);
    return {};
}

std::vector<fs::path> secret_files(Table& table, std::string_view key, const Places& places) {
    std::vector<fs::path> files;
    for (const auto& value : table.strings(key)) {
        auto file = secret_file(value, places);
        if (!file) {
            table.fail(key, file.error().message);
            return {};
        }
        files.push_back(*std::move(file));
    }
    return files;
}

}  // namespace rampart::config
