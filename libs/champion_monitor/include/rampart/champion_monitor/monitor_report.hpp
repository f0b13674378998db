#pragma once

#include <optional>
#include <string>

#include "rampart/champion_monitor/champion_monitor.hpp"

namespace rampart::champion_monitor {

/// Returns the answer to GET /v1/monitor: settings, and the look if there is one. Missing bounds
/// are null. `why_not`: reason why nothing is watched here; empty: it is.
std::string to_json(const MonitorSettings& settings, const std::optional<Look>& look,
                    const std::string& why_not = {});

}  // namespace rampart::champion_monitor
