#pragma once

#include <functional>
#include <string>
#include <vector>

#include "services/rampartd/settings.hpp"

namespace rampart::cli {

/// Something that holds in a sound store beyond the checksums of its bytes. A check looks without
/// changing anything, also while a node is at work: for reading only, or at a copy_live.
struct StoreCheck {
    std::string name;
    /// What does not hold, a line each; empty: all does. An error: it could not be looked at.
    std::function<base::Result<std::vector<std::string>>(const rampartd::Settings&)> run;
};

/// All of them, in the order in which `rampart store check` runs them; a further one is a line
/// here.
std::vector<StoreCheck> store_checks();

/// The format version that this release wants of a database, by the last part of its path; nullopt:
/// it knows no such database.
std::optional<uint32_t> known_version(const std::string& database);

}  // namespace rampart::cli
