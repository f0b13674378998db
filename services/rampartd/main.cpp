// rampartd: the whole loop in one process; the same as `rampart serve`.
#include <cstdio>
#include <string_view>

#include "rampart/runtime/exit_code.hpp"
#include "services/rampartd/node.hpp"

using rampart::runtime::ExitCode;

int main(int argc, char** argv) {
    if (argc != 3 || std::string_view(argv[1]) != "--config") {
        std::fprintf(
            stderr, "usage: rampartd --config FILE.toml   (every key: ops/config/rampartd.toml)\n");
        return static_cast<int>(ExitCode::kMisuse);
    }
    const auto status = rampart::rampartd::serve(argv[2]);
    if (status) return 0;
    std::fprintf(stderr, "rampartd: %s\n", status.error().message.c_str());
    return static_cast<int>(rampart::runtime::exit_code_of(status.error().code));
}
