// rampartd: the whole loop in one process; the same as `rampart serve`, with the same arguments.
#include <cstdio>
#include <span>
#include <string_view>

#include "rampart/runtime/exit_code.hpp"
#include "services/rampartd/node.hpp"

using rampart::runtime::ExitCode;

int main(int argc, char** argv) {
    auto arguments = std::span(argv, static_cast<size_t>(argc)).subspan(1);
    if (!arguments.empty() && std::string_view(arguments[0]) == "serve")
        arguments = arguments.subspan(1);
    if (arguments.size() != 2 || std::string_view(arguments[0]) != "--config") {
        std::fprintf(stderr,
                     "usage: rampartd [serve] --config FILE.toml   (every key: "
                     "ops/config/rampartd.toml)\n");
        return static_cast<int>(ExitCode::kMisuse);
    }
    const auto status = rampart::rampartd::serve(arguments[1]);
    if (status) return 0;
    std::fprintf(stderr, "rampartd: %s\n", status.error().message.c_str());
    return static_cast<int>(rampart::runtime::exit_code_of(status.error().code));
}
