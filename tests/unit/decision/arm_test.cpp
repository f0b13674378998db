#include "rampart/decision/arm.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "rampart/decision/draw.hpp"

namespace rampart::decision {
namespace {

using domain::PersonId;
using domain::PolicyId;

const ArmKey kKey{"arm-1", "an arm secret"};

domain::Assignment sample() {
    return {"challenge-1",
            base::TimePoint(),
            {{PolicyId("champion"), 0.7}, {PolicyId("one"), 0.2}, {PolicyId("two"), 0.1}}};
}

TEST(Arm, TheDrawIsThatOfOtherCodeBitForBit) {
    // computed with Python's hmac and struct
    EXPECT_EQ(arm_draw(kKey, PersonId("p-1"), "challenge-1"), 0.03667189477765165);
    EXPECT_EQ(arm_draw(kKey, PersonId("p-2"), "challenge-1"), 0.5279858285737511);
    EXPECT_NE(arm_draw(kKey, PersonId("p-1"), "challenge-2"), 0.03667189477765165);
    EXPECT_NE(arm_draw({"arm-1", "another"}, PersonId("p-1"), "challenge-1"), 0.03667189477765165);
}

TEST(Arm, FollowsFromTheSharesAddedUp) {
    const auto assignment = sample();
    EXPECT_EQ(arm_of(assignment, 0), 0u);
    EXPECT_EQ(arm_of(assignment, std::nextafter(0.7, 0)), 0u);
    EXPECT_EQ(arm_of(assignment, 0.7), 1u);
    EXPECT_EQ(arm_of(assignment, 0.8999), 1u);
    EXPECT_EQ(arm_of(assignment, 0.9001), 2u);
    EXPECT_EQ(arm_of(assignment, std::nextafter(1, 0)), 2u)
        << "the last takes what rounding leaves";
    auto thirds = assignment;
    for (auto& arm : thirds.arms) arm.share = 1.0 / 3;
    EXPECT_EQ(arm_of(thirds, std::nextafter(1, 0)), 2u);
}

TEST(Arm, PersonsAreInArmsByTheirSharesAndStayThere) {
    const auto assignment = sample();
    constexpr int kPersons = 20'000;
    std::array<int, 3> count{};
    for (int i = 0; i < kPersons; ++i) {
        const PersonId person(fmt::format("p{}", i));
        const auto arm = arm_for(kKey, assignment, person);
        EXPECT_EQ(arm, arm_for(kKey, assignment, person));
        ++count.at(arm.number);
    }
    for (size_t k = 0; k < 3; ++k) {
        const double share = assignment.arms[k].share;
        EXPECT_NEAR(count[k], kPersons * share, 4 * std::sqrt(kPersons * share * (1 - share)));
    }
}

TEST(Arm, ReplayNoticesAnotherArmPolicyOrPerson) {
    const auto assignment = sample();
    domain::Decision good;
    good.application.person = PersonId("p-1");
    good.arm = arm_for(kKey, assignment, good.application.person);
    good.policy = assignment.arms[good.arm->number].policy;
    ASSERT_TRUE(replay_arm(good, assignment, kKey));
    const auto reason_after = [&](auto change) {
        auto changed = good;
        change(changed);
        const auto status = replay_arm(changed, assignment, kKey);
        return status ? "" : status.error().reason;
    };
    using domain::Decision;
    EXPECT_EQ(reason_after([](Decision& d) { d.arm->number = 1 + d.arm->number; }),
              "replay_mismatch");
    EXPECT_EQ(reason_after([](Decision& d) { d.arm->draw = std::nextafter(d.arm->draw, 1); }),
              "replay_mismatch");
    EXPECT_EQ(reason_after([](Decision& d) { d.application.person = PersonId("p-2"); }),
              "replay_mismatch");
    EXPECT_EQ(reason_after([](Decision& d) { d.policy = PolicyId("three"); }), "other_policy");
    EXPECT_EQ(reason_after([](Decision& d) { d.arm->key_id = "arm-2"; }), "other_key");
    EXPECT_EQ(reason_after([](Decision& d) { d.arm->assignment = "x"; }), "other_assignment");
    EXPECT_EQ(reason_after([](Decision& d) { d.arm.reset(); }), "other_assignment");
}

}  // namespace
}  // namespace rampart::decision
