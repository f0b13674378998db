// Open reviews: drawn referrals without an answer, and decisions that people refer to people.
#include "joined.hpp"
#include "rampart/joiner/join_state.hpp"

namespace rampart::joiner {
namespace {

using domain::Action;
using domain::DecisionId;
using support::day;
using support::make_decision;
using support::make_outcome;

domain::Override make_review(const std::string& name, uint32_t revision, base::TimePoint at,
                             const std::string& reason = "contested") {
    return {DecisionId("d-" + name), revision, Action::kRefer, "branch-7", reason, at};
}

domain::Decision make_referral(const std::string& name, base::TimePoint time) {
    auto decision = make_decision(name, time, false);
    decision.p_approve = 0;
    decision.p_refer = decision.propensity = 1;
    decision.action = Action::kRefer;
    return decision;
}

class Reviews : public Joined {
  protected:
    std::vector<std::string> listed(size_t limit = 9,
                                    const std::optional<ReviewPlace>& after = {}) const {
        std::vector<std::string> names;
        const auto reviews = joiner->list_reviews(limit, after).value();
        for (const auto& one : reviews) names.push_back(one.decision.value());
        return names;
    }
    using Names = std::vector<std::string>;
};

TEST_F(Reviews, AReviewIsOpenFromItsFirstWordToTheNextAnswer) {
    say(make_decision("1", day(0), false));
    EXPECT_EQ(joiner->review_queue()->open, 0u);
    say(make_review("1", 0, day(2)));
    say(make_review("1", 1, day(5), "more_papers"));
    const OpenReview expected{DecisionId("d-1"), day(2), false, "branch-7", "more_papers"};
    EXPECT_EQ(joiner->list_reviews(9).value(), std::vector{expected});
    EXPECT_EQ(joiner->review_queue()->open, 1u);
    EXPECT_EQ(joiner->review_queue()->oldest, day(2));
    expect_sound();
    say(make_override("1", 2, false, day(6)));
    EXPECT_EQ(listed(), Names{});
    EXPECT_EQ(joiner->review_queue()->oldest, std::nullopt);
    expect_sound();
    say(make_review("1", 3, day(7)));
    EXPECT_EQ(joiner->list_reviews(9)->at(0).since, day(7)) << "a second one has its own begin";
    expect_sound();
}

TEST_F(Reviews, AReferralIsOpenFromItsDecisionOnUntilPeopleHaveAnswered) {
    say(make_referral("1", day(3)));
    const OpenReview expected{DecisionId("d-1"), day(3), true, "", ""};
    EXPECT_EQ(joiner->list_reviews(9).value(), std::vector{expected});
    ASSERT_TRUE(joiner->advance(day(kLabelDay + 9)));
    EXPECT_EQ(listed(), Names{"d-1"}) << "also when it has matured";
    say(make_override("1", 0, true, day(60)));
    EXPECT_EQ(listed(), Names{});
    say(make_review("1", 1, day(61)));
    EXPECT_FALSE(joiner->list_reviews(9)->at(0).referred) << "it was answered";
    expect_sound();
}

TEST_F(Reviews, TheyAreListedOldestFirstOverAllPartitionsAPageAtATime) {
    for (int i = 0; i < 7; ++i) say(make_referral(std::to_string(i), day(10 - i)));
    const Names all = listed();
    EXPECT_EQ(all, (Names{"d-6", "d-5", "d-4", "d-3", "d-2", "d-1", "d-0"}));
    Names paged;
    std::optional<ReviewPlace> after;
    while (true) {
        const auto page = joiner->list_reviews(2, after).value();
        if (page.empty()) break;
        for (const auto& one : page) paged.push_back(one.decision.value());
        after = ReviewPlace{page.back().since, page.back().decision.value()};
    }
    EXPECT_EQ(paged, all);
}

TEST_F(Reviews, WhatComesInAnyOrderIsTheSameQueueAndTheSameHash) {
    say(make_override("1", 1, true, day(4)));  // before the review that it answers
    say(make_review("2", 0, day(3)));          // before its decision
    EXPECT_EQ(listed(), Names{});
    say(make_decision("1", day(0), false));
    say(make_decision("2", day(0), false));
    say(make_review("1", 0, day(2)));
    EXPECT_EQ(listed(), Names{"d-2"});
    expect_sound();
    const auto again_in = fresh_folder();
    {
        const auto again = open(again_in);  // reads the log anew, decisions first
        poll(*again);
        EXPECT_EQ(again->state_hash(), joiner->state_hash());
        EXPECT_EQ(again->list_reviews(9).value(), joiner->list_reviews(9).value());
    }
    std::filesystem::remove_all(again_in);
}

TEST_F(Reviews, TheyLastOverARestart) {
    say(make_decision("1", day(0), false));
    say(make_review("1", 0, day(2)));
    joiner.reset();
    joiner = open(folder);
    EXPECT_EQ(listed(), Names{"d-1"});
}

TEST_F(Reviews, OneIsNoAnswerToWhatIsReadOfTheDecision) {
    say(make_decision("1", day(0)));
    say(make_override("1", 0, false, day(1)));
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    const auto rows = [&] {
        std::vector<std::pair<Action, base::TimePoint>> taken;
        EXPECT_TRUE(joiner->rows(day(0), day(1), RowPart::kAll, [&](const DecisionRow& row) {
            for (const auto& one : row.taken) taken.emplace_back(one.action, one.known_at);
            return base::ok();
        }));
        return taken;
    };
    const auto before = examples("repaid", day(kLabelDay));
    const auto rows_before = rows();
    say(make_review("1", 1, day(2)));
    EXPECT_EQ(examples("repaid", day(kLabelDay)), before);
    EXPECT_EQ(rows(), rows_before);
    EXPECT_EQ(joiner->counts().overdue, 0u) << "declined by people, and not yet otherwise";
    expect_sound();
}

TEST_F(Reviews, ALoanThatIsUnderReviewIsOwedItsOutcomeAsBefore) {
    say(make_decision("1", day(0)));
    say(make_review("1", 0, day(2)));
    ASSERT_TRUE(joiner->advance(day(kLabelDay)));
    EXPECT_EQ(joiner->counts().overdue, 1u);
    say(make_override("1", 1, false, day(50)));
    EXPECT_EQ(joiner->counts().overdue, 0u);
    expect_sound();
}

TEST_F(Reviews, AnErasureTakesThemAway) {
    say(make_decision("1", day(0), false));
    say(make_review("1", 0, day(2)));
    say(make_referral("2", day(3)));
    for (const char* id : {"d-1", "d-2"}) say(domain::Erasure{DecisionId(id), day(4)});
    EXPECT_EQ(listed(), Names{});
    EXPECT_EQ(joiner->review_queue()->open, 0u);
    expect_sound();
}

}  // namespace
}  // namespace rampart::joiner
