#pragma once

#include <string>

#include "rampart/certification/certificate_file.hpp"

namespace rampart::cli {

/// A certificate that has been verified, as one page of HTML without scripts or links: for people
/// who have to understand and to file it. `key_id`: of the key that its signature was checked with.
std::string certificate_page(const certification::Certificate& certificate,
                             const std::string& key_id);

}  // namespace rampart::cli
