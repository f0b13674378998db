// The bounds of the quarantine of joined states.
#include "rampart/data_retention/quarantine_bounds.hpp"
#include "unit/joiner/joined.hpp"

namespace rampart::data_retention {
namespace {

using support::day;
using support::make_decision;
using support::make_outcome;

class BoundedQuarantine : public joiner::Joined {
  protected:
    BoundedQuarantine() {
        auto options =
            joiner::JoinerOptions{.product = support::two_measure_product(), .partitions = 3};
        options.withheld = [](const domain::PersonId& person) {
            return person == domain::PersonId("p-vault");
        };
        joiner.reset();
        joiner = joiner::OutcomeJoiner::open(folder, options, log).value();
        for (const char* name : {"vault", "other"}) {
            say(make_decision(name, day(0)));
            say(make_outcome(name, "repaid", 0, 1, day(30)));
        }
        auto unknown = wire::to_record(make_decision("unread", day(1)), 0);
        unknown.headers = {{"schema", "rampart.v9.Decision/1"}};
        append("decisions", unknown);
        auto differs = make_decision("other", day(0));
        differs.score = 0.75;
        say(differs);
    }
    /// A report that makes no sense, of that day.
    void nonsense(int n) {
        const streaming::Record record{fmt::format("key-{}", n), std::string(400, 'x'), day(n), {}};
        append("outcomes", record);
        poll(*joiner);
    }
    QuarantineReport trim(uint64_t bytes, int64_t days, int64_t now) {
        const auto report = data_retention::trim(
            *joiner, "decisions", {.max_bytes = bytes, .max_age = base::Duration::days(days)},
            day(now));
        EXPECT_TRUE(report) << report.error().message;
        return report.value_or(QuarantineReport{});
    }
    std::vector<std::string> left(joiner::Withheld withheld = joiner::Withheld::kHidden) const {
        std::vector<std::string> found;
        const auto all = joiner->list_quarantined(100, withheld).value();
        for (const auto& one : all) {
            found.push_back(one.reason == "withheld_outcome"
                                ? one.reason
                                : fmt::format("{}", one.record.timestamp.micros() /
                                                        base::Duration::days(1).micros()));
        }
        std::sort(found.begin(), found.end());
        return found;
    }
};

TEST_F(BoundedQuarantine, LosesTheOldestOfAllPartitionsAndNoDecisionThatIsUnread) {
    for (int n = 20; n > 10; --n) nonsense(n);
    ASSERT_EQ(joiner->unread_decisions(day(100)).value(), 1u);
    EXPECT_EQ(trim(1 << 20, 365, 100),
              (QuarantineReport{12, trim(1 << 20, 365, 100).bytes, 1, 0, 0}));
    const auto dropped = joiner->counts().dropped;
    const auto old = trim(1 << 20, 85, 100);  // before day 15
    EXPECT_EQ(old.too_old, 5u) << "the decision that contradicts, and days 11 to 14";
    EXPECT_EQ(left(), (std::vector<std::string>{"1", "15", "16", "17", "18", "19", "20"}));
    const auto much = trim(2000, 365, 100);
    EXPECT_GT(much.too_much, 0u);
    EXPECT_LE(much.bytes, 2000u);
    EXPECT_EQ(left().back(), "20") << "the newest stays longest";
    EXPECT_EQ(joiner->counts().dropped, dropped + 5 + much.too_much);
    // as full as can be: what the gate counts is there
    const auto none = trim(0, 1, 100);
    EXPECT_EQ(none.records, 1u);
    EXPECT_EQ(none.stays, 1u);
    EXPECT_EQ(joiner->unread_decisions(day(100)).value(), 1u);
    EXPECT_TRUE(joiner->check()->empty());
}

TEST_F(BoundedQuarantine, WhatIsWithheldPushesNothingOutAndIsNotToldOf) {
    for (int n = 11; n < 14; ++n) nonsense(n);
    const auto before = trim(1 << 20, 365, 100);
    const auto dropped = joiner->counts().dropped;
    say(make_outcome("vault", "repaid", 0, 0, day(30)));  // a guess that is wrong
    ASSERT_EQ(left(joiner::Withheld::kShown).back(), "withheld_outcome");
    EXPECT_EQ(trim(before.bytes, 365, 100), before);
    EXPECT_EQ(left(joiner::Withheld::kShown).back(), "withheld_outcome");
    const auto after = trim(before.bytes, 60, 100);
    EXPECT_EQ(left(joiner::Withheld::kShown), (std::vector<std::string>{"1"}))
        << "past its age as well";
    EXPECT_EQ(joiner->counts().dropped, dropped + after.too_old);
}

}  // namespace
}  // namespace rampart::data_retention
