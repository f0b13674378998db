#include "frame/named_secret.hpp"

#include "services/decision_service/settings.hpp"

namespace rampart::cli {

base::Result<std::filesystem::path> named_secret(const std::filesystem::path& option) {
    return config::secret_file(option.string(), decision_service::places_of({}));
}

}  // namespace rampart::cli
