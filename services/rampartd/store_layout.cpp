#include "services/rampartd/store_layout.hpp"

#include "rampart/storage/folder.hpp"

namespace rampart::rampartd {

std::vector<std::filesystem::path> databases_of_earlier_layout(const std::filesystem::path& store) {
    std::vector<std::filesystem::path> found;
    for (const char* name : {"joiner", "decisions"}) {
        if (storage::is_database(store / name)) found.push_back(store / name);
    }
    return found;
}

}  // namespace rampart::rampartd
