// serve: runs a node; clock accept: accepts its wall clock after a jump.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::cli {

void add_serve(Frame& frame) {
    auto config = std::make_shared<std::string>(), roles = std::make_shared<std::string>();
    auto& command = frame.add(
        {.name = "serve",
         .summary = "Run a node: decisions, joining of outcomes, training and gate in one process, "
                    "or some of it",
         .example = "rampart serve --config ops/config/rampartd.toml",
         .detail = "SIGTERM or Ctrl-C stops it, with exit code 0. The address is in "
                   "<store>/endpoint. The first start writes a token to <store>/keys/token that "
                   "can make tokens for one day; so can `rampart token create` on this machine. "
                   "On a shared log nodes may divide the work by --roles, which has priority over "
                   "`roles` of the file (ops/runbooks/roles.md)."},
        [config, roles](const Context&) -> base::Result<Answer> {
            RAMPART_RETURN_IF_ERROR(rampartd::serve(*config, *roles));
            return Answer{.text = "", .json = "{\"stopped\":true}", .notes = {}};
        });
    command.add_option("--config", *config, "rampartd.toml; every key: ops/config/rampartd.toml")
        ->required();
    command
        .add_option("--roles", *roles,
                    "what this node does, by commas: decide, join, train, monitor; default: all")
        ->check([](const std::string& text) {
            const auto parsed = rampartd::parse_roles(text);
            return parsed ? std::string() : parsed.error().message;
        });
}

namespace {

namespace json = boost::json;
using base::Result;

Result<Answer> accept(const NodeOptions& options) {
    const auto document =
        tell_node(options.config, "/v1/clock/accept", {{"reason", options.reason}});
    Answer answer;
    if (!document && document.error().is(rampartd::Reason::kNoJump)) {
        answer.exit_code = ExitCode::kNo;
        answer.text = fmt::format("nothing to accept: {}\n", document.error().message);
        answer.json = json::serialize(json::object{{"accepted", nullptr}});
        return answer;
    }
    if (!document) return document.error();
    const auto text = [&](const char* name) { return std::string(document->at(name).as_string()); };
    answer.text = fmt::format("accepted: {}\nfound before: {}\n", text("accepted"), text("found"));
    answer.json = json::serialize(*document);
    return answer;
}

}  // namespace

void add_clock_accept(Frame& frame) {
    auto options = std::make_shared<NodeOptions>();
    auto& command = frame.add(
        {.name = "clock accept",
         .summary = "Accept the wall clock after the node detected a jump",
         .example = "rampart clock accept --config rampartd.toml --reason 'down for the move'",
         .detail = "Correct the host's clock first: outcomes that mature and models that are "
                   "trained at a wrong time stay as they are. The node continues within a second. "
                   "Exit code 1: there was no jump to accept."},
        [options](const Context&) { return accept(*options); });
    add_change_options(command, *options);
}

}  // namespace rampart::cli
