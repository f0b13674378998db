#include "rampart/decision/decider.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>

#include "policies.hpp"
#include "rampart/decision/chance_codes.hpp"
#include "rampart/decision/encode.hpp"

namespace rampart::decision {
namespace {

using namespace testing;
using domain::Action;
using domain::Decision;

const DrawKey kKey{"key-1", "a secret"};
const CoolOff kCoolOff{"card", 30};

std::shared_ptr<const PolicyInForce> in_force(std::shared_ptr<const model::LoadedPolicy> loaded,
                                              bool certified = true) {
    auto made = PolicyInForce::create(std::move(loaded), certified);
    EXPECT_TRUE(made) << made.error().message;
    return *made;
}

Decision decide_one(const PolicyInForce& policy, const domain::Application& application,
                    bool explore_allowed = true, const char* when = "2005-04-02") {
    const auto row = encode_row(application, policy.policy().schema()).value();
    const auto decision = decide(policy, application, row, {}, kKey, kCoolOff, explore_allowed,
                                 base::parse_iso8601(when).value());
    EXPECT_TRUE(decision) << decision.error().message;
    return *decision;
}

model::LearnedLink exploring(model::ExplorationMode mode, double epsilon) {
    auto link = sample_link();
    link.exploration = {mode, epsilon};
    return link;
}

TEST(Decide, WritesDownAllThatAReplayNeeds) {
    const auto policy = in_force(bootstrap(), false);
    const auto application = sample_application();
    const auto decision = decide_one(*policy, application);
    EXPECT_EQ(decision.id, domain::decision_id_of(application.id));
    EXPECT_EQ(decision.application, application);
    EXPECT_EQ(base::to_iso8601(decision.decided_at), "2005-04-02T00:00:00Z");
    EXPECT_EQ(decision.policy, policy->id());
    EXPECT_FALSE(decision.certified);
    EXPECT_EQ(decision.score, 0.5);
    EXPECT_EQ(decision.p_approve, (41.0 - 20) / 40);
    const auto window = draw_window(kKey, application.person, kCoolOff, decision.decided_at);
    EXPECT_EQ(decision.draw_window, window);
    EXPECT_EQ(decision.draw, window_draw(kKey, application.person, window));
    EXPECT_EQ(decision.draw_key_id, "key-1");
    EXPECT_TRUE(domain::validate(decision));
}

TEST(Decide, WhatPeopleDecideIsAReferralThatReplaysWithThePolicysOwnScore) {
    const auto policy = in_force(
        learned(exploring(model::ExplorationMode::kOneSided, 0.2), against({60, 2000, 0})));
    for (const bool explores : {true, false}) {
        for (int i = 0; i < 50; ++i) {
            auto application = sample_application(fmt::format("a-{}", i));
            application.features[0].value = 18.0 + i;
            const auto decided = decide_one(*policy, application, explores);
            auto referred = decided;
            refer_to_people(referred);
            EXPECT_TRUE(domain::validate(referred));
            EXPECT_EQ(referred.action, Action::kRefer);
            EXPECT_EQ(referred.p_refer, 1);
            EXPECT_EQ(referred.propensity, 1);
            EXPECT_EQ(referred.score, decided.score);
            EXPECT_EQ(referred.p_exploit, decided.p_exploit);
            EXPECT_EQ(referred.draw, decided.draw) << "it is still the first of its window";
            const auto status = replay(referred, *policy, kKey, std::nullopt);
            EXPECT_TRUE(status) << status.error().message;
            auto other = referred;
            other.score = std::nextafter(other.score, 2);
            EXPECT_FALSE(replay(other, *policy, kKey, std::nullopt));
            other = referred;
            other.reasons = {"x"};
            EXPECT_FALSE(replay(other, *policy, kKey, std::nullopt));
            // a referral of some, which no policy makes
            other = referred;
            other.p_refer = 1 - other.draw / 2;
            other.p_approve = other.draw / 2;
            other.propensity = other.p_refer;
            EXPECT_FALSE(replay(other, *policy, kKey, std::nullopt));
        }
    }
}

RC_GTEST_PROP(Decide, EveryDecisionIsConsistentAndReplays, (uint32_t number)) {
    const auto mode =
        *rc::gen::element(model::ExplorationMode::kNone, model::ExplorationMode::kOneSided,
                          model::ExplorationMode::kTwoSided);
    const auto policy = in_force(learned(exploring(mode, 0.2), against({60, 2000, 0})));
    auto application = sample_application(fmt::format("a-{}", number));
    application.features[0].value = static_cast<double>(*rc::gen::inRange(18, 90));
    const bool allowed = *rc::gen::arbitrary<bool>();
    const auto decision = decide_one(*policy, application, allowed);
    RC_ASSERT(domain::validate(decision).has_value());
    RC_ASSERT((decision.action == Action::kApprove) == (decision.draw < decision.p_approve));
    RC_ASSERT(decision.explored ==
              (decision.action == Action::kApprove && decision.draw >= decision.p_exploit));
    if (decision.action == Action::kApprove) RC_ASSERT(decision.reasons.empty());
    RC_ASSERT(!names_features(decision.reasons));
    if (!allowed) RC_ASSERT(decision.p_approve == decision.p_exploit);
    RC_ASSERT(replay(decision, *policy, kKey, std::nullopt).has_value());
}

TEST(Decide, WhoAppliesAgainInTheWindowHasTheSameDraw) {
    const auto policy = in_force(bootstrap(), false);
    const auto first = decide_one(*policy, sample_application());
    auto again = sample_application("a-2");
    again.person = first.application.person;
    again.event_time = again.event_time + base::Duration::days(20);  // the client's word
    again.features[0].value = 35.0;
    const auto second = decide_one(*policy, again, true, "2005-04-03");
    EXPECT_NE(second.id, first.id);
    EXPECT_NE(second.p_approve, first.p_approve);
    EXPECT_EQ(second.draw_window, first.draw_window);
    EXPECT_EQ(second.draw, first.draw);
    EXPECT_TRUE(replay(second, *policy, kKey, std::nullopt));
    const auto later = decide_one(*policy, again, true, "2005-05-03");
    EXPECT_EQ(later.draw_window->number, first.draw_window->number + 1);
    EXPECT_NE(later.draw, first.draw);
    EXPECT_NE(decide_one(*policy, sample_application("a-3")).draw, first.draw);
}

TEST(Decide, ApprovesAsOftenAsItSays) {
    const auto policy = in_force(bootstrap(), false);
    int approved = 0;
    double expected = 0;
    for (int i = 0; i < 4000; ++i) {
        auto application = sample_application(fmt::format("a-{}", i));
        const auto decision = decide_one(*policy, application);
        approved += decision.action == Action::kApprove;
        expected += decision.p_approve;
    }
    EXPECT_NEAR(approved, expected, 4 * std::sqrt(4000 * 0.25));  // four standard deviations
}

TEST(Decide, AMixtureIsDrawnFromByOneDrawAndExplainedByItsFirstEnsemble) {
    auto link = sample_link();  // raw: -1 after the first tree, 1 after both
    link.ramp = {};
    link.additional_ensembles = {{5, {}}};
    link.members = {{0, 1, 0.5, {}}, {0, 0, 0.125, {}}, {1, 0, 0.125, {}}, {0, 1, 0.25, {}}};
    const auto policy = in_force(learned(link, against({60, 2000, 0})));
    constexpr int kDecisions = 4000;
    int approved = 0;
    for (int i = 0; i < kDecisions; ++i) {
        const auto decision = decide_one(*policy, sample_application(fmt::format("m-{}", i)));
        ASSERT_EQ(decision.p_approve, 0.25);
        const bool approve = decision.action == Action::kApprove;
        ASSERT_EQ(decision.propensity, approve ? 0.25 : 0.75);
        ASSERT_TRUE(replay(decision, *policy, kKey, std::nullopt));
        approved += approve ? 1 : 0;
        if (!approve) {
            ASSERT_EQ(decision.reasons, (std::vector<std::string>{"random_draw_in_ramp"}));
        }
    }
    EXPECT_NEAR(approved, 0.25 * kDecisions, 5 * std::sqrt(0.25 * 0.75 * kDecisions));
}

TEST(Decide, AScoreWithLevelsIsDrawnByTheDrawThatDecides) {
    auto link = sample_link();
    link.ensemble = {0.8, {}};
    link.additional_ensembles = {{0.4, {}}, {}};
    link.linears = {{0.1, {0.0025, 0, 0}, {0, 0, 0}, {{}, {}, {0, 0, 0}}}};  // 0.2025 at age 41
    link.members = {{0, 0, 0.25, {}}, {1, 0, 0.25, {}}, {2, 0, 0.5, {}, 1}};
    link.scale = {model::ScoreScale::Kind::kUnit, 40};
    link.score_slope = -2, link.score_intercept = 1;  // low risk is approved: at most 0.5
    const auto step = model::numbers_of({false, 0.5}, 40).value();
    link.ramp = {0, 0, {step.threshold}, {step.tie}};
    const auto policy = in_force(learned(link));
    constexpr int kDecisions = 4000;
    std::map<double, int> drawn;
    for (int i = 0; i < kDecisions; ++i) {
        const auto decision = decide_one(*policy, sample_application(fmt::format("s-{}", i)));
        ASSERT_EQ(decision.p_approve, 0.75);
        ASSERT_EQ(decision.action == Action::kApprove, decision.score <= 0.5);
        ASSERT_TRUE(replay(decision, *policy, kKey, std::nullopt));
        ++drawn[decision.score];
    }
    ASSERT_EQ(drawn.size(), 3u);
    const double room = 5 * std::sqrt(0.25 * kDecisions);
    EXPECT_NEAR(drawn[0.2125], 0.5 * kDecisions, room);
    EXPECT_NEAR(drawn[0.4125], 0.25 * kDecisions, room);
    EXPECT_NEAR(drawn[0.8125], 0.25 * kDecisions, room);
}

TEST(Decide, OneSidedExplorationApprovesBelowTheCutOnly) {
    const auto policy = in_force(learned(exploring(model::ExplorationMode::kOneSided, 0.25)));
    auto poor = sample_application();
    poor.features[0].value = 30.0;
    poor.features[1].value = 10.0;
    EXPECT_EQ(decide_one(*policy, poor).p_exploit, 0);
    EXPECT_EQ(decide_one(*policy, poor).p_approve, 0.25);
    EXPECT_EQ(decide_one(*policy, poor, false).p_approve, 0);
    EXPECT_EQ(decide_one(*policy, poor, false).propensity, 1);
    auto good = sample_application();
    good.features[0].value = 60.0;
    good.features[1].value = 5000.0;
    EXPECT_EQ(decide_one(*policy, good).p_approve, 1);
    EXPECT_EQ(decide_one(*policy, good).action, Action::kApprove);
}

TEST(Decide, AGroupAwarePolicyWantsAGroup) {
    auto link = sample_link();
    link.ramp.thresholds = {0.5, -0.5};
    link.ramp.ties = {1, 1};
    const auto policy = in_force(load({link}, {"a", "b"}));
    const auto application = sample_application();
    const auto row = encode_row(application, policy->policy().schema()).value();
    const auto with = [&](std::optional<size_t> group) {
        return decide(*policy, application, row, group, kKey, kCoolOff, true, {});
    };
    EXPECT_EQ(with(std::nullopt).error().reason, "group_unknown");
    EXPECT_EQ(with(2).error().reason, "bad_group");
    EXPECT_LT(with(0)->p_approve, with(1)->p_approve);
}

TEST(Decide, ARowOfAnotherSchemaIsRefused) {
    const auto policy = in_force(bootstrap(), false);
    const std::vector<float> row(2);
    EXPECT_EQ(
        decide(*policy, sample_application(), row, {}, kKey, kCoolOff, true, {}).error().reason,
        "bad_row");
}

TEST(PolicyInForce, ALearntPolicyWantsACertificate) {
    const auto refused = PolicyInForce::create(learned(), false);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "uncertified_policy");
    EXPECT_TRUE(PolicyInForce::create(bootstrap(), false));
}

TEST(Replay, NoticesEveryChange) {
    const auto policy = in_force(
        learned(exploring(model::ExplorationMode::kTwoSided, 0.1), against({60, 2000, 0})));
    const auto good = decide_one(*policy, sample_application());
    ASSERT_TRUE(replay(good, *policy, kKey, std::nullopt));
    const auto reason_after = [&](auto change) {
        auto changed = good;
        change(changed);
        const auto status = replay(changed, *policy, kKey, std::nullopt);
        return status ? std::string("same") : status.error().reason;
    };
    const auto up = [](double& x) { x = std::nextafter(x, 2); };
    EXPECT_EQ(reason_after([](Decision& d) { d.request_id = "r-7"; }), "same");
    EXPECT_EQ(reason_after([&](Decision& d) { up(d.score); }), "replay_mismatch");
    EXPECT_EQ(reason_after([&](Decision& d) { up(d.p_exploit); }), "replay_mismatch");
    EXPECT_EQ(reason_after([&](Decision& d) { up(d.p_approve); }), "replay_mismatch");
    EXPECT_EQ(reason_after([&](Decision& d) { up(d.draw); }), "replay_mismatch");
    EXPECT_EQ(reason_after([&](Decision& d) { up(d.propensity); }), "replay_mismatch");
    EXPECT_EQ(reason_after([](Decision& d) { ++d.draw_window->number; }), "replay_mismatch");
    EXPECT_EQ(reason_after([](Decision& d) { d.draw_window->product += "2"; }), "replay_mismatch");
    EXPECT_EQ(reason_after([](Decision& d) { ++d.draw_window->cool_off_days; }), "replay_mismatch");
    EXPECT_EQ(reason_after([](Decision& d) { d.draw_window.reset(); }), "replay_mismatch");
    EXPECT_EQ(reason_after([](Decision& d) { d.application.person = domain::PersonId("p-2"); }),
              "replay_mismatch");
    EXPECT_EQ(reason_after([](Decision& d) { d.explored = !d.explored; }), "replay_mismatch");
    EXPECT_EQ(reason_after([](Decision& d) { d.reasons.push_back("x"); }), "replay_mismatch");
    EXPECT_EQ(reason_after([](Decision& d) { d.id = domain::DecisionId("d1"); }),
              "replay_mismatch");
    EXPECT_EQ(reason_after([](Decision& d) { d.application.features[0].value = 70.0; }),
              "replay_mismatch");
    EXPECT_EQ(reason_after([](Decision& d) { d.policy = domain::PolicyId("x"); }), "other_policy");
    EXPECT_EQ(reason_after([](Decision& d) { d.draw_key_id = "x"; }), "other_key");
    EXPECT_EQ(replay(good, *policy, {"key-1", "another secret"}, std::nullopt).error().reason,
              "replay_mismatch");
}

TEST(Replay, ADecisionOfAnEarlierSchemaIsTheSameUnderALaterOne) {
    const auto policy = in_force(bootstrap(), false);
    const auto old = decide_one(*policy, sample_application());
    auto specs = sample_schema().features();
    specs.push_back({"tenure", dataset::FeatureKind::kNumeric, {}});
    std::vector<dataset::FeatureTerms> terms(specs.size());
    terms[3].absent = 1.0;
    const auto served = dataset::ServedSchema::create(
                            dataset::FeatureSchema::create(std::move(specs)).value(), terms)
                            .value();
    EXPECT_TRUE(replay(old, *policy, kKey, {}, served));
    auto application = sample_application("a-2");
    application.features.push_back({"tenure", 7.0});
    const auto row = encode_row(application, policy->policy().schema(), served).value();
    const auto later = decide(*policy, application, row, {}, kKey, kCoolOff, true,
                              base::parse_iso8601("2005-04-02").value())
                           .value();
    EXPECT_EQ(later.application, application) << "the log has what the policy does not know";
    EXPECT_TRUE(replay(later, *policy, kKey, {}, served));
    EXPECT_EQ(replay(later, *policy, kKey, {}).error().reason, "unknown_feature");
}

TEST(Replay, TheCodesOfAnEarlierReleaseAreComparedWithThoseThatItGave) {
    const auto policy = in_force(bootstrap(), false);
    size_t declined = 0;
    for (int i = 0; i < 20; ++i) {
        auto old = decide_one(*policy, sample_application(fmt::format("old-{}", i)));
        if (old.action != Action::kDecline) continue;
        ++declined;
        EXPECT_EQ(old.reasons, std::vector<std::string>{"random_draw_in_ramp"});
        old.reasons.insert(old.reasons.begin(), "feature.age");
        EXPECT_TRUE(replay(old, *policy, kKey, std::nullopt));
        for (const auto* other : {"feature.income", "score_too_low"}) {
            old.reasons[0] = other;
            EXPECT_EQ(replay(old, *policy, kKey, std::nullopt).error().reason, "replay_mismatch");
        }
        old.reasons = {"feature.age"};
        EXPECT_EQ(replay(old, *policy, kKey, std::nullopt).error().reason, "replay_mismatch");
    }
    EXPECT_GT(declined, 0u);
}

TEST(Replay, ADecisionFromBeforeThereWereWindowsKeepsItsDraw) {
    const auto policy = in_force(bootstrap(), false);
    Decision old = decide_one(*policy, sample_application());
    old.draw_window.reset();
    old.draw = 0.09171757059668983;  // HMAC of the decision's id, by Python
    old.action = Action::kApprove;
    old.propensity = old.p_approve;
    old.reasons.clear();
    ASSERT_TRUE(domain::validate(old)) << domain::validate(old).error().message;
    EXPECT_TRUE(replay(old, *policy, kKey, std::nullopt));
    auto changed = old;
    changed.draw = std::nextafter(old.draw, 1);
    EXPECT_EQ(replay(changed, *policy, kKey, std::nullopt).error().reason, "replay_mismatch");
    changed = old;
    changed.draw_window = draw_window(kKey, old.application.person, kCoolOff, old.decided_at);
    EXPECT_EQ(replay(changed, *policy, kKey, std::nullopt).error().reason, "replay_mismatch");
}

}  // namespace
}  // namespace rampart::decision
