#include "rampart/attribution/probability.hpp"

#include "made_up.hpp"

namespace rampart::attribution {
namespace {

using testing::group_for;
using testing::kParts;
using testing::MadeUp;
using testing::Part;

TEST(Probability, IsThatOfTheWholePolicyWithGroupAndExplorationKept) {
    size_t other_group = 0, other_exploration = 0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
        MadeUp made(seed, 6);
        const auto policy = made.policy(4, Part::kGroups);
        const auto row = made.row();
        for (const bool explores : {true, false}) {
            const auto output = policy.evaluate(row, 1);
            const double p = served_probability(policy, 1, explores)(row);
            EXPECT_EQ(p, explores ? output.approve : output.exploit);
            other_group += p != served_probability(policy, 0, explores)(row);
            other_exploration += p != served_probability(policy, 1, !explores)(row);
        }
    }
    EXPECT_GT(other_group, 10u);
    EXPECT_GT(other_exploration, 10u);
}

TEST(Probability, OfManyRowsIsThatOfEachToTheBit) {
    size_t moved = 0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
        MadeUp made(seed, 6);
        const auto policy = made.policy(1 + seed % 4, kParts[seed % std::size(kParts)]);
        const model::BatchPolicy batch(policy);
        const auto rows = made.rows(100);
        const size_t width = policy.schema().size();
        for (const bool explores : {true, false}) {
            const auto one = served_probability(policy, group_for(policy), explores);
            const auto many = served_probability({policy, &batch}, group_for(policy), explores);
            const auto by_one = one.of(rows, width), by_many = many.of(rows, width);
            ASSERT_EQ(by_one.size(), 100u);
            EXPECT_EQ(by_one, by_many) << "seed " << seed;
            for (size_t i = 0; i < by_one.size(); ++i) {
                EXPECT_EQ(by_one[i], one(std::span(rows).subspan(i * width, width)));
                moved += i > 0 && by_one[i] != by_one[i - 1];
            }
        }
    }
    EXPECT_GT(moved, 1000u);
}

TEST(Probability, OfADecisionIsTheOneThatItRecords) {
    size_t both_differ = 0;
    for (int i = 0; i < 1500; ++i) {
        MadeUp made(static_cast<uint64_t>(i), 6);
        const auto policy = made.policy(3, Part::kGroups);
        const auto row = made.row(), other = made.row();
        const auto output = policy.evaluate(row, 1), expected = policy.evaluate(other, 1);
        domain::Decision decision;
        decision.exploration_spent = i % 2 == 1;
        decision.p_approve = decision.exploration_spent ? output.exploit : output.approve;
        const auto p = probability_of(decision, policy, row, 1);
        ASSERT_TRUE(p) << p.error().message;
        EXPECT_EQ((*p)(row), decision.p_approve);
        if (output.exploit != output.approve) {
            both_differ += expected.exploit != expected.approve;
            EXPECT_EQ((*p)(other),
                      decision.exploration_spent ? expected.exploit : expected.approve);
        }
        decision.p_approve = 1.5;
        EXPECT_EQ(probability_of(decision, policy, row, 1).error().reason, "replay_mismatch");
        EXPECT_EQ(probability_of(decision, policy, row, {}).error().reason, "group_unknown");
        EXPECT_EQ(probability_of(decision, policy, row, 2).error().reason, "group_unknown");
    }
    EXPECT_GT(both_differ, 20u);
}

}  // namespace
}  // namespace rampart::attribution
