#include "services/rampartd/software.hpp"

#include <fmt/format.h>

#include "rampart/runtime/version.hpp"
#include "source_digest.hpp"  // made by the build

namespace rampart::rampartd {

std::string software() {
    return fmt::format("rampart {}, sources {}", runtime::version(), kSourceDigest);
}

}  // namespace rampart::rampartd
