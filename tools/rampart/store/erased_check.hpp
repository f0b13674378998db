#pragma once

#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::cli {

/// Looks in every store for what is left of erased persons: joined states, indices of decisions and
/// their quarantines, the log's decisions and topic of the quarantine, protected attributes, the
/// register, the records of jobs and the person keys. Each finding names the store, the partition
/// and the id or position, and no person. `notes`: what could not be looked at.
///
/// A person may come back and is a new one then: what is sealed with a key that is not destroyed,
/// and is no older than the erasure, stays.
base::Result<std::vector<std::string>> check_erased(const rampartd::Settings& settings,
                                                    std::vector<std::string>& notes);

}  // namespace rampart::cli
