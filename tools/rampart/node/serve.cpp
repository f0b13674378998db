#include <CLI/CLI.hpp>

#include "frame/commands.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::cli {

void add_serve(Frame& frame) {
    auto config = std::make_shared<std::string>();
    auto& command = frame.add(
        {.name = "serve",
         .summary = "Run the whole loop in one process: decisions, join, training, gate",
         .example = "rampart serve --config ops/config/rampartd.toml",
         .detail =
             "Ends on SIGTERM or Ctrl-C. The address stands in <store>/endpoint, the token for "
             "requests that change state in <store>/keys/token."},
        [config](const Context&) -> base::Result<Answer> {
            RAMPART_RETURN_IF_ERROR(rampartd::serve(*config));
            return Answer{.exit_code = 0, .text = "", .json = "{\"stopped\":true}", .notes = {}};
        });
    command.add_option("--config", *config, "rampartd.toml")->required();
}

}  // namespace rampart::cli
