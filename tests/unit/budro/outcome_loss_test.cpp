#include "rampart/budro/outcome_loss.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rampart::budro {
namespace {

void expect_derivatives(const OutcomeLoss& loss, double score) {
    constexpr double kStep = 1e-5;
    const auto slopes = loss.slopes(score);
    for (int y = 0; y < 2; ++y) {
        const double lower = loss.losses(score - kStep).loss[y];
        const double here = loss.losses(score).loss[y];
        const double upper = loss.losses(score + kStep).loss[y];
        EXPECT_NEAR(slopes.slope[y], (upper - lower) / (2 * kStep), 1e-8);
        EXPECT_NEAR(slopes.curvature[y], (upper - 2 * here + lower) / (kStep * kStep), 1e-4);
    }
}

TEST(BudroOutcomeLoss, SlopesAreThoseOfTheLosses) {
    for (const double score : {-3.0, -0.5, 0.0, 0.2, 4.0})
        expect_derivatives(*make_log_outcome_loss(), score);
}

TEST(BudroOutcomeLoss, TheLogLossIsThatOfTheProbability) {
    const auto loss = make_log_outcome_loss();
    EXPECT_NEAR(loss->losses(0).loss[0], std::log(2), 1e-15);
    EXPECT_NEAR(loss->losses(std::log(3)).loss[1], -std::log(0.75), 1e-15);
    EXPECT_NEAR(loss->losses(std::log(3)).loss[0], -std::log(0.25), 1e-15);
    EXPECT_NEAR(loss->initial_score(0.75), std::log(3), 1e-15);
    EXPECT_EQ(loss->threshold(), 0);
}

TEST(BudroOutcomeLoss, CertaintyIsFinite) {
    const auto loss = make_log_outcome_loss();
    EXPECT_NEAR(loss->losses(800).loss[0], 800, 1e-9);
    EXPECT_EQ(loss->losses(-1e9).loss[1], 1e6);
    EXPECT_EQ(loss->losses(-1e9).loss[0], 0);
    EXPECT_EQ(loss->slopes(-1e9).slope[1], -1);
    EXPECT_GT(loss->slopes(-1e9).curvature[0], 0);
    EXPECT_LT(std::abs(loss->initial_score(0)), 30);
    EXPECT_LT(std::abs(loss->initial_score(1)), 30);
}

}  // namespace
}  // namespace rampart::budro
