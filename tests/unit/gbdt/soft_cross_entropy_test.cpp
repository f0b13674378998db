#include "rampart/gbdt/soft_cross_entropy.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "rampart/gbdt/learner.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "toy_data.hpp"

namespace rampart::gbdt {
namespace {

TEST(SoftCrossEntropy, NumbersByHand) {
    auto objective = SoftCrossEntropy::create({0.25, 0.75}, {3, 1}).value();
    EXPECT_NEAR(objective.initial_score(), std::log(0.375 / 0.625), 1e-12);
    float g[2], h[2];
    const double scores[] = {0, 0};
    objective.gradients(scores, g, h);
    EXPECT_FLOAT_EQ(g[0], 0.75f);
    EXPECT_FLOAT_EQ(g[1], -0.25f);
    EXPECT_FLOAT_EQ(h[0], 0.75f);
    EXPECT_FLOAT_EQ(h[1], 0.25f);
}

TEST(SoftCrossEntropy, WithTargetsOfZeroAndOneItIsLogLoss) {
    const auto data = mixed_data(200, 3);
    auto soft =
        SoftCrossEntropy::create({data.label.begin(), data.label.end()}, data.weight).value();
    LogLoss hard(data);
    EXPECT_DOUBLE_EQ(soft.initial_score(), hard.initial_score());
    std::vector<double> scores(200);
    for (size_t i = 0; i < 200; ++i) scores[i] = 0.03 * static_cast<double>(i) - 3;
    std::vector<float> g1(200), h1(200), g2(200), h2(200);
    soft.gradients(scores, g1, h1);
    hard.gradients(scores, g2, h2);
    // the one by the library's exponential, the other by the vectors' own
    for (size_t i = 0; i < g1.size(); ++i) {
        EXPECT_NEAR(g1[i], g2[i], 1e-6);
        EXPECT_NEAR(h1[i], h2[i], 1e-6);
    }
}

TEST(SoftCrossEntropy, RefusesWhatIsNoProbability) {
    EXPECT_EQ(SoftCrossEntropy::create({1.01}, {}).error().reason, "bad_target");
    EXPECT_EQ(SoftCrossEntropy::create({-0.01}, {}).error().reason, "bad_target");
    EXPECT_EQ(SoftCrossEntropy::create({NAN}, {}).error().reason, "bad_target");
    EXPECT_TRUE(SoftCrossEntropy::create({0, 1}, {}));
}

TEST(SoftCrossEntropy, DistilsAProbability) {
    base::Random random(2);
    std::vector<float> x;
    std::vector<double> target;
    for (int i = 0; i < 4'000; ++i) {
        x.push_back(static_cast<float>(random.uniform(-1, 1)));
        target.push_back(0.5 + 0.45 * std::sin(4 * x.back()));
    }
    const auto data = numeric_data({x}, std::vector<uint8_t>(x.size()));
    auto objective = SoftCrossEntropy::create(target, {}).value();
    const auto ensemble = train(data, objective, LearnerParams{}, nullptr).value();
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        worst = std::max(
            worst, std::abs(model::sigmoid(ensemble.predict_raw(std::span(&x[i], 1))) - target[i]));
    }
    EXPECT_LT(worst, 0.05);
}

}  // namespace
}  // namespace rampart::gbdt
