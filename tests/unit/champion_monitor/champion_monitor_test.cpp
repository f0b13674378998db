#include "rampart/champion_monitor/champion_monitor.hpp"

#include "support/small_node.hpp"

namespace rampart::champion_monitor {
namespace {

using support::day;

class ChampionMonitorTest : public testing::Test {
  protected:
    base::Result<std::unique_ptr<ChampionMonitor>> open() {
        return ChampionMonitor::open(settings,
                                     {node.product, *node.builder, *node.registry, metrics, false});
    }

    support::SmallNode node;
    runtime::Metrics metrics;
    MonitorSettings settings;
};

TEST_F(ChampionMonitorTest, AFloorOutOfTheProductsRangeIsRefused) {
    settings.config.floor = 1000;
    const auto opened = open();
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().message.find("section [monitor]"), std::string::npos)
        << opened.error().message;
}

TEST_F(ChampionMonitorTest, LooksAreDueAtMultiplesOfTheirDays) {
    settings.every_days = 7;
    const auto monitor = open().value();
    EXPECT_EQ(monitor->due(day(0), day(21)), (std::vector{day(7), day(14), day(21)}));
    EXPECT_EQ(monitor->due(day(7), day(13)), std::vector<base::TimePoint>{});
    EXPECT_EQ(monitor->due(day(-8), day(0)), (std::vector{day(-7), day(0)}));
    settings.enabled = false;
    EXPECT_TRUE(open().value()->due(day(0), day(21)).empty());
}

TEST_F(ChampionMonitorTest, ABootstrapPolicyHasNoneBeforeItAndIsNotWatched) {
    node.bootstrap(day(0));
    const auto monitor = open().value();
    EXPECT_FALSE(monitor->last_look());
    const auto look = monitor->look(day(7)).value();
    EXPECT_EQ(look.at, day(7));
    EXPECT_TRUE(look.watches.empty());
    EXPECT_FALSE(look.rolled_back);
    EXPECT_EQ(monitor->last_look()->at, day(7));
    ASSERT_TRUE(monitor->observe(day(14)));
    EXPECT_EQ(monitor->last_look()->at, day(7)) << "to observe is no look";
}

}  // namespace
}  // namespace rampart::champion_monitor
