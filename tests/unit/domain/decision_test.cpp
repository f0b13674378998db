#include "rampart/domain/decision.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "rampart/base/limits.hpp"
#include "rampart/domain/override.hpp"

namespace rampart::domain {
namespace {

Decision approved() {
    Decision d;
    d.id = DecisionId("d1");
    d.application = {ApplicationId("a1"), PersonId("p1"), {}, {}};
    d.policy = PolicyId("policy");
    d.draw_key_id = "key";
    d.score = 0.7;
    d.p_exploit = 0.6;
    d.p_approve = 0.6;
    d.draw = 0.3;
    d.action = Action::kApprove;
    d.propensity = 0.6;
    return d;
}

std::string reason_of(const Decision& d) {
    const auto status = validate(d);
    return status ? "" : status.error().reason;
}

TEST(Decision, AConsistentOneIsAccepted) { EXPECT_EQ(reason_of(approved()), ""); }

TEST(Decision, ThePropensityIsInZeroToOneAndThatOfTheAction) {
    for (const double p : {0.0, -0.1, 1.1, std::nan(""), 0.4}) {
        auto d = approved();
        d.propensity = p;
        EXPECT_EQ(reason_of(d), "bad_propensity") << p;
    }
    auto declined = approved();
    declined.draw = 0.6;
    declined.action = Action::kDecline;
    declined.propensity = 1 - 0.6;
    EXPECT_EQ(reason_of(declined), "");
}

TEST(Decision, TheActionIsWhatTheDrawSays) {
    auto d = approved();
    d.draw = 0.6;  // not below p_approve
    EXPECT_EQ(reason_of(d), "bad_draw");
    d.draw = 1.0;
    EXPECT_EQ(reason_of(d), "bad_draw");
}

TEST(Decision, OneDrawGivesApprovalReferralOrDecline) {
    EXPECT_EQ(drawn_action(0.59, 0.6, 0.3), Action::kApprove);
    EXPECT_EQ(drawn_action(0.6, 0.6, 0.3), Action::kRefer);
    EXPECT_EQ(drawn_action(0.8999, 0.6, 0.3), Action::kRefer);
    EXPECT_EQ(drawn_action(0.9, 0.6, 0.3), Action::kDecline);
    EXPECT_EQ(probability_of(Action::kRefer, 0.6, 0.3), 0.3);
    EXPECT_EQ(probability_of(Action::kDecline, 0.6, 0), 1 - 0.6);
    auto referred = approved();
    referred.p_refer = 0.3;
    EXPECT_EQ(reason_of(referred), "");  // still an approval
    referred.draw = 0.7;
    EXPECT_EQ(reason_of(referred), "bad_draw");
    referred.action = Action::kRefer;
    EXPECT_EQ(reason_of(referred), "bad_propensity");
    referred.propensity = 0.3;
    EXPECT_EQ(reason_of(referred), "");
    for (const double p : {-0.1, 0.5, std::nan("")}) {
        referred.p_refer = p;
        EXPECT_EQ(reason_of(referred), "bad_probability") << p;
    }
}

TEST(Decision, WithSpentExplorationItsProbabilityIsThatWithout) {
    auto d = approved();
    d.exploration_spent = true;
    EXPECT_EQ(reason_of(d), "");
    d.p_exploit = 0.5;
    EXPECT_EQ(reason_of(d), "bad_probability");
}

TEST(Decision, ItsRequestMayHaveAnId) {
    const auto reason_with = [](const std::string& id) {
        auto d = approved();
        d.request_id = id;
        return reason_of(d);
    };
    EXPECT_EQ(reason_with("0af7651916cd43dd8448eb211c80319c"), "");
    EXPECT_EQ(reason_with("a/b+c="), "");
    EXPECT_EQ(reason_with(std::string(128, 'x')), "");
    EXPECT_EQ(reason_with(std::string(129, 'x')), "bad_id");
    EXPECT_EQ(reason_with("a b"), "bad_id");
    EXPECT_EQ(reason_with("a\nb"), "bad_id");
}

TEST(Decision, ItsArmCanBeDrawnAgain) {
    const auto reason_with = [](const Arm& arm) {
        auto d = approved();
        d.arm = arm;
        return reason_of(d);
    };
    EXPECT_EQ(reason_with({"a1", 0, 0, "key"}), "");
    EXPECT_EQ(reason_with({"a1", kMaxArms, 0.5, "key"}), "bad_arm");
    EXPECT_EQ(reason_with({"a1", 1, 1.0, "key"}), "bad_arm");
    EXPECT_EQ(reason_with({"a1", 1, std::nan(""), "key"}), "bad_arm");
    EXPECT_EQ(reason_with({"", 1, 0.5, "key"}), "bad_id");
    EXPECT_EQ(reason_with({"a1", 1, 0.5, ""}), "bad_id");
}

TEST(Override, IsWhatPeopleDid) {
    Override taken{DecisionId("d1"), 0, Action::kDecline, "underwriter-17", "income", {}};
    EXPECT_TRUE(validate(taken));
    taken.action_taken = Action::kRefer;  // opens a review
    EXPECT_TRUE(validate(taken));
    taken.reason = "";
    EXPECT_EQ(validate(taken).error().reason, "bad_id");
}

TEST(Decision, ItsWindowHoldsTheTimeOfTheDecision) {
    const auto reason_with = [](const DrawWindow& window) {
        auto d = approved();
        d.decided_at = base::TimePoint::from_micros(0) + base::Duration::days(-31);
        d.draw_window = window;
        return reason_of(d);
    };
    EXPECT_EQ(reason_with({"card", 30, -2}), "");
    EXPECT_EQ(reason_with({"card", 30, -1}), "");
    EXPECT_EQ(reason_with({"card", 30, -3}), "bad_draw");
    EXPECT_EQ(reason_with({"card", 30, 0}), "bad_draw");
    EXPECT_EQ(reason_with({"card", 1, -31}), "");
    EXPECT_EQ(reason_with({"card", 1, -32}), "bad_draw");
    EXPECT_EQ(reason_with({"card", kMaxCoolOffDays, -1}), "");
    EXPECT_EQ(reason_with({"card", kMaxCoolOffDays + 1, -1}), "bad_draw");
    EXPECT_EQ(reason_with({"card", 0, 0}), "bad_draw");
    EXPECT_EQ(reason_with({"", 30, -1}), "bad_id");
}

TEST(Decision, WindowsAreNumberedFromTheOneThatHolds1970) {
    const auto day = base::Duration::days(1);
    const auto number = [](base::Duration after_1970, base::Duration offset) {
        return window_number(base::TimePoint::from_micros(0) + after_1970, 30, offset);
    };
    EXPECT_EQ(number({}, {}), 0);
    EXPECT_EQ(number(base::Duration::micros(-1), {}), -1);
    EXPECT_EQ(number(base::Duration::days(30), {}), 1);
    EXPECT_EQ(number(base::Duration::days(29), {}), 0);
    EXPECT_EQ(number(base::Duration::days(29), day), 1);
    EXPECT_EQ(number(base::Duration::days(-1), day), 0);
    EXPECT_EQ(number(base::Duration::days(-30), {}), -1);
    EXPECT_EQ(number(base::Duration::days(-31), day), -1);
}

TEST(Decision, WhatCannotBeLoggedAndReadBackIsRefused) {
    namespace limits = base::limits;
    const auto reason_after = [](auto change) {
        auto d = approved();
        change(d);
        return reason_of(d);
    };
    EXPECT_EQ(reason_after([](Decision& d) { d.policy = PolicyId(""); }), "bad_id");
    EXPECT_EQ(reason_after([](Decision& d) { d.draw_key_id = "a b"; }), "bad_id");
    EXPECT_EQ(reason_after([](Decision& d) { d.decided_at = base::kLastTime; }), "");
    EXPECT_EQ(reason_after(
                  [](Decision& d) { d.decided_at = base::kLastTime + base::Duration::micros(1); }),
              "bad_time");
    EXPECT_EQ(reason_after([](Decision& d) { d.reasons.assign(limits::kMaxReasons, "r"); }), "");
    EXPECT_EQ(reason_after([](Decision& d) { d.reasons.assign(limits::kMaxReasons + 1, "r"); }),
              "too_many_reasons");
    EXPECT_EQ(
        reason_after([](Decision& d) { d.reasons = {std::string(limits::kMaxReasonBytes, 'r')}; }),
        "");
    EXPECT_EQ(reason_after(
                  [](Decision& d) { d.reasons = {std::string(limits::kMaxReasonBytes + 1, 'r')}; }),
              "bad_reason");
    EXPECT_EQ(reason_after([](Decision& d) { d.reasons = {""}; }), "bad_reason");
    EXPECT_EQ(reason_after([](Decision& d) { d.reasons = {"\xff"}; }), "bad_reason");
}

TEST(Decision, ProbabilitiesAreProbabilities) {
    for (double Decision::*field : {&Decision::score, &Decision::p_exploit, &Decision::p_approve}) {
        auto d = approved();
        d.*field = std::nan("");
        EXPECT_EQ(reason_of(d), "bad_probability");
    }
}

}  // namespace
}  // namespace rampart::domain
