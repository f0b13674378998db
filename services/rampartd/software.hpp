#pragma once

#include <string>

namespace rampart::rampartd {

/// Returns what made a certificate: "rampart 0.1.0, sources " and the SHA-256 over names and bytes
/// of all files that the programs are built from (tools/cmake/SourceDigest.cmake). The same sources
/// give the same text on every machine; compiler and libraries of the system are not in it.
std::string software();

}  // namespace rampart::rampartd
