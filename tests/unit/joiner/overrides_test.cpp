#include "joined.hpp"
#include "rampart/joiner/join_state.hpp"

namespace rampart::joiner {
namespace {

using domain::Action;
using support::day;
using support::make_decision;
using support::make_outcome;
using OverridesTest = Joined;

TEST_F(OverridesTest, AnExampleKeepsTheDrawAndSaysWhatWasDone) {
    say(make_decision("1", day(0), false));
    say(make_override("1", 0, true, day(1)));
    say(make_outcome("1", "repaid", 0, 1, day(30)));
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    const auto found = examples("repaid", day(kLabelDay));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].decision, make_decision("1", day(0), false));
    EXPECT_EQ(found[0].overridden, make_override("1", 0, true, day(1)));
    EXPECT_EQ(found[0].action_taken(), Action::kApprove);
    EXPECT_EQ(found[0].value, 1.0);
    EXPECT_EQ(joiner->counts().overrides, 1u);
    expect_sound();
}

TEST_F(OverridesTest, TheHighestRevisionCountsWhateverCameFirstAndConflictsAreQuarantined) {
    say(make_decision("1", day(0)));
    say(make_override("1", 2, true, day(3)));
    say(make_override("1", 1, false, day(2)));
    say(make_override("1", 1, false, day(2)));
    say(make_override("1", 1, true, day(2)));
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    EXPECT_EQ(examples("repaid", day(kLabelDay)).at(0).overridden->revision, 2u);
    EXPECT_EQ(joiner->counts().overrides, 2u);
    EXPECT_EQ(joiner->counts().duplicate_outcomes, 1u);
    EXPECT_EQ(joiner->counts().conflicting_outcomes, 1u);
    EXPECT_EQ(joiner->list_quarantined(9)->at(0).reason, "conflicting_override");
}

TEST_F(OverridesTest, TheLatestIsFoundBeforeAnythingMatures) {
    const auto found = [&]() -> std::optional<uint32_t> {
        const auto state = joiner->state_of(domain::DecisionId("d-1")).value();
        const auto* answer = state ? last_answer(*state) : nullptr;
        return answer ? std::optional(answer->revision) : std::nullopt;
    };
    EXPECT_EQ(found(), std::nullopt);
    say(make_decision("1", day(0)));
    EXPECT_EQ(found(), std::nullopt);
    say(make_override("1", 2, true, day(3)));
    say(make_override("1", 1, false, day(2)));
    EXPECT_EQ(found(), 2u);
    say(domain::Erasure{domain::DecisionId("d-1"), day(4)});
    EXPECT_EQ(found(), std::nullopt);
}

TEST_F(OverridesTest, AStateHasAllOfADecisionIdAlsoBeforeItHasArrived) {
    EXPECT_FALSE(joiner->state_of(domain::DecisionId("d-1")).value());
    say(make_override("1", 3, true, day(4)));
    auto state = joiner->state_of(domain::DecisionId("d-1")).value();
    ASSERT_TRUE(state);
    EXPECT_TRUE(state->decision.empty());
    ASSERT_EQ(state->taken.size(), 1u);
    EXPECT_EQ(state->taken[0].revision, 3u);
    say(make_decision("1", day(0)));
    state = joiner->state_of(domain::DecisionId("d-1")).value();
    EXPECT_FALSE(state->decision.empty());
}

TEST_F(OverridesTest, OneThatComesLaterNeverChangesWhatWasKnown) {
    say(make_decision("1", day(0)));
    ASSERT_TRUE(joiner->advance(day(50)));
    const auto then = examples("repaid", day(50));
    say(make_override("1", 0, false, day(2)));  // under way for long
    EXPECT_EQ(examples("repaid", day(50)), then);
    EXPECT_EQ(examples("repaid", day(51)).at(0).action_taken(), Action::kDecline);
}

TEST_F(OverridesTest, AnOutcomeIsOwedWhereTheLoanWasGrantedWhateverWasDrawn) {
    say(make_decision("refused", day(0), true));
    say(make_decision("granted", day(0), false));
    say(make_override("granted", 0, true, day(1)));
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    EXPECT_EQ(joiner->counts().overdue, 2u);
    say(make_override("refused", 0, false, day(1)));
    EXPECT_EQ(joiner->counts().overdue, 1u);
    EXPECT_EQ(joiner->list_overdue(9)->at(0).decision.value(), "d-granted");
    expect_sound();
    say(make_override("refused", 1, true, day(2)));  // withdrawn
    EXPECT_EQ(joiner->counts().overdue, 2u);
    say(make_outcome("granted", "repaid", 0, 1, day(45)));
    say(make_outcome("refused", "repaid", 0, 1, day(45)));
    EXPECT_EQ(joiner->counts().overdue, 0u);
    expect_sound();
}

TEST_F(OverridesTest, OneWithoutItsDecisionDanglesUntilThatComes) {
    say(make_override("1", 0, false, day(1)));
    EXPECT_EQ(joiner->counts().unmatched, 1u);
    const auto unmatched = joiner->list_unmatched(9).value();
    ASSERT_EQ(unmatched.size(), 1u);
    EXPECT_EQ(unmatched[0].overrides.at(0), make_override("1", 0, false, day(1)));
    expect_sound();
    say(make_decision("1", day(0)));
    EXPECT_EQ(joiner->counts().unmatched, 0u);
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    EXPECT_EQ(joiner->counts().overdue, 0u);
    expect_sound();
}

TEST_F(OverridesTest, ThereIsALimit) {
    for (uint32_t revision = 0; revision <= kMaxReports; ++revision) {
        append("outcomes", wire::to_record(make_override("1", revision, true, day(1))));
    }
    poll(*joiner);
    EXPECT_EQ(joiner->counts().overrides, kMaxReports);
    EXPECT_EQ(joiner->list_quarantined(9)->at(0).reason, "too_many_reports");
}

TEST_F(OverridesTest, ACensoredLoanHasNoValueAndIsNotOverdueAndALaterValueCounts) {
    say(make_decision("1", day(0)));
    say(make_decision("2", day(0)));
    say(make_censored("1", "repaid", 0, day(20)));
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    const auto found = examples("repaid", day(kLabelDay));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].value, std::nullopt);
    EXPECT_TRUE(found[0].censored);
    EXPECT_FALSE(found[1].censored);
    EXPECT_EQ(joiner->counts().overdue, 1u);
    say(make_censored("2", "repaid", 0, day(45)));
    EXPECT_EQ(joiner->counts().overdue, 0u);
    say(make_outcome("1", "repaid", 1, 1, day(60)));
    EXPECT_EQ(examples("repaid", day(60)).at(0).value, 1.0);
    EXPECT_FALSE(examples("repaid", day(60)).at(0).censored);
    EXPECT_EQ(joiner->counts().overdue, 0u);
    expect_sound();
}

TEST_F(OverridesTest, ACensoredReportTakesAnEarlierValueBack) {
    say(make_decision("1", day(0)));
    say(make_outcome("1", "repaid", 0, 1, day(20)));
    say(make_censored("1", "repaid", 1, day(21)));
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    EXPECT_EQ(examples("repaid", day(kLabelDay)).at(0).value, std::nullopt);
    EXPECT_TRUE(examples("repaid", day(kLabelDay)).at(0).censored);
    say(make_outcome("1", "repaid", 0, 0, day(30)));  // not a higher revision
    EXPECT_EQ(examples("repaid", day(100)).at(0).value, std::nullopt);
}

}  // namespace
}  // namespace rampart::joiner
