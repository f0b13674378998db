#pragma once

#include "rampart/base/result.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::rampartd {

/// Databases of a node with these settings: of each partition that it holds the joined state, of
/// each that it owns the index of decisions, and those that there is one of.
size_t databases_of(const Settings& settings);

/// Reserves what a node with these settings may have open at a time, so that a connection that does
/// nothing never takes a file from a database. Fails as runtime::reserve_files.
base::Status reserve_files(const Settings& settings);

}  // namespace rampart::rampartd
