#pragma once

#include <boost/json.hpp>
#include <filesystem>
#include <functional>
#include <memory>

#include "rampart/base/result.hpp"

namespace CLI {
class App;
}

namespace rampart::rampartd {
class Node;
struct Settings;
}  // namespace rampart::rampartd

/// The store that a configuration names: the node that serves it, or the store itself.
namespace rampart::cli {

/// As typed, of a command that asks or changes a node that is being served.
struct NodeOptions {
    std::filesystem::path config;
    std::string reason = {};
    std::string actor = "operator";  // where the command opens the store itself
};
/// Adds --config, the configuration of the running node.
void add_node_options(CLI::App& command, NodeOptions& options);
/// Adds --config, and --reason for the audit log.
void add_change_options(CLI::App& command, NodeOptions& options);
/// Adds --actor for the audit log, of a command that opens the store itself.
void add_actor_option(CLI::App& command, std::string& actor);

/// Returns a text as it is, "-" for null, and any other value as JSON.
std::string text_of(const boost::json::value& value);

/// Returns a text as a value of a query.
std::string query_value(std::string_view text);

/// GET and POST on the node that serves the store of this configuration, with the token in the file
/// that the environment's RAMPART_TOKEN_FILE names, by default <store>/keys/token.
/// unavailable "not_serving": no `rampart serve` runs on the store; what the node refuses comes
/// back with its own reason and message. tell_node() and send_to_node() follow a request that has
/// become a job to its end, and say on stderr how far it is.
base::Result<boost::json::value> ask_node(const std::filesystem::path& config,
                                          std::string_view target);
/// Gets what goes on at the node, as ask_node(), and passes each part on until `on_bytes` returns
/// false or the node ends it. `last_event`: Last-Event-ID; empty: none. Where nothing comes for 45
/// s: unavailable "timeout".
base::Status follow_node(const std::filesystem::path& config, std::string_view target,
                         const std::string& last_event,
                         const std::function<bool(std::string_view bytes)>& on_bytes);
base::Result<boost::json::value> tell_node(const std::filesystem::path& config,
                                           std::string_view target,
                                           const boost::json::object& body);

/// DELETE on the node, as ask_node().
base::Result<boost::json::value> remove_at_node(const std::filesystem::path& config,
                                                std::string_view target);

/// POST of bytes, as tell_node(). out_of_range "body_too_large": more bytes than a request may
/// have.
base::Result<boost::json::value> send_to_node(const std::filesystem::path& config,
                                              std::string_view target, std::string bytes);

/// not_found "no_store" where the store was never served: a mistyped path must not become a new
/// store.
base::Status check_exists(const rampartd::Settings& settings);
/// invalid_argument "misuse" where there is such a file already: `option` names it.
base::Status check_new(std::string_view option, const std::filesystem::path& file);

/// The node of a store that exists, by its configuration file. What schema file and product declare
/// is compared with what the store is bound to, and not put on record.
base::Result<std::unique_ptr<rampartd::Node>> open_existing(const std::filesystem::path& config);

}  // namespace rampart::cli
