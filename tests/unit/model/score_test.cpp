#include "rampart/model/score.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "model_pieces.hpp"

namespace rampart::model {
namespace {

TEST(Score, ALevelIsServedAsItsMiddle) {
    EXPECT_EQ(level_of(-3, 4), 0u);
    EXPECT_EQ(level_of(0.25, 4), 1u);
    EXPECT_EQ(level_of(0.2499, 4), 0u);
    EXPECT_EQ(level_of(1, 4), 4u);
    EXPECT_EQ(level_of(7, 4), 4u);
    EXPECT_EQ(middle_of_level(1, 4), 0.375);
    EXPECT_EQ(middle_of_level(4, 4), 1);
}

TEST(Score, TheScaleSaysHowARawScoreIsRead) {
    using Kind = ScoreScale::Kind;
    EXPECT_EQ(ScoreScale{}.apply(0), 0.5);
    EXPECT_EQ((ScoreScale{Kind::kUnit, 0}.apply(0.3)), 0.3);
    EXPECT_EQ((ScoreScale{Kind::kUnit, 0}.apply(1.3)), 1);
    EXPECT_EQ((ScoreScale{Kind::kUnit, 10}.apply(0.3001)), 0.35);
    EXPECT_EQ((ScoreScale{Kind::kUnit, 1}.apply(0.3)), 0.5);
    EXPECT_EQ((ScoreScale{Kind::kUnit, 1}.apply(1)), 1);
}

TEST(Score, OneDrawPicksByWeight) {
    const std::vector<ScoreMass> scores{{0.9, 0.25}, {0.5, 0.5}, {0.1, 0.25}};
    EXPECT_EQ(drawn_score(scores, 0), 0.9);
    EXPECT_EQ(drawn_score(scores, 0.2499), 0.9);
    EXPECT_EQ(drawn_score(scores, 0.25), 0.5);
    EXPECT_EQ(drawn_score(scores, 0.7499), 0.5);
    EXPECT_EQ(drawn_score(scores, 0.75), 0.1);
    EXPECT_EQ(drawn_score(std::vector<ScoreMass>{{0.2, 0.5}, {0.1, 0.4}}, 0.99), 0.1);
}

/// What the numbers decide of a score, as LearnedLink does it.
bool approves(const StepNumbers& n, double score) {
    const RampRule step{0, 0, {n.threshold}, {n.tie}};
    return step.apply(std::clamp(n.slope * score + n.intercept, -1.0, 1.0), 0) == 1;
}

TEST(Score, AStepApprovesExactlyTheLevelsThatPass) {
    for (const uint32_t levels : {1u, 2u, 3u, 40u, 41u, 255u}) {
        std::vector<double> thresholds{0, 1, 0.5, 0.3, 1e-9, 1 - 1e-9};
        for (uint32_t k = 0; k <= levels; ++k) {
            thresholds.push_back(middle_of_level(k, levels));
            thresholds.push_back(static_cast<double>(k) / levels);
        }
        for (const double t : thresholds)
            for (const bool at_least : {true, false}) {
                const ScoreStep step{at_least, t};
                const auto numbers = numbers_of(step, levels).value();
                for (uint32_t k = 0; k <= levels; ++k) {
                    const double score = middle_of_level(k, levels);
                    EXPECT_EQ(approves(numbers, score), step.passes(score))
                        << levels << " levels, " << at_least << " " << t << ", level " << k;
                }
            }
    }
}

RC_GTEST_PROP(Score, AStepApprovesExactlyTheScoresThatPass, (uint64_t seed)) {
    base::Random random(seed);
    const double t = random.uniform(), score = random.bernoulli(0.3) ? t : random.uniform();
    for (const bool at_least : {true, false}) {
        const ScoreStep step{at_least, t};
        RC_ASSERT(approves(numbers_of(step, 0).value(), score) == step.passes(score));
    }
}

TEST(Score, AThresholdLiesInTheUnitInterval) {
    EXPECT_EQ(numbers_of({true, 1.01}, 40).error().reason, "bad_score_threshold");
    EXPECT_EQ(numbers_of({true, -0.01}, 0).error().reason, "bad_score_threshold");
    EXPECT_EQ(numbers_of({false, NAN}, 0).error().reason, "bad_score_threshold");
    EXPECT_EQ(numbers_of({true, 0.5}, 256).error().reason, "bad_score_threshold");
    EXPECT_TRUE(numbers_of({true, 0.5}, 255));
}

}  // namespace
}  // namespace rampart::model
