#include "rampart/joiner/unread_decision.hpp"

#include <gtest/gtest.h>

namespace rampart::joiner {
namespace {

TEST(UnreadDecision, IsOneOfTheTopicThatNoOtherRecordMakesKnown) {
    wire::Quarantined one{
        "decisions", streaming::PartitionId(0), streaming::Offset(0), "unknown_schema", "", {}};
    EXPECT_TRUE(is_unread_decision(one, "decisions"));
    EXPECT_FALSE(is_unread_decision(one, "other-decisions"));
    one.reason = "conflicting_decision";
    EXPECT_FALSE(is_unread_decision(one, "decisions"));
}

}  // namespace
}  // namespace rampart::joiner
