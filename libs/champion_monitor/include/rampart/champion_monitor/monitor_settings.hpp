#pragma once

#include "rampart/config/table.hpp"
#include "rampart/monitoring/impact_monitor.hpp"

namespace rampart::champion_monitor {

/// Section [monitor] of the configuration.
struct MonitorSettings {
    bool enabled = true;
    int every_days = 7;     // looks on days since 1970 that this divides, at midnight UTC
    bool rollback = false;  // action = "rollback": the champion in alarm is rolled back
    monitoring::MonitorConfig config;
};

/// Reads the section. Errors stick to the table and come out of its finish(). The floor is checked
/// against the product's range where the monitor is opened.
MonitorSettings read_monitor_settings(config::Table& root);

}  // namespace rampart::champion_monitor
