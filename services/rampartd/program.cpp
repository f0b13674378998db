#include "services/rampartd/program.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <span>

#include "rampart/runtime/exit_code.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::rampartd {
namespace {

/// Writes to stderr, which may be a file on a full disk: what cannot be written changes no exit
/// code. (fmt::print throws there.)
void say(const std::string& text) { std::fputs(text.c_str(), stderr); }

}  // namespace

int run_program(int argc, char** argv, std::string_view name, std::string_view roles) {
    auto arguments = std::span(argv, static_cast<size_t>(argc)).subspan(1);
    if (!arguments.empty() && std::string_view(arguments[0]) == "serve")
        arguments = arguments.subspan(1);
    if (arguments.size() != 2 || std::string_view(arguments[0]) != "--config") {
        constexpr auto kUsage =
            "usage: {} [serve] --config FILE.toml   (every key: ops/config/rampartd.toml)\n";
        say(fmt::format(kUsage, name));
        return static_cast<int>(runtime::ExitCode::kMisuse);
    }
    const auto status = serve(arguments[1], roles);
    if (status) return 0;
    say(fmt::format("{}: {}\n", name, status.error().message));
    return static_cast<int>(runtime::exit_code_of(status.error().code));
}

}  // namespace rampart::rampartd
