#include "joined.hpp"

namespace rampart::joiner {
namespace {

using support::day;
using support::make_decision;
using support::make_outcome;

/// A joiner that withholds the outcomes of one person, with a report of both and of a third, whose
/// decision has not arrived.
class WithheldOutcomes : public Joined {
  protected:
    WithheldOutcomes() {
        auto options = JoinerOptions{.product = support::two_measure_product(), .partitions = 3};
        options.withheld = [](const domain::PersonId& person) {
            return person == domain::PersonId("p-vault");
        };
        joiner.reset();
        joiner = OutcomeJoiner::open(folder, options, log).value();
        for (const char* name : {"vault", "other"}) say(make_decision(name, day(0)));
        for (const char* name : {"vault", "other", "none"}) report(name, 1);
    }
    void report(const std::string& name, double value) {
        say(make_outcome(name, "repaid", 0, value, day(30)));
    }
    std::vector<Quarantined> withheld() const {
        auto all = joiner->list_quarantined(9, Withheld::kShown).value();
        std::erase_if(all, [](const auto& one) { return one.reason != "withheld_outcome"; });
        return all;
    }
};

TEST_F(WithheldOutcomes, AGuessLooksLikeARepetition) {
    const auto after = [&](double value) {
        report("vault", value);
        return joiner->counts();
    };
    auto expected = joiner->counts();
    for (const double value : {1.0, 0.0}) {
        ++expected.duplicate_outcomes;
        EXPECT_EQ(after(value), expected) << value;
        EXPECT_TRUE(joiner->list_quarantined(9)->empty()) << value;
    }
    EXPECT_EQ(withheld().size(), 1u);
    expect_sound();
}

TEST_F(WithheldOutcomes, WithoutItsDecisionAReportMayBeOne) {
    report("none", 0);
    EXPECT_EQ(joiner->counts().duplicate_outcomes, 1u);
    EXPECT_EQ(joiner->counts().conflicting_outcomes, 0u);
    EXPECT_EQ(withheld().size(), 1u);
}

TEST_F(WithheldOutcomes, OfOthersAContradictionIsCountedAndListedWhateverIsHidden) {
    for (int n = 0; n < 3; ++n) report("vault", 0);
    report("other", 0);
    EXPECT_EQ(joiner->counts().conflicting_outcomes, 1u);
    const auto listed = joiner->list_quarantined(1).value();
    ASSERT_EQ(listed.size(), 1u) << "what is hidden takes no place in the list";
    EXPECT_EQ(listed[0].reason, "conflicting_outcome");
}

TEST_F(WithheldOutcomes, WhatIsHiddenIsNotThereForAReplayOrADrop) {
    report("vault", 0);
    const auto one = withheld().at(0);
    EXPECT_EQ(joiner->replay_quarantined(one.topic, one.partition, one.offset).error().reason,
              "not_quarantined");
    EXPECT_EQ(joiner->drop_quarantined(one.topic, one.partition, one.offset).error().reason,
              "not_quarantined");
    const auto why =
        joiner->replay_quarantined(one.topic, one.partition, one.offset, Withheld::kShown);
    EXPECT_EQ(why.value().value().reason, "withheld_outcome");
    EXPECT_TRUE(joiner->drop_quarantined(one.topic, one.partition, one.offset, Withheld::kShown));
    EXPECT_TRUE(withheld().empty());
}

}  // namespace
}  // namespace rampart::joiner
