#pragma once

#include <span>
#include <string_view>

namespace rampart::rampartd {

/// A file of services/console/bundle, as it is in this program.
struct BundledFile {
    std::string_view name;   // "index.html"
    std::string_view bytes;  // as it is
    std::string_view gzip;   // compressed
};

/// Returns the files of the console by name; the build writes them (tools/cmake/EmbedFiles.cmake).
std::span<const BundledFile> console_bundle();

}  // namespace rampart::rampartd
