#include "existing_store.hpp"

namespace rampart::cli {

base::Status check_exists(const rampartd::Settings& settings) {
    std::error_code failure;
    if (std::filesystem::exists(settings.store / "registry", failure)) return base::ok();
    return base::not_found("no_store", "there is no store at '{}'; 'rampart serve' makes one", settings.store.string());
}

base::Result<std::unique_ptr<rampartd::Node>> open_existing(const std::filesystem::path& config) {
    RAMPART_TRY(auto settings, rampartd::load_settings(config));
    RAMPART_RETURN_IF_ERROR(check_exists(settings));
    return rampartd::Node::open(std::move(settings));
}

}  // namespace rampart::cli
