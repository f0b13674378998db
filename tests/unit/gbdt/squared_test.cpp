#include "rampart/gbdt/squared.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "rampart/gbdt/learner.hpp"
#include "toy_data.hpp"

namespace rampart::gbdt {
namespace {

TEST(SquaredError, NumbersByHand) {
    auto objective = SquaredError::create({1, 3, 8}, {1, 1, 2}).value();
    EXPECT_DOUBLE_EQ(objective.initial_score(), 5);
    float g[3], h[3];
    const double scores[] = {5, 5, 5};
    objective.gradients(scores, g, h);
    EXPECT_EQ(g[0], 4);
    EXPECT_EQ(g[1], 2);
    EXPECT_EQ(g[2], -6);
    EXPECT_EQ(h[0], 1);
    EXPECT_EQ(h[2], 2);
}

TEST(SquaredError, RefusesWhatIsNoTarget) {
    EXPECT_EQ(SquaredError::create({}, {}).error().reason, "no_rows");
    EXPECT_EQ(SquaredError::create({NAN}, {}).error().reason, "bad_target");
    EXPECT_EQ(SquaredError::create({1e7}, {}).error().reason, "bad_target");
    EXPECT_EQ(SquaredError::create({1, 2}, {1}).error().reason, "bad_size");
    EXPECT_EQ(SquaredError::create({1}, {0}).error().reason, "bad_weight");
    EXPECT_EQ(SquaredError::create({1}, {INFINITY}).error().reason, "bad_weight");
}

TEST(SquaredError, BoostingRecoversASine) {
    base::Random random(1);
    std::vector<float> x;
    std::vector<double> target;
    for (int i = 0; i < 4'000; ++i) {
        x.push_back(static_cast<float>(random.uniform(-3, 3)));
        target.push_back(std::sin(x.back()));
    }
    const auto data = numeric_data({x}, std::vector<uint8_t>(x.size()));
    auto objective = SquaredError::create(target, {}).value();
    LearnerParams params;
    params.trees = 100;
    const auto ensemble = train(data, objective, params, nullptr).value();
    double worst = 0;
    for (float at = -2.9f; at < 2.9f; at += 0.01f) {
        worst = std::max(worst, std::abs(ensemble.predict_raw(std::span(&at, 1)) - std::sin(at)));
    }
    EXPECT_LT(worst, 0.05);
}

}  // namespace
}  // namespace rampart::gbdt
