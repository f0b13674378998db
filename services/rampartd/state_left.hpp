#pragma once

#include <filesystem>

#include "rampart/base/result.hpp"
#include "services/rampartd/log_settings.hpp"

namespace rampart::rampartd {

/// Refuses a store with databases of partitions that this node does not open, whole, set aside or
/// half deleted or moved: the joined state of one that it does not join, the index of one that it
/// does not decide. No erasure would reach the persons in them. With the embedded log a node opens
/// all. Changes nothing.
///
/// Fails with failed_precondition "state_left", naming the first; unavailable "io_error": what
/// cannot be looked at may have persons, too.
base::Status check_nothing_left(const std::filesystem::path& store, const LogSettings& log);

}  // namespace rampart::rampartd
