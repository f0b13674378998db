#include "rampart/wire/decision_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "records.hpp"

namespace rampart::wire {
namespace {

using namespace testing;

TEST(DecisionJson, WhatIsWrittenIsReadBackBitForBit) {
    EXPECT_EQ(decision_from_json(to_json(sample_decision())), sample_decision());
    EXPECT_EQ(decision_from_json(to_json(sample_window_decision())), sample_window_decision());
    const std::vector batch{sample_decision(), sample_window_decision(),
                            sample_referred_decision()};
    EXPECT_EQ(decisions_from_json(to_json(batch)), batch);
}

TEST(DecisionJson, EveryMemberStandsUnderItsOwnName) {
    auto decision = sample_decision();
    decision.application.features = {{"age", 41.5}};
    EXPECT_EQ(to_json(decision),
              R"({"decision_id":")" + decision.id.value() +
                  R"(","action":"decline","decided_at":"2005-04-01T10:00:01Z","policy_id":")" +
                  std::string(64, 'a') +
                  R"(","certified":true,"score":0.30000000000000004,"p_exploit":0.25,)"
                  R"("p_approve":0.3,"draw":0.6666666666666666,)"
                  R"("draw_key_id":"0123456789abcdef","propensity":0.7,"explored":false,)"
                  R"("reasons":["feature.age","random_draw_in_ramp"],)"
                  R"("application":{"application_id":"a-1","person_id":"p-1",)"
                  R"("event_time":"2005-04-01T10:00:00.250000Z","features":{"age":41.5}}})");
}

TEST(DecisionJson, TheWindowOfTheDrawIsAnObjectOfItsOwn) {
    const std::string window =
        R"("draw_window":{"product":"card","cool_off_days":30,"number":429},)";
    const std::string json = to_json(sample_window_decision());
    const size_t at = json.find(window);
    ASSERT_NE(at, std::string::npos) << json;
    const auto error_with = [&](std::string_view old, std::string_view changed) {
        std::string text = json;
        text.replace(text.find(old), old.size(), changed);
        const auto read = decision_from_json(text);
        return read ? std::string() : read.error().reason + ": " + read.error().message;
    };
    EXPECT_THAT(error_with("429", "429.5"),
                ::testing::StartsWith("number_out_of_range: draw_window.number: 429.5"));
    EXPECT_THAT(error_with("429", "1e300"), ::testing::StartsWith("number_out_of_range"));
    EXPECT_THAT(error_with("429", "431"), ::testing::StartsWith("bad_draw"));
    EXPECT_THAT(error_with(":30,", ":4000,"), ::testing::StartsWith("bad_draw"));
    EXPECT_THAT(error_with(R"("cool_off_days":30,)", ""), ::testing::StartsWith("bad_draw"));
    EXPECT_THAT(error_with("429", "429,\"x\":1"), ::testing::StartsWith("unknown_member"));
    EXPECT_EQ(error_with(window, ""), "");
}

TEST(DecisionJson, ReferralArmAndSpentExplorationAreToldWhereThereAreSome) {
    EXPECT_EQ(to_json(sample_window_decision()).find("arm"), std::string::npos);
    const auto json = to_json(sample_referred_decision());
    EXPECT_THAT(json,
                ::testing::HasSubstr(
                    R"("p_refer":0.5,"exploration_spent":true,"arm":{"assignment":)"
                    R"("challenge-2026","number":1,"draw":0.75,"key_id":"fedcba9876543210"})"));
    EXPECT_THAT(json, ::testing::HasSubstr(R"("action":"refer")"));
}

TEST(DecisionJson, TheIdOfItsRequestIsThereIfItIsKnown) {
    auto decision = sample_decision();
    EXPECT_EQ(to_json(decision).find("request_id"), std::string::npos);
    decision.request_id = "a/b+c=";
    EXPECT_THAT(to_json(decision), ::testing::HasSubstr(R"("request_id":"a/b+c=",)"));
    EXPECT_EQ(decision_from_json(to_json(decision)), decision);
}

TEST(DecisionJson, UnseenCategoriesAreToldAndNoPartOfTheDecision) {
    const std::vector<std::string> unseen{"job", "say \"x\""};
    const auto json = to_json(sample_decision(), unseen);
    EXPECT_THAT(json, ::testing::EndsWith(R"(,"unseen_categories":["job","say \"x\""]})"));
    EXPECT_EQ(decision_from_json(json), sample_decision());
}

TEST(DecisionJson, ADecisionThatContradictsItselfIsRefused) {
    auto decision = sample_decision();
    decision.propensity = 0.5;
    const auto read = decision_from_json(to_json(decision));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().reason, "bad_propensity");
}

TEST(DecisionJson, AnUnknownActionIsNamed) {
    std::string json = to_json(sample_decision());
    json.replace(json.find("\"decline\""), 9, "\"perhaps\"");
    const auto read = decision_from_json(json);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().reason, "bad_action");
    EXPECT_NE(read.error().message.find("'perhaps'"), std::string::npos);
}

TEST(DecisionJson, AReasonThatIsNoTextIsNamed) {
    std::string json = to_json(sample_decision());
    json.replace(json.find("\"feature.age\""), 13, "7");
    const auto read = decision_from_json(json);
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message.find("reasons[0]"), std::string::npos) << read.error().message;
}

RC_GTEST_PROP(DecisionJson, AnyPropensityKeepsItsBits, ()) {
    auto decision = sample_decision();
    decision.p_approve = *rc::gen::inRange<uint64_t>(0, 1ull << 52) * 0x1p-54;  // below the draw
    decision.propensity = 1 - decision.p_approve;
    RC_ASSERT(decision_from_json(to_json(decision)) == decision);
}

}  // namespace
}  // namespace rampart::wire
