#include "rampart/champion_monitor/monitor_settings.hpp"

namespace rampart::champion_monitor {

MonitorSettings read_monitor_settings(config::Table& root) {
    MonitorSettings settings;
    auto table = root.table("monitor");
    settings.enabled = table.boolean("enabled", settings.enabled);
    settings.every_days =
        static_cast<int>(table.integer("every_days", 1, 3660, settings.every_days));
    settings.rollback = table.choice("action", {"alarm", "rollback"}, "alarm") == "rollback";
    settings.config.delta = table.number("delta", 1e-9, 0.5, settings.config.delta);
    settings.config.margin = table.number("margin", 0, 1e9, settings.config.margin);
    settings.config.min_units = static_cast<unsigned>(
        table.integer("min_units", 1, 1'000'000'000, settings.config.min_units));
    if (table.has("floor")) settings.config.floor = table.number("floor", -1e9, 1e9);
    return settings;
}

}  // namespace rampart::champion_monitor
