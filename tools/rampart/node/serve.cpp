#include <CLI/CLI.hpp>

#include "frame/commands.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::cli {

void add_serve(Frame& frame) {
    auto config = std::make_shared<std::string>();
    auto& command = frame.add(
        {.name = "serve",
         .summary = "Run a node: decisions, join of outcomes, training and gate in one process",
         .example = "rampart serve --config ops/config/rampartd.toml",
         .detail = "SIGTERM or Ctrl-C stops it, with exit code 0. The address is in "
                   "<store>/endpoint, the "
                   "token for requests that change state in <store>/keys/token."},
        [config](const Context&) -> base::Result<Answer> {
            RAMPART_RETURN_IF_ERROR(rampartd::serve(*config));
            return Answer{.text = "", .json = "{\"stopped\":true}", .notes = {}};
        });
    command.add_option("--config", *config, "rampartd.toml; every key: ops/config/rampartd.toml")
        ->required();
}

}  // namespace rampart::cli
