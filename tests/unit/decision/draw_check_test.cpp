#include "rampart/decision/draw_check.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rampart::decision {
namespace {

using base::Duration;
using domain::Decision;

const DrawKey kNow{"key-now", "a secret"}, kRetired{"key-before", "an older secret"};
const CoolOff kCoolOff{"card", 30};

/// Returns a decision as `key` draws it for this person at the end of so many days.
Decision drawn(const DrawKey& key, int person, int day) {
    Decision decision;
    decision.application.id = domain::ApplicationId(fmt::format("a-{}-{}", person, day));
    decision.application.person = domain::PersonId(fmt::format("p-{}", person));
    decision.id = domain::decision_id_of(decision.application.id);
    decision.decided_at = base::TimePoint() + Duration::days(day);
    decision.draw_key_id = key.id;
    decision.draw_window =
        draw_window(key, decision.application.person, kCoolOff, decision.decided_at);
    decision.draw = window_draw(key, decision.application.person, *decision.draw_window);
    return decision;
}

std::string reason(const base::Status& status) { return status ? "" : status.error().reason; }

class DrawCheckTest : public testing::Test {
  protected:
    DrawCheck check{std::vector{kNow, kRetired}};
};

TEST_F(DrawCheckTest, TakesWhatItsKeysDrew) {
    for (int i = 0; i < 500; ++i)
        for (const auto& key : {kNow, kRetired})
            ASSERT_EQ(reason(check.check(drawn(key, i, 17 * i))), "") << i;
    auto by_id = drawn(kNow, 1, 3);
    by_id.draw_window.reset();
    by_id.draw = draw_by_id(kNow, by_id.id);
    EXPECT_EQ(reason(check.check(by_id)), "");
}

TEST_F(DrawCheckTest, RefusesEveryOtherDraw) {
    const auto genuine = drawn(kNow, 1, 40);
    const auto refused = [&](const auto& change) {
        auto decision = genuine;
        change(decision);
        return reason(check.check(decision));
    };
    EXPECT_EQ(refused([](auto& d) { d.draw = std::nextafter(d.draw, 1); }), "foreign_draw");
    EXPECT_EQ(refused([](auto& d) { d.draw = std::nextafter(d.draw, 0); }), "foreign_draw");
    EXPECT_EQ(refused([](auto& d) { d.draw = -0.0; }), "foreign_draw");
    // a draw of another person, of the window beside it, of another product, length or key
    EXPECT_EQ(refused([](auto& d) { d.application.person = domain::PersonId("p-2"); }),
              "foreign_draw");
    EXPECT_EQ(refused([](auto& d) { d.decided_at = d.decided_at + Duration::days(30); }),
              "foreign_draw");
    EXPECT_EQ(refused([](auto& d) { d.draw_window->product = "loan"; }), "foreign_draw");
    EXPECT_EQ(refused([](auto& d) { d.draw_window->cool_off_days = 31; }), "foreign_draw");
    EXPECT_EQ(refused([](auto& d) { d.draw_key_id = kRetired.id; }), "foreign_draw");
    EXPECT_EQ(refused([](auto& d) { d.draw_window.reset(); }), "foreign_draw");
    // the right draw of a window that the person is not in
    EXPECT_EQ(refused([](auto& d) {
                  ++d.draw_window->number;
                  d.draw = window_draw(kNow, d.application.person, *d.draw_window);
              }),
              "foreign_draw");
    EXPECT_EQ(refused([](auto& d) { d.request_id = "another"; }), "") << "no part of the draw";
}

TEST_F(DrawCheckTest, SaysNeitherDrawNorSecret) {
    auto decision = drawn(kNow, 1, 40);
    const auto right = fmt::format("{}", decision.draw);
    decision.draw = 0.5;
    const auto status = check.check(decision);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message.find(right), std::string::npos) << status.error().message;
    EXPECT_EQ(status.error().message.find(kNow.secret), std::string::npos);
}

TEST_F(DrawCheckTest, WhatWasDrawnWithAKeyThatIsNotHereIsPassedAndSaidOnce) {
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    for (int i = 0; i < 300; ++i) {
        EXPECT_TRUE(check.check(drawn({"key-elsewhere", "a third"}, i, i)));
        EXPECT_TRUE(check.check(drawn({fmt::format("key-{}", i), "s"}, i, i)));
    }
    const std::string said =
        testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
    const auto times = [&](const std::string& text) {
        size_t n = 0;
        for (size_t at = 0; (at = said.find(text, at)) != std::string::npos; ++at) ++n;
        return n;
    };
    EXPECT_EQ(times("key=key-elsewhere"), 1u) << said;
    EXPECT_EQ(times("joined without a check"), DrawCheck::kKeysNamed);
    EXPECT_EQ(check.unchecked(), 600u);
    EXPECT_TRUE(check.check(drawn(kNow, 1, 1)));
    EXPECT_EQ(check.unchecked(), 600u) << "its key is here";
}

}  // namespace
}  // namespace rampart::decision
