#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "join_store.hpp"

namespace rampart::joiner {

/// Calls `visit` with the state of every decision of these stores, ordered by event time of the
/// application, then decision id, as they stood when this was called; with `from` only those of
/// then or later. An error ends it.
base::Status visit_by_time(const std::vector<const JoinStore*>& stores,
                           std::optional<base::TimePoint> from,
                           const std::function<base::Status(const JoinState&)>& visit);

}  // namespace rampart::joiner
