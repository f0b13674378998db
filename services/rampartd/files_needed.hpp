#pragma once

#include <vector>

#include "rampart/runtime/open_files.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::rampartd {

/// Databases of a node with these settings: of each partition that it holds the joined state, of
/// each that it owns the index of decisions, and those that there is one of.
size_t databases_of(const Settings& settings);

/// What a node with these settings may have open at a time, for runtime::reserve_files. A
/// connection that does nothing so never takes a file from a database.
std::vector<runtime::FilesNeeded> files_needed(const Settings& settings);

}  // namespace rampart::rampartd
