#pragma once

#include <boost/json.hpp>
#include <filesystem>

#include "rampart/base/result.hpp"

/// Commands that ask a node that is being served, instead of opening its store.
namespace rampart::cli {

/// GET and POST on the node that serves the store of this configuration, with the store's token.
/// unavailable "not_serving": no `rampart serve` runs on the store; what the node refuses comes
/// back with its own reason and message.
base::Result<boost::json::value> ask_node(const std::filesystem::path& config,
                                          std::string_view target);
base::Result<boost::json::value> tell_node(const std::filesystem::path& config,
                                           std::string_view target,
                                           const boost::json::object& body);

}  // namespace rampart::cli
