#include "rampart/evaluation/evaluation.hpp"

#include <gtest/gtest.h>

#include "stump.hpp"

namespace rampart::evaluation {
namespace {

TEST(Evaluation, FiguresOfAStumpWorkedByHand) {
    const auto found = evaluate_policy(stump_policy(), stump_data(), std::nullopt);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->rows, 8u);
    EXPECT_NEAR(found->log_loss, -(6 * std::log(0.75) + 2 * std::log(0.25)) / 8, 1e-12);
    EXPECT_NEAR(found->brier, (6 * 0.0625 + 2 * 0.5625) / 8, 1e-12);
    EXPECT_NEAR(found->auc.value(), 12.0 / 16, 1e-12);
    EXPECT_EQ(found->overall.correct.rate(), 0.75);
    EXPECT_EQ(found->overall.approved.rate(), 0.5);
    ASSERT_TRUE(found->groups);
    EXPECT_EQ(found->groups->approved->difference, 0);
    EXPECT_NEAR(found->groups->false_positive->difference, 1.0 / 3, 1e-12);
}

TEST(Evaluation, AThresholdTakesThePolicysPlace) {
    const auto answers = policy_answers(stump_policy(), stump_data(), 0.2).value();
    EXPECT_EQ(answers.approve, std::vector<double>(8, 1));
    EXPECT_NEAR(answers.score[0], 0.25, 1e-12);
    EXPECT_NEAR(answers.score[7], 0.75, 1e-12);
}

TEST(Evaluation, WithoutProtectedColumnsThereAreNoGroups) {
    auto data = stump_data();
    data.group.clear();
    data.group_names.clear();
    EXPECT_FALSE(evaluate_policy(stump_policy(), data, std::nullopt)->groups);
}

TEST(Evaluation, AGroupAwarePolicyFindsItsGroupsByName) {
    auto link = stump_link();
    link.ramp.thresholds = {-1, 1};
    link.ramp.ties = {1, 0};
    const auto policy =
        model::Policy::create(stump_features(), {link}, {"sex=b", "sex=a"}, {}).value();
    auto data = stump_data();
    const auto answers = policy_answers(policy, data, std::nullopt).value();
    for (size_t i = 0; i < data.rows(); ++i)
        EXPECT_EQ(answers.approve[i], data.group[i] == 1 ? 1 : 0) << i;
    data.group_names[0] = "sex=c";
    EXPECT_EQ(policy_answers(policy, data, std::nullopt).error().reason, "unknown_group");
    data.group.clear();
    EXPECT_EQ(policy_answers(policy, data, std::nullopt).error().reason, "no_groups");
}

}  // namespace
}  // namespace rampart::evaluation
