#include "rampart/fairness/frontier.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "rampart/base/random.hpp"

namespace rampart::fairness {
namespace {

FrontierTrial trial(double performance, double unfairness) {
    return {{performance, unfairness}, {performance - 0.1, unfairness + 0.1}};
}

TEST(Frontier, KeepsWhatNoOtherModelBeatsOnBothCounts) {
    const std::vector<FrontierTrial> trials{trial(0.8, 0.3), trial(0.7, 0.1), trial(0.75, 0.4),
                                            trial(0.7, 0.2), trial(0.9, 0.5), trial(0.7, 0.1),
                                            trial(0.85, 0.5)};
    EXPECT_EQ(undominated(trials), (std::vector<size_t>{1, 0, 4}));
    EXPECT_TRUE(undominated({}).empty());
}

TEST(Frontier, WithAllModelsDrawnTheChoiceIsTheBestByValidationJudgedOnTest) {
    const std::vector<FrontierTrial> trials{trial(0.8, 0.3), trial(0.7, 0.1), trial(0.9, 0.5)};
    FrontierParams params;
    params.alphas = {0, 0.5, 1};
    params.tries = 60;  // one that misses a model is rarer than one in 10^10
    params.repetitions = 50;
    const auto bands = frontier_bands(trials, params);
    ASSERT_TRUE(bands);
    ASSERT_EQ(bands->size(), 3u);
    EXPECT_NEAR(bands->at(0).mean.performance, 0.6, 1e-12);
    EXPECT_NEAR(bands->at(0).mean.unfairness, 0.2, 1e-12);
    // worth at alpha 1/2: .75, .8, .7
    EXPECT_NEAR(bands->at(1).mean.performance, 0.6, 1e-12);
    EXPECT_NEAR(bands->at(2).mean.performance, 0.8, 1e-12);
    EXPECT_NEAR(bands->at(2).performance.lo, 0.8, 1e-12);
    EXPECT_NEAR(bands->at(2).unfairness.hi, 0.6, 1e-12);
}

TEST(Frontier, FewTriesAreUncertainAndTheBandSaysHowMuch) {
    std::vector<FrontierTrial> trials;
    base::Random random(3);
    for (int i = 0; i < 200; ++i) {
        const double performance = random.uniform(0.2, 0.9);
        trials.push_back({{performance, 0.1}, {performance, 0.1}});
    }
    FrontierParams params;
    params.alphas = {1};
    params.tries = 1;
    params.repetitions = 4000;
    const auto one = frontier_bands(trials, params);
    params.tries = 20;
    const auto twenty = frontier_bands(trials, params);
    ASSERT_TRUE(one && twenty);
    // one uniform draw: the mean is .55 (standard error .003), the band .2175 to .8825
    EXPECT_NEAR(one->at(0).mean.performance, 0.55, 0.04);
    EXPECT_NEAR(one->at(0).performance.lo, 0.2175, 0.04);
    EXPECT_NEAR(one->at(0).performance.hi, 0.8825, 0.04);
    // the largest of twenty draws: 20/21 of the way up
    EXPECT_NEAR(twenty->at(0).mean.performance, 0.2 + 0.7 * 20 / 21, 0.02);
    EXPECT_LT(twenty->at(0).performance.hi - twenty->at(0).performance.lo, 0.15);
}

TEST(Frontier, BadInputIsNamed) {
    const std::vector<FrontierTrial> trials{trial(0.8, 0.3)};
    const auto reason = [&](FrontierParams params) {
        const auto bands = frontier_bands(trials, params);
        return bands ? std::string("none") : bands.error().reason;
    };
    EXPECT_EQ(reason({}), "none");
    EXPECT_EQ(reason({.alphas = {1.1}}), "bad_alpha");
    EXPECT_EQ(reason({.tries = 0}), "bad_frontier");
    EXPECT_EQ(reason({.repetitions = 0}), "bad_frontier");
    EXPECT_EQ(reason({.confidence = 1}), "bad_confidence");
    EXPECT_EQ(frontier_bands({}, {}).error().reason, "no_trials");
    const std::vector<FrontierTrial> bad{{{0.8, std::nan("")}, {0.8, 0.1}}};
    EXPECT_EQ(frontier_bands(bad, {}).error().reason, "bad_trial");
}

}  // namespace
}  // namespace rampart::fairness
