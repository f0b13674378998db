#include "rampart/decision/reason_codes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "policies.hpp"

namespace rampart::decision {
namespace {

using namespace testing;
using Reasons = std::vector<std::string>;

const float kNan = std::nanf("");
constexpr auto kShapley = model::ReasonMethod::kShapley;

/// The reasons for declining `row`, decided without exploration by a draw just below 1.
Reasons reasons_of(const model::Policy& policy, std::vector<float> row) {
    const auto output = policy.evaluate(row, std::nullopt);
    return ReasonCodes::create(policy).value().explain(row, output, output.exploit, 0.999);
}

TEST(ReasonCodes, ABootstrapNamesTheFeatureOfItsRule) {
    EXPECT_EQ(reasons_of(bootstrap()->policy, {20, 0, 0}), Reasons{"feature.age"});
}

TEST(ReasonCodes, TheFeatureThatWouldRaiseTheScoreMostComesFirst) {
    const auto loaded = learned(sample_link(), against({60, 2000, 0}));
    EXPECT_EQ(reasons_of(loaded->policy, {40, 500, 0}), (Reasons{"feature.limit", "feature.age"}));
    // age is at the better side already: putting 60 there raises nothing
    EXPECT_EQ(reasons_of(loaded->policy, {55, 500, 0})[0], "feature.limit");
    EXPECT_EQ(reasons_of(loaded->policy, {55, 500, 0})[1], "random_draw_in_ramp");
}

/// age <= 50 ? -4 : (limit <= 1000 ? -4 : 0): nothing is gained by mending one of the two.
model::LearnedLink both_or_nothing() {
    model::LearnedLink link = sample_link();
    model::Tree tree = stump(0, 50, -4, 0);
    tree.nodes[2] = {.feature = 1, .threshold = 1000, .left = 3, .right = 4};
    tree.nodes.resize(5);
    tree.nodes[3].value = -4;
    link.ensemble.trees = {tree};
    return link;
}

TEST(ReasonCodes, WhatTwoFeaturesTakeOnlyTogetherIsAReasonOfBoth) {
    const auto loaded = learned(both_or_nothing(), against({60, 2000, 0}, kShapley));
    EXPECT_EQ(reasons_of(loaded->policy, {40, 500, 0}), (Reasons{"feature.age", "feature.limit"}));
    EXPECT_EQ(reasons_of(loaded->policy, {40, 3000, 0}), Reasons{"feature.age"});
}

TEST(ReasonCodes, APolicyOfBeforeTheMethodWasPinnedKeepsItsCodes) {
    const auto loaded = learned(both_or_nothing(), against({60, 2000, 0}));
    EXPECT_EQ(reasons_of(loaded->policy, {40, 500, 0}), Reasons{"score_too_low"});
    const auto additive = learned(sample_link(), against({60, 2000, 0}, kShapley));
    EXPECT_EQ(reasons_of(additive->policy, {40, 500, 0}),
              (Reasons{"feature.limit", "feature.age"}));
}

model::LearnedLink linear_link() {
    model::LearnedLink link;
    link.scale.kind = model::ScoreScale::Kind::kUnit;
    link.linears = {{0.5, {0.01, -0.001, 0}, {0, 0, 0}, {{}, {}, {0.1, -0.3, 0}}}};
    link.members = {{0, 0, 1, {}, 1}};
    return link;
}

TEST(ReasonCodes, ALinearModelIsTakenApartByItsTerms) {
    // against age 40, limit 100, school: -0.2, -0.01, -0.4
    const std::vector<float> row{20, 110, 1};
    for (const auto method : {model::ReasonMethod::kReplacement, kShapley}) {
        const auto policy = learned(linear_link(), against({40, 100, 0}, method));
        const auto codes = ReasonCodes::create(policy->policy).value();
        EXPECT_EQ(codes.explain(row, {}, 0, 0.5),
                  (Reasons{"feature.education", "feature.age", "feature.limit"}))
            << static_cast<int>(method);
    }
}

TEST(ReasonCodes, WhereLowScoresAreApprovedWhatAddsToTheScoreIsTheReason) {
    auto link = linear_link();
    link.score_slope = -2, link.score_intercept = 1;
    for (const auto method : {model::ReasonMethod::kReplacement, kShapley}) {
        const auto policy = learned(link, against({40, 100, 1}, method));
        const auto codes = ReasonCodes::create(policy->policy).value();
        EXPECT_EQ(codes.explain(std::vector<float>{60, 110, 0}, {}, 0, 0.5),
                  (Reasons{"feature.education", "feature.age"}))
            << static_cast<int>(method);
    }
}

TEST(ReasonCodes, NoMoreThanFourFeaturesAreNamed) {
    std::vector<dataset::FeatureSpec> specs;
    model::LearnedLink link = sample_link();
    link.ensemble.trees.clear();
    for (int i = 0; i < 6; ++i) {
        specs.push_back({fmt::format("f{}", i), dataset::FeatureKind::kNumeric, {}});
        link.ensemble.trees.push_back(stump(i, 0, -1.0 - i, 0));
    }
    const auto policy = model::Policy::create(dataset::FeatureSchema::create(specs).value(), {link},
                                              {}, {}, against({1, 1, 1, 1, 1, 1}))
                            .value();
    EXPECT_EQ(reasons_of(policy, std::vector<float>(6, -1)),
              (Reasons{"feature.f5", "feature.f4", "feature.f3", "feature.f2"}));
}

TEST(ReasonCodes, EquallyGoodFeaturesStandInSchemaOrder) {
    model::LearnedLink link = sample_link();
    link.ensemble.trees = {stump(1, 0, -3, 0), stump(0, 0, -3, 0)};
    const auto loaded = learned(link, against({1, 1, 0}));
    EXPECT_EQ(reasons_of(loaded->policy, {-1, -1, 0}), (Reasons{"feature.age", "feature.limit"}));
}

TEST(ReasonCodes, WithoutAReferenceRowTheScoreIsTheReason) {
    EXPECT_EQ(reasons_of(learned()->policy, {40, 500, 0}), Reasons{"score_too_low"});
}

TEST(ReasonCodes, ARowLikeTheReferenceHasAScoreThatIsTooLow) {
    const auto loaded = learned(sample_link(), against({40, kNan, 0}));
    EXPECT_EQ(reasons_of(loaded->policy, {40, kNan, 0})[0], "score_too_low");
}

TEST(ReasonCodes, WhatChanceHadToDoWithItIsSaid) {
    const auto codes = ReasonCodes::create(bootstrap()->policy).value();
    const std::vector<float> row{40, 0, 0};
    const std::string age = "feature.age";
    EXPECT_EQ(codes.explain(row, {0.5, 0, 0.1}, 0.1, 0.5),
              (Reasons{age, "random_exploration_not_drawn"}));
    EXPECT_EQ(codes.explain(row, {0.5, 0, 0.1}, 0, 0.5), Reasons{age});  // the budget was spent
    EXPECT_EQ(codes.explain(row, {0.5, 0.2, 0.3}, 0.3, 0.5),
              (Reasons{age, "random_draw_in_ramp", "random_exploration_not_drawn"}));
    EXPECT_EQ(codes.explain(row, {0.5, 1, 0.9}, 0.9, 0.95), Reasons{"random_exploration_declined"});
}

RC_GTEST_PROP(ReasonCodes, ExplorationNotDrawnNeverStandsAlone, ()) {
    const auto unit = [](uint64_t i) { return static_cast<double>(i) / 1000; };
    const auto codes = ReasonCodes::create(learned()->policy).value();
    const double exploit = unit(*rc::gen::inRange<uint64_t>(0, 1001));
    const double approve = unit(*rc::gen::inRange<uint64_t>(0, 1001));
    const double draw = unit(*rc::gen::inRange<uint64_t>(0, 1000));
    RC_PRE(draw >= approve);
    const auto reasons =
        codes.explain(std::vector<float>{1, 2, 0}, {0.5, exploit, approve}, approve, draw);
    RC_ASSERT(!reasons.empty());
    RC_ASSERT(reasons.front() != kExplorationNotDrawn);
}

/// Returns why declines by a policy of this link could have no reasons; empty: they can.
std::string why_not(model::LearnedLink link, std::vector<std::string> groups = {},
                    model::PolicyState state = against({60, 2000, 0}, kShapley)) {
    const auto checked =
        check_explained(load({std::move(link)}, std::move(groups), std::move(state))->policy);
    if (checked) return "";
    EXPECT_EQ(checked.error().reason, "not_explained");
    return checked.error().message;
}

model::LearnedLink mixture(std::vector<model::Ensemble> ensembles) {
    model::LearnedLink link = sample_link();
    link.ensemble = std::move(ensembles.front());
    ensembles.erase(ensembles.begin());
    const double weight = 1.0 / static_cast<double>(ensembles.size() + 1);
    for (uint32_t m = 0; m <= ensembles.size(); ++m)
        link.members.push_back({.ensemble = m, .weight = weight});
    link.additional_ensembles = std::move(ensembles);
    return link;
}

model::Ensemble constant() {
    model::Ensemble ensemble;
    ensemble.base_score = 1;
    return ensemble;
}

TEST(CheckExplained, WhatCanGiveReasonsPasses) {
    EXPECT_TRUE(check_explained(bootstrap()->policy));
    EXPECT_EQ(why_not(sample_link()), "");
    EXPECT_EQ(why_not(linear_link()), "");
    EXPECT_EQ(why_not(mixture({sample_link().ensemble, constant()})), "");
    auto by_group = sample_link();
    by_group.ramp = {1, 0.5, {0, 0.1}, {1, 1}, {1, 0.8}};
    by_group.calibrations = {model::BetaMap{1, 1, 0}, model::BetaMap{0.5, 1, 0}};
    EXPECT_EQ(why_not(by_group, {"a", "b"}), "");
    auto low = linear_link();
    low.score_slope = -2, low.score_intercept = 1;
    EXPECT_EQ(why_not(low), "") << "low scores are approved, in all groups";
}

TEST(CheckExplained, APolicyWithoutAReferenceRowIsRefused) {
    const auto why = why_not(sample_link(), {}, {});
    EXPECT_NE(why.find("one ensemble"), std::string::npos) << why;
    EXPECT_NE(why.find("rampart candidate"), std::string::npos) << why;
}

TEST(CheckExplained, AScoreThatIsTheSameForEverybodyIsRefused) {
    auto link = sample_link();
    link.ensemble.trees.clear();
    EXPECT_NE(why_not(link).find("its ensemble reads no feature"), std::string::npos);
    auto linear = linear_link();
    linear.linears = {{0.5, {0, 0, 0}, {0, 0, 0}, {{}, {}, {0, 0, 0}}}};
    EXPECT_NE(why_not(linear).find("a mixture of 1 members"), std::string::npos);
    const auto mixed = why_not(mixture({constant(), sample_link().ensemble}));
    EXPECT_NE(mixed.find("a mixture of 2 members"), std::string::npos) << mixed;
    EXPECT_NE(mixed.find("its first member reads no feature"), std::string::npos) << mixed;
    link = sample_link();
    link.score_slope = 0;
    EXPECT_NE(why_not(link).find("the slope is 0"), std::string::npos);
    link = sample_link();
    link.calibrations = {model::BetaMap{1, 1, 0}, model::PolylineMap{{0, 1}, {0.3, 0.3}}};
    EXPECT_NE(why_not(link, {"a", "b"}).find("all of b"), std::string::npos);
}

TEST(CheckExplained, ARampThatApprovesLowScoresInOneGroupIsRefused) {
    auto link = sample_link();
    for (const double slope : {-0.5, 0.0}) {
        link.ramp = {1, 0.5, {0, 0}, {1, 1}, {1, slope}};
        const auto why = why_not(link, {"a", "b"});
        EXPECT_NE(why.find("in b"), std::string::npos) << why;
        EXPECT_NE(why.find("larger tolerance"), std::string::npos) << why;
    }
    link = mixture({sample_link().ensemble, sample_link().ensemble});
    link.members[1].ramp = {1, 0.5, {0, 0}, {1, 1}, {-1, 1}};
    EXPECT_NE(why_not(link, {"a", "b"}).find("in a"), std::string::npos);
}

}  // namespace
}  // namespace rampart::decision
