#include "rampart/champion_monitor/monitor_settings.hpp"

#include <gtest/gtest.h>

namespace rampart::champion_monitor {
namespace {

base::Result<MonitorSettings> settings_of(const std::string& text) {
    RAMPART_TRY(auto root, config::parse("[monitor]\n" + text, "t.toml"));
    auto settings = read_monitor_settings(root);
    RAMPART_RETURN_IF_ERROR(root.finish());
    return settings;
}

TEST(MonitorSettings, AnAlarmRollsBackOnlyWhereThatIsConfigured) {
    EXPECT_TRUE(settings_of("").value().enabled);
    EXPECT_FALSE(settings_of("").value().rollback);
    EXPECT_TRUE(settings_of("action = \"rollback\"").value().rollback);
    EXPECT_FALSE(settings_of("action = \"nothing\""));
}

TEST(MonitorSettings, AFloorIsOptionalAndDaysHaveARange) {
    EXPECT_FALSE(settings_of("").value().config.floor);
    EXPECT_EQ(settings_of("floor = -5.0").value().config.floor, -5);
    EXPECT_FALSE(settings_of("every_days = 0"));
}

}  // namespace
}  // namespace rampart::champion_monitor
