#include "frame/existing_store.hpp"

#include "rampart/storage/folder.hpp"

namespace rampart::cli {

base::Status check_exists(const rampartd::Settings& settings) {
    if (storage::is_database(settings.store / "registry" / "registry")) return base::ok();
    return base::not_found("no_store", "there is no store at '{}'; 'rampart serve' makes one",
                           settings.store.string());
}

base::Result<std::unique_ptr<rampartd::Node>> open_existing(const std::filesystem::path& config) {
    RAMPART_TRY(auto settings, rampartd::load_settings(config));
    RAMPART_RETURN_IF_ERROR(check_exists(settings));
    return rampartd::Node::open(std::move(settings));
}

}  // namespace rampart::cli
