#include "services/rampartd/node_clock.hpp"

#include <gtest/gtest.h>

#include "rampart/base/digest.hpp"
#include "support/set_clock.hpp"

namespace rampart::rampartd {
namespace {

using base::Duration;
using base::TimePoint;

const TimePoint kReached = base::parse_iso8601("2005-04-01").value();

TEST(NodeClock, EventTimeGoesOnWhereItStoodAndIsNeverInDoubt) {
    runtime::Metrics metrics;
    const auto fresh = NodeClock::open({true, {}}, {}, {}, metrics).value();
    EXPECT_EQ(fresh->now(), TimePoint());
    const auto clock = NodeClock::open({true, {}}, {}, kReached, metrics).value();
    EXPECT_TRUE(clock->is_event_time());
    EXPECT_EQ(clock->now(), kReached);
    clock->advance_to(kReached + Duration::days(1));
    EXPECT_EQ(clock->now(), kReached + Duration::days(1));
    EXPECT_TRUE(clock->check());
    EXPECT_TRUE(clock->beat());
    EXPECT_FALSE(clock->time_unknown());
    EXPECT_EQ(clock->guard(), nullptr);
}

TEST(NodeClock, TheWallClockIsGuardedAndItsDoubtCounted) {
    const auto file = std::filesystem::path(testing::TempDir()) /
                      ("node_clock" + base::to_hex(base::random_bytes(8)));
    support::Host host;
    runtime::Metrics metrics;
    const auto clock =
        NodeClock::open({false, file}, {&host.wall, &host.boot}, kReached, metrics).value();
    EXPECT_FALSE(clock->is_event_time());
    EXPECT_TRUE(clock->check());
    clock->advance_to(kReached + Duration::days(400));
    EXPECT_EQ(clock->now(), host.wall.now()) << "by the wall clock, nothing moves it";
    ASSERT_TRUE(clock->beat());
    EXPECT_TRUE(std::filesystem::exists(file));
    host.wall.move(Duration::days(2));
    EXPECT_EQ(clock->check().error().reason, "clock_jump");
    EXPECT_NE(metrics.prometheus_text().find("rampart_clock_in_doubt 1"), std::string::npos);
    std::filesystem::remove(file);
}

}  // namespace
}  // namespace rampart::rampartd
