#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>

#include "model_pieces.hpp"
#include "rampart/model/policy.hpp"

/// Policies whose score is on the unit scale: fair risk scores, drawn or not.
namespace rampart::model {
namespace {

using testing::HasSubstr;

Policy policy_of(const LearnedLink& link, size_t groups = 1) {
    return Policy::create(example_schema(), {link},
                          link.group_aware() ? group_names(groups) : std::vector<std::string>{}, {})
        .value();
}

/// p of a member, tree after tree.
double score_of(const LearnedLink& link, const Member& member, std::span<const float> row) {
    const auto& ensemble =
        member.ensemble == 0 ? link.ensemble : link.additional_ensembles[member.ensemble - 1];
    const size_t trees = member.trees == 0 ? ensemble.trees.size() : member.trees;
    double raw = ensemble.predict_raw(row, trees);
    if (member.linear > 0) raw += link.linears[member.linear - 1].predict(row);
    return link.scale.apply(raw);
}

RC_GTEST_PROP(PolicyScore, TheScoresOfARowAreItsMembers, (uint64_t seed)) {
    base::Random random(seed);
    const size_t groups = 1 + random.below(3);
    auto link = random_score_link(random, groups);
    link.scale.levels += 1;
    const auto policy = policy_of(link, groups);
    RC_ASSERT(policy.draws_score());
    const auto row = random_row(random);
    const size_t group = random.below(groups);
    const auto scores = policy.scores(row, group);
    double sum = 0, mean = 0;
    for (size_t i = 0; i < scores.size(); ++i) {
        double wanted = 0;
        for (const auto& member : link.members)
            if (score_of(link, member, row) == scores[i].score) wanted += member.weight;
        RC_ASSERT(std::abs(scores[i].weight - wanted) < 1e-12);
        RC_ASSERT(scores[i].score ==
                  middle_of_level(level_of(scores[i].score, link.scale.levels), link.scale.levels));
        if (i > 0) {
            const bool rises = scores[i].score > scores[i - 1].score;
            RC_ASSERT(scores[i].score != scores[i - 1].score);
            RC_ASSERT(rises == (link.score_slope < 0));
        }
        sum += scores[i].weight;
        mean += scores[i].weight * scores[i].score;
    }
    RC_ASSERT(std::abs(sum - 1) < 1e-12);
    RC_ASSERT(std::abs(mean - policy.evaluate(row, group).score) < 1e-12);
}

RC_GTEST_PROP(PolicyScore, OneDrawDecidesAndDrawsTheScore, (uint64_t seed)) {
    base::Random random(seed);
    auto link = random_score_link(random, 1);
    link.scale.levels = static_cast<uint32_t>(1 + random.below(40));
    for (auto& member : link.members) member.ramp.reset();
    const ScoreStep step{random.bernoulli(0.5), random.uniform()};
    const auto numbers = numbers_of(step, link.scale.levels).value();
    link.score_slope = numbers.slope, link.score_intercept = numbers.intercept;
    link.ramp = {0, 0, {numbers.threshold}, {numbers.tie}};
    link.exploration = {};
    const auto policy = policy_of(link);
    for (int i = 0; i < 20; ++i) {
        const auto row = random_row(random);
        const auto scores = policy.scores(row, {});
        const double p = policy.evaluate(row, {}).approve;
        double passing = 0;
        for (const auto& mass : scores) passing += step.passes(mass.score) ? mass.weight : 0;
        RC_ASSERT(std::abs(p - passing) < 1e-12);
        const double u = random.uniform();
        if (std::abs(u - p) > 1e-12) RC_ASSERT((u < p) == step.passes(drawn_score(scores, u)));
    }
}

TEST(PolicyScore, WithoutLevelsTheScoreIsOne) {
    base::Random random(3);
    LearnedLink link;
    link.ensemble = random_ensemble(random, 5);
    link.scale.kind = ScoreScale::Kind::kUnit;
    const auto policy = policy_of(link);
    EXPECT_FALSE(policy.draws_score());
    for (int i = 0; i < 20; ++i) {
        const auto row = random_row(random);
        const double wanted = std::clamp(link.ensemble.predict_raw(row), 0.0, 1.0);
        EXPECT_EQ(policy.evaluate(row, {}).score, wanted);
        ASSERT_EQ(policy.scores(row, {}).size(), 1u);
        EXPECT_EQ(policy.scores(row, {})[0].score, wanted);
    }
}

TEST(PolicyScore, OneEnsembleMayHaveLevelsToo) {
    LearnedLink link;
    link.ensemble.base_score = 0.33;
    link.scale = {ScoreScale::Kind::kUnit, 10};
    const auto policy = policy_of(link);
    EXPECT_TRUE(policy.draws_score());
    EXPECT_EQ(policy.scores(std::vector<float>(4), {})[0].score, 0.35);
    EXPECT_EQ(policy.evaluate(std::vector<float>(4), {}).score, 0.35);
}

TEST(PolicyScore, AMixtureOfProbabilitiesIsOneScore) {
    base::Random random(4);
    const auto policy = policy_of(random_mixture(random, 1));
    EXPECT_FALSE(policy.draws_score());
    const auto row = random_row(random);
    EXPECT_EQ(policy.scores(row, {})[0].score, policy.evaluate(row, {}).score);
}

TEST(PolicyScore, AStepOnTheScoreExploresAndStaysInItsTrustRegion) {
    LearnedLink link;
    link.scale = {ScoreScale::Kind::kUnit, 10};
    link.ensemble.base_score = 0.9;
    link.additional_ensembles = {{0.2, {}}};
    link.members = {{0, 0, 0.25, {}}, {1, 0, 0.75, {}}};
    const auto numbers = numbers_of({true, 0.5}, 10).value();
    link.ramp = {0, 0, {numbers.threshold}, {numbers.tie}};
    const std::vector<float> row(4);
    EXPECT_EQ(policy_of(link).evaluate(row, {}).approve, 0.25);
    link.exploration = {ExplorationMode::kOneSided, 0.3};
    EXPECT_EQ(policy_of(link).evaluate(row, {}).exploit, 0.25);
    EXPECT_EQ(policy_of(link).evaluate(row, {}).approve, 0.3);
    link.exploration = {};
    link.kappa = 0.2;
    const auto chain =
        Policy::create(example_schema(), {example_bootstrap(), link}, {}, {}).value();
    EXPECT_DOUBLE_EQ(chain.evaluate(row, {}).approve, 0.4);  // 0.5 before it
    EXPECT_TRUE(chain.draws_score());
}

TEST(PolicyScore, RefusesWhatDoesNotFitTheScale) {
    base::Random random(5);
    LearnedLink sound;
    sound.scale = {ScoreScale::Kind::kUnit, 40};
    sound.linears = {random_linear(random)};
    sound.members = {{0, 0, 1, {}, 1}};
    struct {
        std::function<void(LearnedLink&)> change;
        const char* in_message;
    } const cases[] = {
        {[](LearnedLink&) {}, ""},
        {[](LearnedLink& l) { l.scale.levels = 255; }, ""},
        {[](LearnedLink& l) { l.scale.levels = 256; }, "256 levels"},
        {[](LearnedLink& l) { l.scale.kind = ScoreScale::Kind::kLogOdds; },
         "40 levels of a score that is not on the unit scale"},
        {[](LearnedLink& l) { l.members[0].linear = 2; }, "member 0: linear model 2"},
        {[](LearnedLink& l) { l.members[0].linear = 0; }, "linear model 1 is used by no member"},
        {[](LearnedLink& l) { l.members.clear(); }, "1 linear models and no members"},
        {[](LearnedLink& l) { l.linears[0].slope[1] = NAN; }, "linear model 1: feature 'x1'"},
        {[](LearnedLink& l) {
             l.members.clear();
             l.linears.clear();
             l.calibrations = {BetaMap{1, 1, 0}};
         },
         "on the unit scale with 1 calibrations"},
    };
    for (const auto& [change, in_message] : cases) {
        auto link = sound;
        change(link);
        const auto policy = Policy::create(example_schema(), {link}, {}, {});
        EXPECT_EQ(policy.has_value(), std::string_view(in_message).empty()) << in_message;
        if (policy) continue;
        EXPECT_THAT(policy.error().message, HasSubstr(in_message));
    }
}

}  // namespace
}  // namespace rampart::model
