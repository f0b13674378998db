#include "joined.hpp"

namespace rampart::joiner {
namespace {

using support::day;
using support::make_decision;
using support::make_outcome;

/// A joiner that takes decisions with a draw of 0.1 or 0.9 only.
class ForeignDraws : public Joined {
  protected:
    ForeignDraws() {
        joiner.reset();
        joiner = open_checking(folder);
    }
    std::unique_ptr<OutcomeJoiner> open_checking(const std::filesystem::path& at) {
        auto options = JoinerOptions{.product = support::two_measure_product(), .partitions = 3};
        options.check_draw = [this](const domain::Decision& decision) -> base::Status {
            ++asked;
            if (decision.draw == 0.1 || decision.draw == 0.9) return base::ok();
            return base::Error{base::ErrorCode::kDataLoss, "foreign_draw", "not the key's"};
        };
        return OutcomeJoiner::open(at, std::move(options), log).value();
    }
    static domain::Decision forged(const std::string& name) {
        auto decision = make_decision(name, day(0));
        decision.draw = 0.2;
        return decision;
    }
    size_t asked = 0;
};

TEST_F(ForeignDraws, LieInQuarantineAndNothingFollowsFromThem) {
    say(make_decision("1", day(0)));
    say(make_outcome("2", "repaid", 0, 1, day(20)));
    say(forged("2"));
    EXPECT_EQ(joiner->counts().decisions, 1u);
    EXPECT_EQ(joiner->counts().foreign_draws, 1u);
    EXPECT_EQ(joiner->counts().undecodable, 0u);
    EXPECT_EQ(joiner->counts().unmatched, 1u) << "the outcome waits for a decision";
    EXPECT_FALSE(joiner->find_decision(domain::DecisionId("d-2")).value());
    const auto listed = joiner->list_quarantined(9).value();
    ASSERT_EQ(listed.size(), 1u);
    EXPECT_EQ(listed[0].reason, "foreign_draw");
    EXPECT_EQ(joiner->unread_decisions(day(1)).value(), 1u) << "the gate counts it at its worst";
    ASSERT_TRUE(joiner->advance(day(400)));
    EXPECT_EQ(examples("repaid", day(400)).size(), 1u);
    expect_sound();
    // the genuine one comes
    say(make_decision("2", day(0)));
    EXPECT_EQ(joiner->counts().decisions, 2u);
    EXPECT_EQ(joiner->counts().unmatched, 0u);
    expect_sound();
}

/// Else who drops it would choose the records of the gate's test.
TEST_F(ForeignDraws, CountOnWhenTheyAreDropped) {
    say(make_decision("1", day(0)));
    for (const char* name : {"2", "3"}) say(forged(name));
    auto conflicting = make_decision("1", day(0));
    conflicting.policy = domain::PolicyId("another");
    say(conflicting);
    ASSERT_EQ(joiner->unread_decisions(day(1)).value(), 2u);
    const auto listed = joiner->list_quarantined(9).value();
    ASSERT_EQ(listed.size(), 3u);
    for (const auto& one : listed) {
        if (one.record.key == "d-3") continue;
        ASSERT_TRUE(joiner->drop_quarantined(one.topic, one.partition, one.offset));
    }
    EXPECT_EQ(joiner->list_quarantined(9)->size(), 1u);
    EXPECT_EQ(joiner->unread_decisions(day(1)).value(), 2u);
    EXPECT_EQ(joiner->unread_decisions(day(-1)).value(), 0u) << "not made yet";
    EXPECT_EQ(joiner->counts().dropped, 2u);
    joiner.reset();
    joiner = open(folder);
    EXPECT_EQ(joiner->unread_decisions(day(1)).value(), 2u);
    expect_sound();
}

TEST_F(ForeignDraws, DoNotPassAsTheRepetitionOrReplacementOfAGenuineOne) {
    say(make_decision("1", day(0)));
    say(forged("1"));
    EXPECT_EQ(joiner->counts().foreign_draws, 1u);
    EXPECT_EQ(joiner->counts().conflicting_decisions, 0u);
    EXPECT_EQ(joiner->find_decision(domain::DecisionId("d-1")).value(), make_decision("1", day(0)));
    expect_sound();
}

TEST_F(ForeignDraws, StayInQuarantineWhenTheyAreReplayed) {
    say(forged("1"));
    const auto there = joiner->list_quarantined(9).value().at(0);
    const auto why = joiner->replay_quarantined(there.topic, there.partition, there.offset).value();
    ASSERT_TRUE(why);
    EXPECT_EQ(why->reason, "foreign_draw");
    EXPECT_EQ(joiner->list_quarantined(9)->size(), 1u);
    EXPECT_EQ(joiner->counts().foreign_draws, 1u) << "it is not counted again";
}

TEST_F(ForeignDraws, OfAnErasedDecisionNothingIsKept) {
    say(make_decision("1", day(0)));
    say(domain::Erasure{domain::DecisionId("d-1"), day(1)});
    say(forged("1"));
    EXPECT_TRUE(joiner->list_quarantined(9)->empty());
    EXPECT_EQ(joiner->counts().foreign_draws, 0u);
    EXPECT_EQ(joiner->counts().ignored, 1u);
}

TEST_F(ForeignDraws, AreTheSameAfterARestartAndInAStoreThatIsMadeAnew) {
    for (int i = 0; i < 8; ++i) {
        say(make_decision(std::to_string(i), day(0)));
        say(forged("x" + std::to_string(i)));
    }
    EXPECT_EQ(asked, 16u) << "once each";
    joiner.reset();
    joiner = open_checking(folder);
    EXPECT_EQ(joiner->counts().foreign_draws, 8u);
    const auto anew = open_checking(fresh_folder());
    poll(*anew);
    EXPECT_EQ(anew->counts().foreign_draws, 8u);
    EXPECT_EQ(anew->state_hash(), joiner->state_hash());
    EXPECT_EQ(anew->list_quarantined(99)->size(), 8u);
}

}  // namespace
}  // namespace rampart::joiner
