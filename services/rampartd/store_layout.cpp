#include "services/rampartd/store_layout.hpp"

#include <algorithm>

#include "rampart/storage/folder.hpp"
#include "rampart/storage/inspection.hpp"

namespace rampart::rampartd {

std::vector<std::string> entries_of_a_store() {
    return {"registry", "log",   "privacy",      "protected", "partitions",
            "trainer",  "clock", "gate.pub.pem", "jobs"};
}

base::Result<bool> holds_a_store(const std::filesystem::path& folder) {
    return storage::find_databases(folder).map([](const auto& found) { return !found.empty(); });
}

std::vector<std::filesystem::path> databases_of_earlier_layout(const std::filesystem::path& store) {
    std::vector<std::filesystem::path> found;
    for (const char* name : {"joiner", "decisions"}) {
        if (storage::is_database(store / name)) found.push_back(store / name);
    }
    return found;
}

bool is_secret(std::string_view path) {
    return path.starts_with("keys/") ||
           std::find(kSecretFiles.begin(), kSecretFiles.end(), path) != kSecretFiles.end();
}

}  // namespace rampart::rampartd
