#pragma once

#include <optional>
#include <string>

#include "rampart/champion_monitor/champion_monitor.hpp"

namespace rampart::champion_monitor {

/// What GET /v1/monitor answers: settings, and the look if there is one. Bounds that there are none
/// of are null. `why_not`: why nothing is watched here; empty: it is.
std::string to_json(const MonitorSettings& settings, const std::optional<Look>& look,
                    const std::string& why_not = {});

}  // namespace rampart::champion_monitor
