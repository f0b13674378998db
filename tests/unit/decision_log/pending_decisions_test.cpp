#include "rampart/decision_log/pending_decisions.hpp"

#include <gtest/gtest.h>

#include "support/decision_log_fixture.hpp"

namespace rampart::decision_log {
namespace {

using streaming::PartitionId;

class PendingDecisionsTest : public support::DecisionTopic {
  protected:
    OwnedPartition open(int32_t number) {
        const PartitionId id(number);
        return {DecisionIndex::open(
                    {folder_ / std::to_string(number), "decisions", id, kPartitions}, log_)
                    .value(),
                1};
    }
    static domain::Decision exploring(int n, int32_t partition) {
        auto one = decision(n, PartitionId(partition));
        one.explored = true;
        one.decided_at = support::day(100);
        return one;
    }
};

TEST_F(PendingDecisionsTest, CountExplorationByPartitionAndDayAndKeepTheirOrder) {
    OwnedPartition zero = open(0), one = open(1);
    PendingDecisions first, second;
    first.add(zero, exploring(0, 0));
    first.add(one, exploring(0, 1));
    second.add(one, exploring(1, 1));
    second.add(one, decision(2, PartitionId(1)));
    EXPECT_EQ(second.explored_on(one, 100), 1u);
    first.add(std::move(second));
    EXPECT_EQ(first.explored_on(zero, 100), 1u);
    EXPECT_EQ(first.explored_on(one, 100), 2u);
    EXPECT_EQ(first.explored_on(one, 101), 0u);
    auto again = exploring(3, 1);
    again.application.person = exploring(1, 1).application.person;
    PendingDecisions repeated;
    repeated.add(one, again);
    repeated.add(one, exploring(1, 1));
    EXPECT_EQ(repeated.explored_on(one, 100), 1u) << "a person counts once";
    ASSERT_EQ(first.entries().size(), 4u);
    EXPECT_EQ(first.entries()[2].first, &one);
    EXPECT_EQ(first.entries()[2].second, exploring(1, 1));
    ASSERT_NE(first.find(exploring(1, 1).id), nullptr);
    EXPECT_EQ(*first.find(exploring(1, 1).id), exploring(1, 1));
    EXPECT_EQ(first.find(domain::DecisionId("unknown")), nullptr);
}

}  // namespace
}  // namespace rampart::decision_log
