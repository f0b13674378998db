#include "rampart/serving/recent_outcomes.hpp"

#include <gtest/gtest.h>

#include "support/loan_makers.hpp"

namespace rampart::serving {
namespace {

domain::Outcome outcome(const std::string& name, double value, uint32_t revision = 0) {
    return support::make_outcome(name, "repaid", revision, value, support::day(1));
}

TEST(RecentOutcomes, KnowsAContradictionOfTheSameRevision) {
    RecentOutcomes recent(10);
    EXPECT_FALSE(recent.add(outcome("1", 1)));
    EXPECT_FALSE(recent.add(outcome("1", 1))) << "a repeat";
    EXPECT_TRUE(recent.add(outcome("1", 0)));
    EXPECT_FALSE(recent.add(outcome("1", 1))) << "the earlier one stays";
    EXPECT_FALSE(recent.add(outcome("1", 0, 1))) << "a correction";
    EXPECT_FALSE(recent.add(outcome("2", 0)));
    recent.clear();
    EXPECT_FALSE(recent.add(outcome("1", 0)));
}

TEST(RecentOutcomes, ForgetsTheOldestBeyondItsLimit) {
    RecentOutcomes recent(2);
    for (const char* name : {"1", "2", "3"}) EXPECT_FALSE(recent.add(outcome(name, 1)));
    EXPECT_TRUE(recent.add(outcome("2", 0)));
    EXPECT_TRUE(recent.add(outcome("3", 0)));
    EXPECT_FALSE(recent.add(outcome("1", 0)));
}

}  // namespace
}  // namespace rampart::serving
