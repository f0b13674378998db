#pragma once

#include <string_view>

namespace rampart::runtime {

/// Returns the version of the project, "0.1.0", as CMake's project() declares it.
std::string_view version();

}  // namespace rampart::runtime
