#include "rampart/serving/stops.hpp"

#include <gtest/gtest.h>

namespace rampart::serving {
namespace {

using domain::StopKind;

TEST(Stops, HaveNamesForPeople) {
    EXPECT_EQ(name_of(StopKind::kExplorationOff), "exploration");
    EXPECT_EQ(name_of(StopKind::kRulesOnly), "rules-only");
    EXPECT_EQ(name_of(StopKind::kReferAll), "refer-all");
    for (const StopKind kind : domain::kStopKinds) EXPECT_EQ(stop_named(name_of(kind)), kind);
    for (const char* none : {"", "refer", "exploration_off", "Exploration"})
        EXPECT_EQ(stop_named(none), std::nullopt) << none;
}

TEST(Stops, AreTheSameByWhatTheyStop) {
    EXPECT_EQ(Stops{}, Stops{});
    EXPECT_NE(Stops{.exploration = true}, Stops{});
    EXPECT_NE(Stops{.refer = true}, Stops{});
}

}  // namespace
}  // namespace rampart::serving
