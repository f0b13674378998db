#pragma once

#include <filesystem>
#include <memory>

#include "services/rampartd/node.hpp"

namespace rampart::cli {

/// not_found "no_store" where the store was never served: a mistyped path must not become a new
/// store.
base::Status check_exists(const rampartd::Settings& settings);

/// The node of a store that exists, by its configuration file.
base::Result<std::unique_ptr<rampartd::Node>> open_existing(const std::filesystem::path& config);

}  // namespace rampart::cli
