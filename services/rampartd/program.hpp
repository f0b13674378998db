#pragma once

#include <string_view>

namespace rampart::rampartd {

/// Runs a node: the main of a program `NAME [serve] --config FILE.toml`. `roles`: by commas, what
/// it does, whatever the file says; empty: what the file says. Returns the exit code.
int run_program(int argc, char** argv, std::string_view name, std::string_view roles);

}  // namespace rampart::rampartd
