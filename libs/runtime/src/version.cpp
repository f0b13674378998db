#include "rampart/runtime/version.hpp"

namespace rampart::runtime {

std::string_view version() { return RAMPART_VERSION; }

}  // namespace rampart::runtime
