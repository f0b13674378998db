#include "rampart/domain/stopped_period.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rampart::domain {
namespace {

base::TimePoint at(int64_t micros) { return base::TimePoint::from_micros(micros); }

TEST(StoppedPeriod, HoldsItsBeginAndNotItsEnd) {
    const std::vector<StoppedPeriod> periods{{at(10), at(20), StopKind::kRulesOnly, "anna"},
                                             {at(15), at(30), StopKind::kReferAll, "bert"}};
    for (const int64_t in : {10, 15, 19, 20, 29}) EXPECT_TRUE(is_stopped(periods, at(in))) << in;
    for (const int64_t out : {0, 9, 30, 31}) EXPECT_FALSE(is_stopped(periods, at(out))) << out;
    EXPECT_FALSE(is_stopped({}, at(10)));
}

TEST(StoppedPeriod, LastsUntilItsEndIsKnown) {
    StoppedPeriod open{at(10), std::nullopt, StopKind::kExplorationOff, "anna"};
    EXPECT_TRUE(is_stopped({{open}}, at(10)));
    EXPECT_TRUE(is_stopped({{open}}, base::kLastTime));
    EXPECT_FALSE(is_stopped({{open}}, at(9)));
    open.to = at(10);
    EXPECT_FALSE(is_stopped({{open}}, at(10))) << "an empty one";
}

TEST(StoppedPeriod, KindsAreKnownByTheirNames) {
    for (const StopKind kind : kStopKinds) EXPECT_EQ(stop_kind_of(to_string(kind)), kind);
    EXPECT_EQ(stop_kind_of("everything"), std::nullopt);
}

}  // namespace
}  // namespace rampart::domain
