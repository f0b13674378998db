#include "rampart/decision_log/owned_partition.hpp"

#include <gtest/gtest.h>

#include "rampart/wire/fence.hpp"
#include "rampart/wire/record_codec.hpp"
#include "support/decision_log_fixture.hpp"

namespace rampart::decision_log {
namespace {

using streaming::PartitionId;

const PartitionId kHere(1);

TEST(ExplorationShare, AddsUpToTheWholeWhateverTheNumberOfPartitions) {
    for (const uint64_t per_day : {0, 1, 7, 1000, 1001}) {
        for (const int32_t n : {1, 3, 4, 1024}) {
            uint64_t sum = 0;
            for (int32_t p = 0; p < n; ++p) {
                const uint64_t share = exploration_share(per_day, PartitionId(p), n);
                EXPECT_LE(share - per_day / static_cast<uint64_t>(n), 1u);
                sum += share;
            }
            EXPECT_EQ(sum, per_day);
        }
    }
    EXPECT_EQ(exploration_share(7, PartitionId(0), 3), 3u);
    EXPECT_EQ(exploration_share(7, PartitionId(1), 3), 2u);
}

class OwnedPartitionTest : public support::DecisionTopic {
  protected:
    OwnedPartition open() {
        return {DecisionIndex::open({folder_ / "decisions", "decisions", kHere, kPartitions}, log_)
                    .value(),
                7};
    }
    void append(int decisions) {
        for (int i = 0; i < decisions; ++i) {
            const auto record = wire::to_record(decision(i, kHere), 0);
            ASSERT_TRUE(log_.append_to("decisions", kHere, {&record, 1}));
        }
    }
};

TEST_F(OwnedPartitionTest, WritesUnderAnEpochAboveTheLastFenceOnly) {
    auto partition = open();
    ASSERT_TRUE(partition.begin(10));
    EXPECT_EQ(partition.epoch(), 0u);
    ASSERT_TRUE(partition.take(3, "a", {}, "decisions", log_));
    EXPECT_EQ(partition.epoch(), 3u);
    EXPECT_EQ(partition.index().fence(), (Fence{3, "a"}));
    EXPECT_EQ(partition.take(3, "a", {}, "decisions", log_).error().reason, "fenced");
    const auto other = wire::fence_record(5, "b", {});
    ASSERT_TRUE(log_.append_to("decisions", kHere, {&other, 1}));
    EXPECT_EQ(partition.take(4, "a", {}, "decisions", log_).error().reason, "fenced");
    EXPECT_EQ(partition.epoch(), 3u);
}

TEST_F(OwnedPartitionTest, WhatWasGivenUpStaysSo) {
    auto partition = open();
    ASSERT_TRUE(partition.begin(10));
    EXPECT_TRUE(partition.give_up("b"));
    EXPECT_FALSE(partition.give_up("c"));
    EXPECT_TRUE(partition.given_up());
    EXPECT_EQ(partition.status().error().reason, "fenced");
    EXPECT_NE(partition.status().error().message.find("'b'"), std::string::npos);
    EXPECT_EQ(partition.catch_up().error().reason, "fenced");
    EXPECT_FALSE(partition.is_behind());
    EXPECT_FALSE(partition.mend(10, [] { return base::ok(); }));
}

TEST_F(OwnedPartitionTest, TriesAgainWhatFailedButNotAGap) {
    {
        auto partition = open();
        ASSERT_TRUE(partition.begin(10));
        partition.fell_behind(base::Error{base::ErrorCode::kUnavailable, "timeout", "no answer"});
        EXPECT_TRUE(partition.is_behind());
        EXPECT_EQ(partition.status().error().reason, "timeout");
        append(3);
        ASSERT_TRUE(partition.catch_up());
        EXPECT_TRUE(partition.status());
    }
    log_.topics["decisions"].identity = "another";
    auto partition = open();
    const auto begun = partition.begin(10);
    ASSERT_FALSE(begun);
    EXPECT_TRUE(is_gap(begun.error()));
    EXPECT_FALSE(partition.is_behind());
}

TEST_F(OwnedPartitionTest, OneThatIsFarBehindAnswersNothingUntilItHasReadTheLog) {
    append(5);
    auto partition = open();
    EXPECT_EQ(partition.begin(2).error().reason, "partition_rebuilding");
    EXPECT_TRUE(partition.is_rebuilding());
    int taken = 0;
    const auto take = [&] {
        ++taken;
        return base::ok();
    };
    EXPECT_TRUE(partition.mend(2, take));
    EXPECT_EQ(taken, 0);
    while (partition.mend(2, take)) continue;
    EXPECT_EQ(taken, 1);
    EXPECT_TRUE(partition.status());
    EXPECT_EQ(partition.index().counts().decisions, 5u);
}

}  // namespace
}  // namespace rampart::decision_log
