// rampartd: the whole loop in one process; the same as `rampart serve`.
#include <cstdio>
#include <string_view>

#include "services/rampartd/node.hpp"

int main(int argc, char** argv) {
    if (argc != 3 || std::string_view(argv[1]) != "--config") {
        std::fprintf(
            stderr, "usage: rampartd --config FILE.toml   (every key: ops/config/rampartd.toml)\n");
        return 2;
    }
    const auto status = rampart::rampartd::serve(argv[2]);
    if (status) return 0;
    std::fprintf(stderr, "rampartd: %s\n", status.error().message.c_str());
    return 2;
}
