#include "rampart/evaluation/regression_evaluation.hpp"

#include <gtest/gtest.h>

#include "stump.hpp"

namespace rampart::evaluation {
namespace {

const auto kSquared = fair_regression::RegressionLoss::squared();

TEST(RegressionEvaluation, FiguresOfAStumpWorkedByHand) {
    const auto found =
        evaluate_regression(stump_policy(), kSquared, stump_data(), {0, 1}, std::nullopt);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->rows, 8u);
    EXPECT_NEAR(found->root_mean_square, std::sqrt(1.5 / 8), 1e-12);
    EXPECT_NEAR(found->mean_absolute, (6 * 0.25 + 2 * 0.75) / 8, 1e-12);
    EXPECT_NEAR(found->loss, (6 * kSquared.value(0, 0.25) + 2 * kSquared.value(0, 0.75)) / 8,
                1e-12);
    EXPECT_NEAR(found->mean_score, 0.5, 1e-12);
    EXPECT_NEAR(found->mean_label, 0.5, 1e-12);
    EXPECT_NEAR(found->approval_rate, 0.5, 1e-12);
    EXPECT_NEAR(found->auc.value(), 0.75, 1e-12);
    EXPECT_NEAR(found->disparity, 0, 1e-12);  // both groups have both scores equally often
    ASSERT_EQ(found->groups.size(), 2u);
    EXPECT_EQ(found->groups[1].mean_label, 0.75);
}

TEST(RegressionEvaluation, DisparityIsTheLargestDifferenceOverAllScores) {
    auto data = stump_data();
    data.group = {0, 0, 0, 1, 0, 1, 1, 1};  // a: three of four low; b: one of four low
    const auto found = evaluate_regression(stump_policy(), kSquared, data, {0, 1}, std::nullopt);
    EXPECT_NEAR(found->disparity, 0.25, 1e-12);
}

TEST(RegressionEvaluation, AThresholdTakesThePolicysPlace) {
    const auto all = evaluate_regression(stump_policy(), kSquared, stump_data(), {0, 1}, 0.1);
    EXPECT_EQ(all->approval_rate, 1);
}

TEST(RegressionEvaluation, KnowsAModelOfFairRegressionByItsRecord) {
    EXPECT_FALSE(regression_loss_of(stump_policy())->has_value());
    const auto of = [](double parameter) {
        return regression_loss_of(
            stump_policy({.regression_loss = {{model::RegressionLossKind::kHuber, parameter}}}));
    };
    const auto loss = of(0.1).value();
    ASSERT_TRUE(loss);
    EXPECT_EQ(loss->parameter(), 0.1);
    EXPECT_EQ(of(1.5).error().reason, "bad_loss_parameter");
}

}  // namespace
}  // namespace rampart::evaluation
