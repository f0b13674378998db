#include "reference/squared_outcome_loss.hpp"

#include <gtest/gtest.h>

#include "rampart/budro/train.hpp"
#include "support/unequals.hpp"

namespace rampart::reference {
namespace {

budro::BudroParams squared(int trees) {
    budro::BudroParams params;
    params.learner.trees = trees;
    params.learner.leaves = 8;
    params.learner.learning_rate = 0.05;
    params.transport.epsilon = 0.02;
    params.loss = make_squared_outcome_loss();
    return params;
}

TEST(SquaredOutcomeLoss, SlopesAreThoseOfTheLosses) {
    constexpr double kStep = 1e-5;
    const auto loss = make_squared_outcome_loss();
    for (const double score : {-3.0, -0.5, 0.0, 0.2, 4.0}) {
        const auto slopes = loss->slopes(score);
        const auto lower = loss->losses(score - kStep), here = loss->losses(score),
                   upper = loss->losses(score + kStep);
        for (int y = 0; y < 2; ++y) {
            EXPECT_NEAR(slopes.slope[y], (upper.loss[y] - lower.loss[y]) / (2 * kStep), 1e-8);
            EXPECT_NEAR(slopes.curvature[y],
                        (upper.loss[y] - 2 * here.loss[y] + lower.loss[y]) / (kStep * kStep), 1e-4);
        }
    }
}

TEST(SquaredOutcomeLoss, StartsAtTheShareOfOnesAndStaysFinite) {
    const auto loss = make_squared_outcome_loss();
    EXPECT_EQ(loss->initial_score(0.3), 0.3);
    EXPECT_EQ(loss->threshold(), 0.5);
    EXPECT_EQ(loss->losses(0.25).loss[1], 0.75 * 0.75 / 2);
    EXPECT_LE(loss->losses(1e9).loss[0], 1e6);
}

TEST(SquaredOutcomeLoss, BudroTrainsWithIt) {
    const auto people = test::unequals(600, 11);
    const auto result = budro::train_budro(people.data, people.points, squared(40), nullptr);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_LT(result->rounds.back().robust_loss, result->rounds.front().robust_loss);
    EXPECT_EQ(result->threshold, 0.5);
}

TEST(SquaredOutcomeLoss, GroupConstraintsNeedLogOdds) {
    const auto people = test::unequals(100, 12);
    auto params = squared(1);
    params.constraints = fairness::RateConstraints{{fairness::ParityConstraint{}}, {}};
    const auto refused = budro::train_budro(people.data, people.points, params, nullptr);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "bad_budro_parameter");
}

}  // namespace
}  // namespace rampart::reference
