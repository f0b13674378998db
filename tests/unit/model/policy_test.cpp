#include "rampart/model/policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "model_pieces.hpp"
#include "rampart/base/limits.hpp"

namespace rampart::model {
namespace {

using testing::HasSubstr;

/// A link whose score is the given probability for all rows.
LearnedLink constant(double p) {
    LearnedLink link;
    link.ensemble.base_score = std::log(p / (1 - p));
    return link;
}

PolicyOutput evaluate(std::vector<Link> links, std::vector<float> row = {0, 0, 0, 0},
                      std::optional<size_t> group = {}, std::vector<std::string> names = {}) {
    return Policy::create(example_schema(), std::move(links), std::move(names), {})
        .value()
        .evaluate(row, group);
}

// ---- the ramp

// sets of 16,384 categories take 2 KiB a split: some hundred thousand are more than a file holds
TEST(Policy, WhatNoFileCanHoldIsRefusedBeforeItIsWritten) {
    constexpr size_t kCategories = 16'384, kSplits = 4095;  // a tree's
    dataset::FeatureSpec town{"town", dataset::FeatureKind::kCategorical, {}};
    for (size_t i = 0; i < kCategories; ++i) town.categories.push_back(fmt::format("t{}", i));
    const auto schema = dataset::FeatureSchema::create({town}).value();
    Tree tree;  // a row of splits, each with a leaf to its left
    for (int32_t i = 0; i < static_cast<int32_t>(kSplits); ++i) {
        tree.nodes.push_back(
            {.feature = 0, .left = 2 * i + 1, .right = 2 * i + 2, .categories = i});
        tree.nodes.push_back({});
        tree.category_sets.emplace_back(kCategories / 64, 1);
    }
    tree.nodes.push_back({});
    const auto with_trees = [&](size_t trees) {
        LearnedLink link;
        link.ensemble.trees.assign(trees, tree);
        std::vector<Link> links;
        links.emplace_back(std::move(link));
        return Policy::create(schema, std::move(links), {}, {});
    };
    const size_t of_tree = kSplits * kCategories / 8;
    const auto refused = with_trees(base::limits::kMaxModelFileBytes / of_tree + 1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "model_file_too_large") << refused.error().message;
    const auto made = with_trees(2);
    EXPECT_TRUE(made) << made.error().message;
}

TEST(Ramp, WithoutSlopeItIsAStepWithATie) {
    const RampRule step{.gamma = 0, .offset = 0, .thresholds = {0.2}, .ties = {0.25}};
    EXPECT_EQ(step.apply(0.3, 0), 1);
    EXPECT_EQ(step.apply(0.2, 0), 0.25);
    EXPECT_EQ(step.apply(0.1, 0), 0);
}

TEST(Ramp, RisesFromZeroToOneWithinGamma) {
    const RampRule plain{.gamma = 0.5, .offset = 0, .thresholds = {0.1}, .ties = {1}};
    EXPECT_EQ(plain.apply(0.1, 0), 0);
    EXPECT_DOUBLE_EQ(plain.apply(0.35, 0), 0.5);
    EXPECT_DOUBLE_EQ(plain.apply(0.6, 0), 1);
    const RampRule centred{.gamma = 0.5, .offset = 0.5, .thresholds = {0.1}, .ties = {1}};
    EXPECT_DOUBLE_EQ(centred.apply(0.1, 0), 0.5);
    EXPECT_DOUBLE_EQ(centred.apply(-0.15, 0), 0);
}

TEST(Ramp, OneThresholdServesEveryGroupAndManyServeTheirOwn) {
    const RampRule blind{.gamma = 0, .offset = 0, .thresholds = {0.0}, .ties = {1}};
    EXPECT_FALSE(blind.group_aware());
    EXPECT_EQ(blind.apply(0.5, 7), 1);
    const RampRule aware{.gamma = 0, .offset = 0, .thresholds = {0.0, 0.9}, .ties = {1, 1}};
    EXPECT_TRUE(aware.group_aware());
    EXPECT_EQ(aware.apply(0.5, 0), 1);
    EXPECT_EQ(aware.apply(0.5, 1), 0);
}

RC_GTEST_PROP(Ramp, IsMonotoneAndAProbability, (uint64_t seed)) {
    base::Random random(seed);
    const RampRule ramp = random_link(random, 3).ramp;
    for (int i = 0; i < 50; ++i) {
        const size_t group = random.below(3);
        double a = random.uniform(-1, 1), b = random.uniform(-1, 1);
        if (a > b) std::swap(a, b);
        RC_ASSERT(ramp.apply(a, group) <= ramp.apply(b, group));
        RC_ASSERT(ramp.apply(a, group) >= 0 && ramp.apply(b, group) <= 1);
    }
}

// ---- exploration

TEST(Exploration, OneSidedHasAFloorAndTwoSidedACeilingToo) {
    const Exploration one{ExplorationMode::kOneSided, 0.1}, two{ExplorationMode::kTwoSided, 0.1};
    EXPECT_EQ(one.apply(0), 0.1);
    EXPECT_EQ(one.apply(1), 1);
    EXPECT_EQ(two.apply(0), 0.1);
    EXPECT_EQ(two.apply(1), 0.9);
    EXPECT_EQ((Exploration{ExplorationMode::kNone, 0.1}.apply(0)), 0);
}

RC_GTEST_PROP(Exploration, OneSidedNeverLowersP, (uint64_t seed)) {
    base::Random random(seed);
    const Exploration exploration{ExplorationMode::kOneSided, random.uniform(0, 0.5)};
    const double q = random.uniform();
    RC_ASSERT(exploration.apply(q) >= q);
    RC_ASSERT(exploration.apply(q) >= exploration.epsilon);
}

// ---- the chain

TEST(Policy, ABootstrapInterpolatesBetweenItsPoints) {
    const std::vector<Link> links{example_bootstrap()};
    EXPECT_DOUBLE_EQ(evaluate(links, {-5, 0, 0, 0}).approve, 0.1);
    EXPECT_DOUBLE_EQ(evaluate(links, {-0.5, 0, 0, 0}).approve, 0.3);
    EXPECT_DOUBLE_EQ(evaluate(links, {0, 0, 0, 0}).approve, 0.5);
    EXPECT_DOUBLE_EQ(evaluate(links, {1, 0, 0, 0}).approve, 0.9);
    EXPECT_DOUBLE_EQ(evaluate(links, {9, 0, 0, 0}).approve, 0.9);
    EXPECT_DOUBLE_EQ(evaluate(links, {NAN, 0, 0, 0}).approve, 0.3);
    const auto out = evaluate(links);
    EXPECT_EQ(out.exploit, out.approve);
    EXPECT_EQ(out.score, 0.5);
}

TEST(Policy, AnEvenBootstrapOfOnePointIsAConstant) {
    EXPECT_EQ(evaluate({BootstrapLink{"x1", {{0, 0.4}}, 0.2}}, {0, -3, 0, 0}).approve, 0.4);
}

TEST(Policy, TheFirstLearntLinkIsNotClipped) {
    const auto out = evaluate({constant(0.9)});
    EXPECT_NEAR(out.score, 0.9, 1e-15);
    EXPECT_EQ(out.approve, 1);  // f = 0.8 > 0: the step
    EXPECT_EQ(evaluate({constant(0.1)}).approve, 0);
}

TEST(Policy, LaterLinksStayInTheTrustRegionOfTheOneBefore) {
    LearnedLink link = constant(0.9);
    link.kappa = 0.5;
    // s = 0.5: at most 0.5 + 0.5 * 0.5; then s = 0.75: at most 0.75 + 0.5 * 0.25
    EXPECT_DOUBLE_EQ(evaluate({example_bootstrap(), link}).approve, 0.75);
    EXPECT_DOUBLE_EQ(evaluate({example_bootstrap(), link, link}).approve, 0.875);
    LearnedLink down = constant(0.1);
    down.kappa = 0.2;
    EXPECT_DOUBLE_EQ(evaluate({example_bootstrap(), down}).approve, 0.4);
}

TEST(Policy, ExploitIsTheLastLinkWithoutExplorationAboutTheSameReference) {
    LearnedLink down = constant(0.1);
    down.exploration = {ExplorationMode::kOneSided, 0.3};
    down.kappa = 1;
    // reference 0.5, region [0, 1]: ramp 0, explored 0.3
    const auto first = evaluate({example_bootstrap(), down});
    EXPECT_EQ(first.exploit, 0);
    EXPECT_EQ(first.approve, 0.3);
    // the next link's region is about 0.3, what was drawn from, not about 0
    LearnedLink up = constant(0.9);
    up.kappa = 0.5;
    const auto second = evaluate({example_bootstrap(), down, up});
    EXPECT_DOUBLE_EQ(second.exploit, 0.45);
    EXPECT_DOUBLE_EQ(second.approve, 0.45);
}

TEST(Policy, WithoutExplorationAnExploitChainKeepsTheTrustRegionToo) {
    LearnedLink down = constant(0.1);
    down.exploration = {ExplorationMode::kOneSided, 0.3};
    down.kappa = 1;
    LearnedLink up = constant(0.9);
    up.kappa = 0.5;
    up.exploit_chain = true;
    // an applicant whom the reference approves by exploration alone
    EXPECT_EQ(evaluate({example_bootstrap(), down, up}).exploit, 0);
    EXPECT_DOUBLE_EQ(evaluate({example_bootstrap(), down, up}).approve, 0.45);
    down.kappa = 0.5;  // 0.25 without exploration, 0.3 with
    const auto out = evaluate({example_bootstrap(), down, up});
    EXPECT_DOUBLE_EQ(out.exploit, 0.375);
    EXPECT_DOUBLE_EQ(out.approve, 0.45);
}

TEST(Policy, AGroupAwareRampLooksAtTheGroup) {
    LearnedLink link = constant(0.6);
    link.ramp.thresholds = {0.0, 0.5};
    link.ramp.ties = {1, 1};
    EXPECT_EQ(evaluate({link}, {0, 0, 0, 0}, 0, {"a", "b"}).approve, 1);
    EXPECT_EQ(evaluate({link}, {0, 0, 0, 0}, 1, {"a", "b"}).approve, 0);
}

TEST(PolicyDeathTest, AGroupAwarePolicyNeedsTheGroup) {
    LearnedLink link = constant(0.6);
    link.ramp.thresholds = {0.0, 0.5};
    link.ramp.ties = {1, 1};
    const Policy policy = Policy::create(example_schema(), {link}, {"a", "b"}, {}).value();
    const std::vector<float> row(4);
    EXPECT_DEATH(static_cast<void>(policy.evaluate(row, std::nullopt)), "group of 2 not given");
    EXPECT_DEATH(static_cast<void>(policy.evaluate(row, 2)), "group of 2 not given");
    EXPECT_DEATH(static_cast<void>(policy.evaluate(std::vector<float>(3), 0)),
                 "3 values for 4 features");
}

RC_GTEST_PROP(Policy, EveryLinkStaysInItsTrustRegionAndEveryOutputIsAProbability, (uint64_t seed)) {
    base::Random random(seed);
    const size_t groups = 1 + random.below(3);
    const size_t count = 1 + random.below(6);
    const auto links = random_links(random, count, groups, random.bernoulli(0.5));
    const bool starts_by_bootstrap = std::holds_alternative<BootstrapLink>(links.front());
    for (int i = 0; i < 10; ++i) {
        const auto row = random_row(random);
        const size_t group = random.below(groups);
        double before = 0;
        for (size_t length = 1; length <= count; ++length) {
            const bool aware = groups > 1 && !(starts_by_bootstrap && length == 1);
            const auto out =
                evaluate({links.begin(), links.begin() + static_cast<long>(length)}, row, group,
                         aware ? group_names(groups) : std::vector<std::string>{});
            for (const double p : {out.score, out.exploit, out.approve})
                RC_ASSERT(p >= 0 && p <= 1);
            if (const auto* link = std::get_if<LearnedLink>(&links[length - 1])) {
                const double reach = link->kappa * std::min(before, 1 - before) + 1e-15;
                if (length > 1) RC_ASSERT(std::abs(out.approve - before) <= reach);
                if (length > 1) RC_ASSERT(std::abs(out.exploit - before) <= reach);
                if (link->exploration.mode == ExplorationMode::kOneSided)
                    RC_ASSERT(out.exploit <= out.approve);
                if (link->exploration.mode == ExplorationMode::kNone)
                    RC_ASSERT(out.exploit == out.approve);
            }
            before = out.approve;
        }
    }
}

RC_GTEST_PROP(Policy, ACertainDecisionStaysCertainDownTheChain, (uint64_t seed)) {
    // the trust region of a probability of 0 or 1 is that probability alone
    base::Random random(seed);
    auto links = random_links(random, 1 + random.below(5), 1, false);
    links.insert(links.begin(), BootstrapLink{"x0", {{0, random.bernoulli(0.5) ? 1.0 : 0.0}}, 0.5});
    const double certain = std::get<BootstrapLink>(links.front()).points.front().second;
    RC_ASSERT(evaluate(links, {1, 0, 0, 0}).approve == certain);
}

// ---- mixtures

/// Member after member, tree after tree.
PolicyOutput brute_force(const LearnedLink& link, std::span<const float> row, size_t group) {
    PolicyOutput out;
    for (const Member& member : link.members) {
        const auto& ensemble =
            member.ensemble == 0 ? link.ensemble : link.additional_ensembles[member.ensemble - 1];
        const size_t trees = member.trees == 0 ? ensemble.trees.size() : member.trees;
        const double p = sigmoid(ensemble.predict_raw(row, trees));
        const double f = std::clamp(link.score_slope * p + link.score_intercept, -1.0, 1.0);
        out.score += member.weight * p;
        out.exploit += member.weight * member.ramp.value_or(link.ramp).apply(f, group);
    }
    out.approve = link.exploration.apply(out.exploit);
    return out;
}

RC_GTEST_PROP(Policy, AMixtureIsTheWeightedMeanOfItsMembers, (uint64_t seed)) {
    base::Random random(seed);
    const size_t groups = 1 + random.below(3);
    const LearnedLink link = random_mixture(random, groups);
    const auto policy = Policy::create(example_schema(), {link}, group_names(groups), {});
    RC_ASSERT(policy.has_value());
    RC_ASSERT(policy->group_aware() == (groups > 1));
    for (int i = 0; i < 20; ++i) {
        const auto row = random_row(random);
        const size_t group = random.below(groups);
        const auto out = policy->evaluate(row, group), wanted = brute_force(link, row, group);
        RC_ASSERT(std::abs(out.score - wanted.score) < 1e-12);
        RC_ASSERT(std::abs(out.exploit - wanted.exploit) < 1e-12);
        RC_ASSERT(std::abs(out.approve - wanted.approve) < 1e-12);
    }
}

TEST(Policy, AMixtureOfOneMemberIsThatMember) {
    base::Random random(21);
    LearnedLink link = random_link(random, 2);
    link.ensemble = random_ensemble(random, 40);
    LearnedLink mixed = link;
    mixed.members = {{}};
    for (int i = 0; i < 20; ++i) {
        const auto row = random_row(random);
        const auto out = evaluate({mixed}, row, 1, group_names(2));
        const auto wanted = evaluate({link}, row, 1, group_names(2));
        EXPECT_EQ(out.score, wanted.score);
        EXPECT_EQ(out.exploit, wanted.exploit);
        EXPECT_EQ(out.approve, wanted.approve);
    }
}

/// Every iterate from the first on, all equally likely.
LearnedLink uniform_over_iterates(Ensemble ensemble) {
    LearnedLink link;
    const auto trees = static_cast<uint32_t>(ensemble.trees.size());
    for (uint32_t t = 1; t <= trees; ++t) link.members.push_back({0, t, 1.0 / trees, {}});
    link.ensemble = std::move(ensemble);
    return link;
}

TEST(Policy, WhereAllMembersAgreeTheMixtureIsCertain) {
    // 49 times 1 / 49 is not 1: neither certainty must be missed by rounding
    base::Random random(22);
    LearnedLink link = uniform_over_iterates(random_ensemble(random, 49));
    link.ramp.thresholds = {-2};
    EXPECT_EQ(evaluate({link}).approve, 1);
    link.ramp.thresholds = {2};
    EXPECT_EQ(evaluate({link}).approve, 0);
    const auto down = evaluate({BootstrapLink{"x0", {{0, 1.0}}, 0.5}, link});
    EXPECT_EQ(down.approve, 1);  // certain before it: no room to move
}

TEST(Policy, ItsPropensityIsHowOftenTheRandomizedClassifierApproves) {
    base::Random random(23);
    const LearnedLink link = uniform_over_iterates(random_ensemble(random, 25));
    const Policy policy = Policy::create(example_schema(), {link}, {}, {}).value();
    constexpr int kDraws = 40'000;
    size_t between = 0;
    for (int i = 0; i < 10; ++i) {
        const auto row = random_row(random);
        int approved = 0;
        for (int k = 0; k < kDraws; ++k) {
            const auto trees = 1 + random.below(link.ensemble.trees.size());
            approved += sigmoid(link.ensemble.predict_raw(row, trees)) > 0.5 ? 1 : 0;
        }
        const double q = policy.evaluate(row, {}).approve;
        between += q > 0 && q < 1 ? 1 : 0;
        // five standard deviations
        EXPECT_NEAR(static_cast<double>(approved) / kDraws, q,
                    5 * std::sqrt(q * (1 - q) / kDraws) + 1e-12);
    }
    EXPECT_GT(between, 2u);  // else little was shown
}

TEST(Policy, AMixtureStaysInItsTrustRegionAndExplores) {
    LearnedLink link = constant(0.9);
    link.additional_ensembles = {constant(0.1).ensemble};
    link.members = {{0, 0, 0.25, {}}, {1, 0, 0.75, {}}};
    EXPECT_DOUBLE_EQ(evaluate({link}).score, 0.25 * 0.9 + 0.75 * 0.1);
    EXPECT_EQ(evaluate({link}).approve, 0.25);
    link.exploration = {ExplorationMode::kOneSided, 0.3};
    EXPECT_EQ(evaluate({link}).exploit, 0.25);
    EXPECT_EQ(evaluate({link}).approve, 0.3);
    link.exploration = {};
    link.kappa = 0.2;
    EXPECT_DOUBLE_EQ(evaluate({example_bootstrap(), link}).approve, 0.4);
}

TEST(Policy, MembersBringThresholdsByGroup) {
    LearnedLink link = constant(0.6);  // f = 0.2
    const RampRule high{0, 0, {0.1, 0.3}, {1, 1}}, low{0, 0, {0.1, 0.1}, {1, 1}};
    link.members = {{0, 0, 0.5, high}, {0, 0, 0.25, low}, {0, 0, 0.25, {}}};
    link.ramp.thresholds = {0.9};
    EXPECT_EQ(evaluate({link}, {0, 0, 0, 0}, 0, {"a", "b"}).approve, 0.75);
    EXPECT_EQ(evaluate({link}, {0, 0, 0, 0}, 1, {"a", "b"}).approve, 0.25);
}

// ---- what create refuses

std::string message_of(std::vector<Link> links, std::vector<std::string> names = {},
                       std::map<std::string, std::string> provenance = {}) {
    const auto policy =
        Policy::create(example_schema(), std::move(links), std::move(names), std::move(provenance));
    return policy ? "" : policy.error().message;
}

TEST(Policy, RefusesABrokenLearntLinkAndSaysWhere) {
    struct {
        std::function<void(LearnedLink&)> change;
        const char* in_message;
    } const cases[] = {
        {[](LearnedLink& l) { l.kappa = 0; }, "link 1: kappa 0"},
        {[](LearnedLink& l) { l.kappa = 1.01; }, "kappa 1.01"},
        {[](LearnedLink& l) { l.kappa = NAN; }, "kappa nan"},
        {[](LearnedLink& l) { l.exploration.epsilon = 0.5; }, "epsilon 0.5"},
        {[](LearnedLink& l) { l.exploration.epsilon = -0.1; }, "epsilon -0.1"},
        {[](LearnedLink& l) { l.exploration.epsilon = NAN; }, "epsilon nan"},
        {[](LearnedLink& l) { l.score_slope = INFINITY; }, "slope inf"},
        {[](LearnedLink& l) { l.score_intercept = NAN; }, "intercept nan"},
        {[](LearnedLink& l) { l.ramp.gamma = -1; }, "gamma -1"},
        {[](LearnedLink& l) { l.ramp.gamma = NAN; }, "gamma nan"},
        {[](LearnedLink& l) { l.ramp.offset = 2; }, "offset 2"},
        {[](LearnedLink& l) { l.ramp.thresholds = {NAN}; }, "threshold 0"},
        {[](LearnedLink& l) { l.ramp.thresholds.clear(); }, "0 thresholds"},
        {[](LearnedLink& l) { l.ramp.ties = {1.5}; }, "tie 0 is 1.5"},
        {[](LearnedLink& l) { l.ramp.ties.clear(); }, "0 ties for 1 thresholds"},
        {[](LearnedLink& l) { l.ensemble.base_score = NAN; }, "link 1: base score"},
        {[](LearnedLink& l) { l.ensemble.trees.resize(1); }, "link 1: tree 0: 0 nodes"},
    };
    for (const auto& [change, in_message] : cases) {
        LearnedLink link = constant(0.6);
        change(link);
        EXPECT_THAT(message_of({example_bootstrap(), link}), HasSubstr(in_message));
    }
}

TEST(Policy, RefusesABrokenMixtureAndSaysWhere) {
    struct {
        std::function<void(LearnedLink&)> change;
        const char* in_message;
    } const cases[] = {
        {[](LearnedLink&) {}, ""},
        {[](LearnedLink& l) { l.members[1].ensemble = 2; }, "link 0: member 1: ensemble 2"},
        {[](LearnedLink& l) { l.members[0].trees = 4; }, "the first 4 trees of ensemble 0, which"},
        {[](LearnedLink& l) { l.members[1].trees = 1; }, "first 1 trees of ensemble 1, which"},
        {[](LearnedLink& l) { l.members[0].weight = 0; }, "member 0: weight 0"},
        {[](LearnedLink& l) { l.members[0].weight = -0.5; }, "member 0: weight -0.5"},
        {[](LearnedLink& l) { l.members[0].weight = NAN; }, "member 0: weight nan"},
        {[](LearnedLink& l) { l.members[0].weight = INFINITY; }, "member 0: weight inf"},
        {[](LearnedLink& l) { l.members[0].weight = 0.5 + 1e-8; }, "add up to 1.00000001"},
        {[](LearnedLink& l) { l.members[0].weight = 0.5 - 9e-10; }, ""},
        {[](LearnedLink& l) { l.members.pop_back(); }, "add up to 0.5"},
        {[](LearnedLink& l) { l.members[1].ensemble = 0; }, "ensemble 1 is used by no member"},
        {[](LearnedLink& l) { l.members[0] = l.members[1]; }, "ensemble 0 is used by no member"},
        {[](LearnedLink& l) { l.members.clear(); }, "1 more ensembles and no members"},
        {[](LearnedLink& l) { l.additional_ensembles[0].base_score = NAN; },
         "link 0: ensemble 1: base score"},
        {[](LearnedLink& l) { l.members[1].ramp = RampRule{-1}; }, "member 1: gamma -1"},
        {[](LearnedLink& l) {
             l.members[1].ramp = RampRule{0, 0, {0, 0}, {1, 1}};
         },
         "link 0: member 1 has 2 thresholds for 0 groups"},
    };
    base::Random random(31);
    for (const auto& [change, in_message] : cases) {
        LearnedLink link;
        link.ensemble = random_ensemble(random, 3);
        link.additional_ensembles = {constant(0.3).ensemble};
        link.members = {{0, 2, 0.5, {}}, {1, 0, 0.5, {}}};
        change(link);
        if (*in_message == '\0') {
            EXPECT_EQ(message_of({link}), "");
        } else {
            EXPECT_THAT(message_of({link}), HasSubstr(in_message));
        }
    }
}

TEST(Policy, RefusesMembersWhoseGroupsDiffer) {
    LearnedLink link = constant(0.6);
    link.members = {{0, 0, 0.5, RampRule{0, 0, {0, 0}, {1, 1}}},
                    {0, 0, 0.5, RampRule{0, 0, {0, 0}, {1, 1}}}};
    EXPECT_EQ(message_of({link}, {"a", "b"}), "");
    link.members[1].ramp = RampRule{};  // the same for all rows
    EXPECT_EQ(message_of({link}, {"a", "b"}), "");
    link.members[1].ramp = RampRule{0, 0, {0, 0, 0}, {1, 1, 1}};
    EXPECT_THAT(message_of({link}, {"a", "b"}),
                HasSubstr("member 1 has 3 thresholds for 2 groups"));
    link.members.pop_back();
    link.members[0].weight = 1;
    link.ramp = RampRule{0, 0, {0, 0, 0}, {1, 1, 1}};
    EXPECT_THAT(message_of({link}, {"a", "b"}), HasSubstr("link 0 has 3 thresholds for 2 groups"));
}

TEST(Policy, AMixtureHasLimits) {
    using base::limits::kMaxMembers;
    using base::limits::kMaxTrees;
    LearnedLink link = constant(0.6);
    link.members.assign(kMaxMembers, {0, 0, 1.0 / kMaxMembers, {}});
    EXPECT_EQ(message_of({link}), "");
    link.members.assign(kMaxMembers + 1, {0, 0, 1.0 / (kMaxMembers + 1), {}});
    EXPECT_THAT(message_of({link}), HasSubstr("20001 members"));

    const Tree leaf{{TreeNode{}}, {}};
    link.members = {{0, 0, 0.5, {}}, {1, 0, 0.5, {}}};
    link.ensemble.trees.assign(kMaxTrees / 2, leaf);
    link.additional_ensembles = {link.ensemble};
    EXPECT_EQ(message_of({link}), "");
    link.additional_ensembles[0].trees.push_back(leaf);
    EXPECT_THAT(message_of({link}), HasSubstr("20001 trees in all ensembles"));
}

TEST(Policy, RefusesABrokenBootstrap) {
    EXPECT_EQ(message_of({example_bootstrap()}), "");
    EXPECT_THAT(message_of({BootstrapLink{"age", {{0, 0.5}}, 0.5}}), HasSubstr("'age'"));
    EXPECT_THAT(message_of({BootstrapLink{"c", {{0, 0.5}}, 0.5}}),
                HasSubstr("not a numeric feature"));
    EXPECT_THAT(message_of({BootstrapLink{"x0", {}, 0.5}}), HasSubstr("0 bootstrap points"));
    EXPECT_THAT(message_of({BootstrapLink{"x0", {{0, 0.5}, {0, 0.6}}, 0.5}}),
                HasSubstr("not above"));
    EXPECT_THAT(message_of({BootstrapLink{"x0", {{0, 1.5}}, 0.5}}), HasSubstr("1.5"));
    EXPECT_THAT(message_of({BootstrapLink{"x0", {{NAN, 0.5}}, 0.5}}), HasSubstr("nan"));
    EXPECT_THAT(message_of({BootstrapLink{"x0", {{0, 0.5}}, -1}}), HasSubstr("missing -1"));
    EXPECT_THAT(message_of({constant(0.5), example_bootstrap()}), HasSubstr("only the first"));
}

TEST(Policy, RefusesChainsGroupsAndProvenanceThatDoNotFit) {
    EXPECT_THAT(message_of({}), HasSubstr("0 links"));
    std::vector<Link> links(base::limits::kMaxChainLinks, constant(0.5));
    EXPECT_EQ(message_of(links), "");
    links.emplace_back(constant(0.5));
    EXPECT_THAT(message_of(links), HasSubstr("65 links"));

    LearnedLink aware = constant(0.5);
    aware.ramp.thresholds = {0, 0};
    aware.ramp.ties = {1, 1};
    EXPECT_EQ(message_of({aware}, {"a", "b"}), "");
    EXPECT_EQ(message_of({constant(0.5), aware}, {"a", "b"}), "");
    EXPECT_THAT(message_of({aware}), HasSubstr("2 thresholds for 0 groups"));
    EXPECT_THAT(message_of({aware}, {"a", "b", "c"}), HasSubstr("2 thresholds for 3 groups"));
    EXPECT_THAT(message_of({aware}, {"a", "a"}), HasSubstr("listed twice"));
    EXPECT_THAT(message_of({constant(0.5)}, {"a"}), HasSubstr("no ramp"));

    EXPECT_THAT(message_of({constant(0.5)}, {}, {{"key", "\xff"}}),
                HasSubstr("'key' is not UTF-8"));
    EXPECT_THAT(message_of({constant(0.5)}, {}, {{std::string(129, 'k'), ""}}),
                HasSubstr("129 bytes"));
    EXPECT_FALSE(Policy::create({}, {constant(0.5)}, {}, {}));
}

TEST(Policy, KnowsItsLastLearntLink) {
    base::Random random(1);
    const auto chain = random_policy(random, 3, 1, true);
    EXPECT_EQ(chain.last_learned(), std::get_if<LearnedLink>(&chain.links().back()));
    EXPECT_EQ(random_policy(random, 1, 1, true).last_learned(), nullptr);
}

TEST(Policy, ACopyDecidesLikeTheOriginal) {
    base::Random random(2);
    auto original = std::make_unique<Policy>(random_policy(random, 4, 2, true));
    const Policy copy = *original;
    std::vector<std::pair<std::vector<float>, double>> decided;
    for (int i = 0; i < 20; ++i) {
        const auto row = random_row(random);
        decided.emplace_back(row, original->evaluate(row, 1).approve);
    }
    original.reset();
    for (const auto& [row, p] : decided) EXPECT_EQ(copy.evaluate(row, 1).approve, p);
}

}  // namespace
}  // namespace rampart::model
