// Joined state that is damaged on disk: of one partition, made anew from the log, without the
// others waiting for it and without any figure of all of them before it is whole.
#include "support/damage.hpp"

#include <gtest/gtest.h>

#include "joined.hpp"
#include "rampart/storage/derived_database.hpp"
#include "rampart/storage/writable.hpp"
#include "rampart/streaming/partitioner.hpp"

namespace rampart::joiner {
namespace {

namespace fs = std::filesystem;
using streaming::PartitionId;
using support::day;
using support::make_decision;
using support::make_outcome;
using test_support::Damage;

constexpr int kDecisions = 300;
const PartitionId kDamaged(1);

class JoinedDamage : public Joined {
  protected:
    void SetUp() override {
        for (int i = 0; i < kDecisions; ++i) {
            const auto name = std::to_string(i);
            append("decisions", wire::to_record(make_decision(name, day(i % 20)), 0));
            append("outcomes", wire::to_record(make_outcome(name, "repaid", 0, i % 2, day(30))));
            if (i % 5 != 0) continue;  // corrected, after it has matured
            append("outcomes", wire::to_record(make_outcome(name, "repaid", 1, 1, day(70))));
        }
        append("decisions", wire::to_record(domain::Erasure{domain::DecisionId("d-7"), day(40)}));
        poll(*joiner);
        ASSERT_TRUE(joiner->advance(day(80)));
        hash_ = joiner->state_hash();
        counts_ = joiner->counts();
        joiner.reset();
    }

    fs::path joins() const { return folder / "1" / "joins"; }
    fs::path aside() const { return folder / "1" / "joins.damaged-1"; }
    static base::Status examples_status(const OutcomeJoiner& joiner) {
        return joiner.examples("repaid", day(80), [](const auto&) { return base::ok(); });
    }
    /// Polls to the end, and advances to where the clock stood.
    void expect_made_anew() {
        poll(*joiner);
        ASSERT_TRUE(joiner->advance(day(80)));
        EXPECT_EQ(joiner->state_hash(), hash_);
        EXPECT_EQ(joiner->counts().decisions, counts_.decisions);
        EXPECT_EQ(joiner->counts().matured, counts_.matured);
        EXPECT_EQ(joiner->upkeep().rebuilding, 0u);
        EXPECT_TRUE(examples_status(*joiner));
        EXPECT_TRUE(fs::exists(aside()));
        expect_sound();
        joiner = nullptr;
        joiner = open(folder);
        EXPECT_EQ(joiner->state_hash(), hash_);
        EXPECT_TRUE(examples_status(*joiner)) << "it stays whole";
    }

    base::Digest hash_;
    Counts counts_;
};

TEST_F(JoinedDamage, OnePartitionIsMadeAnewFromTheLogToTheSameState) {
    for (const auto kind : {Damage::kMostOfATable, Damage::kOneByte}) {
        test_support::damage_table(joins(), kind);
        joiner = open(folder);
        ASSERT_TRUE(joiner);
        static_cast<void>(joiner->check());  // something reads the block
        expect_made_anew();
        EXPECT_TRUE(storage::all_writable());
        joiner.reset();
        fs::remove_all(aside());
    }
}

TEST_F(JoinedDamage, TheOthersJoinMeanwhileAndNothingIsToldOfAllOfThem) {
    test_support::damage_table(joins(), Damage::kOneByte);
    joiner = open(folder);
    EXPECT_FALSE(joiner->check());
    // a decision of another partition, and its report behind everything that is to be read again
    std::string name;
    for (int i = 0; name.empty(); ++i) {
        const auto id = fmt::format("d-new-{}", i);
        if (streaming::partition_of(id, 3) == PartitionId(2)) name = id.substr(2);
    }
    append("decisions", wire::to_record(make_decision(name, day(50)), 0));
    append("outcomes", wire::to_record(make_outcome(name, "repaid", 0, 1, day(60))));
    const auto before = joiner->counts();
    for (int i = 0; i < 3; ++i) {
        const auto report = joiner->poll(10);
        ASSERT_TRUE(report) << report.error().message;
        EXPECT_TRUE(report->stopped.empty());
    }
    EXPECT_EQ(joiner->upkeep().set_aside, 1u);
    EXPECT_EQ(joiner->upkeep().rebuilding, 1u);
    EXPECT_TRUE(joiner->find_decision(domain::DecisionId("d-" + name)).value());
    const auto states = joiner->partition_states().value();
    EXPECT_EQ(states[2].counts.outcomes, [&] {
        uint64_t own = 1;  // the new one
        for (int i = 0; i < kDecisions; ++i) {
            const auto id = fmt::format("d-{}", i);
            if (id == "d-7" || streaming::partition_of(id, 3) != PartitionId(2)) continue;
            own += i % 5 == 0 ? 2 : 1;
        }
        return own;
    }()) << "its report waits for the partition that is made anew";
    EXPECT_LT(joiner->counts().decisions, before.decisions);

    EXPECT_EQ(examples_status(*joiner).error().reason, "state_rebuilding");
    EXPECT_EQ(
        joiner->decisions(day(0), day(90), [](const auto&) { return base::ok(); }).error().reason,
        "state_rebuilding");
    EXPECT_EQ(joiner->advance(day(90)).error().reason, "state_rebuilding");
    const auto unread = joiner->unread_decisions(day(90));
    ASSERT_FALSE(unread) << "the gate would count fewer than there are";
    EXPECT_EQ(unread.error().reason, "state_rebuilding");
    const auto queue = joiner->review_queue();
    ASSERT_FALSE(queue) << "none would seem to be open";
    EXPECT_EQ(queue.error().reason, "state_rebuilding");
    ASSERT_FALSE(joiner->list_reviews(9));
    EXPECT_EQ(joiner->list_reviews(9).error().reason, "state_rebuilding");
    joiner.reset();  // also after a restart
    joiner = open(folder);
    EXPECT_EQ(examples_status(*joiner).error().reason, "state_rebuilding");
    EXPECT_EQ(joiner->upkeep().rebuilding, 1u);
    poll(*joiner);
    EXPECT_TRUE(examples_status(*joiner));
    EXPECT_EQ(joiner->unread_decisions(day(90)).value(), 0u);
}

TEST_F(JoinedDamage, ACrashBetweenTheRenamingAndTheNewStateIsNotTakenForANewStore) {
    fs::rename(joins(), aside());
    joiner = open(folder);
    EXPECT_EQ(examples_status(*joiner).error().reason, "state_rebuilding");
    EXPECT_FALSE(joiner->advance(day(80)));
    expect_made_anew();
}

TEST_F(JoinedDamage, DamageThatAPollMeetsEndsNoRound) {
    test_support::damage_table(joins(), Damage::kMostOfATable);
    joiner = open(folder);
    // reports for every decision: the poll has to read all states
    for (int i = 0; i < kDecisions; ++i) {
        append("outcomes",
               wire::to_record(make_outcome(std::to_string(i), "score", 0, 10, day(50))));
    }
    poll(*joiner);
    EXPECT_EQ(joiner->upkeep().set_aside, 1u);
    EXPECT_EQ(joiner->counts().outcomes, counts_.outcomes + kDecisions - 1) << "one is erased";
    expect_sound();
}

TEST_F(JoinedDamage, WhereTheLogWasTrimmedThatPartitionAloneIsRefusedByName) {
    test_support::damage_table(joins(), Damage::kOneByte);
    log.drop_front("decisions", kDamaged, 1);
    joiner = open(folder);
    EXPECT_FALSE(joiner->check());
    append("decisions", wire::to_record(make_decision("late", day(50)), 0));
    append("outcomes", wire::to_record(make_outcome("3", "score", 0, 10, day(60))));
    uint64_t records = 0;
    for (int i = 0; i < 4; ++i) {
        const auto report = joiner->poll(100);
        ASSERT_TRUE(report) << report.error().message;
        records += report->records;
        ASSERT_EQ(report->stopped.size(), 1u);
        EXPECT_EQ(report->stopped[0].partition, kDamaged);
        EXPECT_EQ(report->stopped[0].error.reason, "state_damaged");
        EXPECT_NE(report->stopped[0].error.message.find("backup"), std::string::npos);
    }
    EXPECT_GE(records, 1u) << "the others go on";
    EXPECT_EQ(joiner->upkeep().refused, 1u);
    EXPECT_EQ(examples_status(*joiner).error().reason, "state_damaged");
    EXPECT_FALSE(fs::exists(aside())) << "it is all that there is of what the log has lost";
}

TEST_F(JoinedDamage, AfterAnAcceptedGapItIsRefusedAsWell) {
    joiner = open(folder);
    log.topics.at("decisions").identity = "2";
    ASSERT_FALSE(joiner->poll(10)->stopped.empty());
    ASSERT_TRUE(joiner->accept_gap("decisions", PartitionId(-1)));
    joiner.reset();
    // a release before this one left no mark
    fs::remove(storage::beyond_log_mark(joins()));
    joiner = open(folder);
    joiner.reset();
    test_support::damage_table(joins(), Damage::kOneByte);
    joiner = open(folder);
    EXPECT_FALSE(joiner->check());
    const auto report = joiner->poll(10);
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_EQ(report->stopped.size(), 1u);
    EXPECT_EQ(report->stopped[0].error.reason, "state_damaged");
}

}  // namespace
}  // namespace rampart::joiner
