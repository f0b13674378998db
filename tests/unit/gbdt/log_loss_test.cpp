#include "rampart/gbdt/log_loss.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "toy_data.hpp"

namespace rampart::gbdt {
namespace {

TEST(LogLoss, StartsAtTheLogOddsOfTheWeightedShareOfOnes) {
    auto data = numeric_data({{0, 0, 0, 0}}, {1, 0, 0, 0});
    EXPECT_NEAR(LogLoss(data).initial_score(), std::log(1.0 / 3.0), 1e-12);
    data.weight = {3, 1, 1, 1};
    EXPECT_NEAR(LogLoss(data).initial_score(), 0, 1e-12);
    data.label = {1, 1, 1, 1};
    EXPECT_NEAR(LogLoss(data).initial_score(), std::log(1e9), 1e-6);
}

TEST(LogLoss, GradientsByHand) {
    auto data = numeric_data({{0, 0, 0}}, {1, 0, 1});
    data.weight = {1, 1, 2};
    LogLoss objective(data);
    float g[3], h[3];
    const double scores[] = {0, 0, std::log(3.0)};  // p = 1/2, 1/2, 3/4
    objective.gradients(scores, g, h);
    EXPECT_FLOAT_EQ(g[0], -0.5f);
    EXPECT_FLOAT_EQ(g[1], 0.5f);
    EXPECT_FLOAT_EQ(g[2], -0.5f);
    EXPECT_FLOAT_EQ(h[0], 0.25f);
    EXPECT_FLOAT_EQ(h[1], 0.25f);
    EXPECT_FLOAT_EQ(h[2], 0.375f);
}

TEST(LogLoss, TakesLabelsAndWeightsThatAreNotTheDataSets) {
    const std::vector<uint8_t> labels = {1, 0, 1};
    LogLoss objective(labels, {1, 4, 2});
    EXPECT_NEAR(objective.initial_score(), std::log(3.0 / 4.0), 1e-12);
    float g[3], h[3];
    const double scores[] = {0, 0, std::log(3.0)};  // p = 1/2, 1/2, 3/4
    objective.gradients(scores, g, h);
    EXPECT_FLOAT_EQ(g[0], -0.5f);
    EXPECT_FLOAT_EQ(g[1], 2);
    EXPECT_FLOAT_EQ(g[2], -0.5f);
    EXPECT_FLOAT_EQ(h[1], 1);
    EXPECT_NEAR(LogLoss(labels, {}).initial_score(), std::log(2.0), 1e-12);
}

TEST(LogLoss, CurvatureStaysAboveZeroAtTheEnds) {
    const auto data = numeric_data({{0, 0}}, {1, 0});
    LogLoss objective(data);
    float g[2], h[2];
    const double scores[] = {1e6, -1e6};
    objective.gradients(scores, g, h);
    EXPECT_GT(h[0], 0);
    EXPECT_GT(h[1], 0);
    EXPECT_NEAR(g[0], 0, 1e-37);
}

RC_GTEST_PROP(LogLoss, GradientsAreTheDerivativesOfTheLoss, (uint64_t seed)) {
    base::Random random(seed);
    auto data = numeric_data({{0}}, {static_cast<uint8_t>(random.below(2))});
    const double f = random.uniform(-6, 6);
    data.weight = {static_cast<float>(random.uniform(0.5, 2))};
    LogLoss objective(data);
    float g = 0, h = 0;
    objective.gradients(std::span(&f, 1), std::span(&g, 1), std::span(&h, 1));
    const auto loss = [&](double score) {
        return data.weight[0] * mean_log_loss(data, std::span(&score, 1));
    };
    const double step = 1e-4;
    RC_ASSERT(std::abs((loss(f + step) - loss(f - step)) / (2 * step) - g) < 1e-5);
    RC_ASSERT(std::abs((loss(f + step) - 2 * loss(f) + loss(f - step)) / (step * step) - h) < 1e-5);
}

TEST(LogLoss, TheMeanIsWeightedAndDoesNotOverflow) {
    auto data = numeric_data({{0, 0}}, {1, 0});
    data.weight = {3, 1};
    EXPECT_NEAR(mean_log_loss(data, std::vector<double>{0, 0}), std::log(2), 1e-12);
    EXPECT_NEAR(mean_log_loss(data, std::vector<double>{1000, 1000}), 250, 1e-9);
    EXPECT_NEAR(mean_log_loss(data, std::vector<double>{-1000, -1000}), 750, 1e-9);
    EXPECT_TRUE(std::isnan(mean_log_loss(numeric_data({{}}, {}), {})));
}

}  // namespace
}  // namespace rampart::gbdt
