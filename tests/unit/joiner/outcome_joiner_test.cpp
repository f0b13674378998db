#include "rampart/joiner/outcome_joiner.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>

#include "rampart/joiner/join_state.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/streaming/partition_list.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/fence.hpp"
#include "rampart/wire/quarantined.hpp"
#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"

namespace rampart::joiner {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using streaming::PartitionId;
using support::day;
using support::make_decision;
using support::make_outcome;
using support::to_record;

const PartitionId kWholeTopic(-1);

fs::path fresh_folder() {
    static int counter = 0;
    const fs::path path =
        fs::path(testing::TempDir()) / fmt::format("joiner_{}_{}", ::getpid(), counter++);
    fs::remove_all(path);
    return path;
}

// 1970-01-01: "repaid" matures on 02-01 + 10 days = day 41, "score" on 03-01 = day 59.
constexpr int64_t kLabelDay = 41, kScoreDay = 59;

class OutcomeJoinerTest : public testing::Test {
  protected:
    OutcomeJoinerTest() {
        log.create("decisions", 3);
        log.create("outcomes", 2);
        open();
    }
    static JoinerOptions options(std::vector<streaming::PartitionId> held = {}) {
        return {
            .product = support::two_measure_product(), .partitions = 3, .held = std::move(held)};
    }
    void open() {
        joiner.reset();
        auto opened = OutcomeJoiner::open(folder, options(), log);
        ASSERT_TRUE(opened) << opened.error().message;
        joiner = std::move(*opened);
    }
    template <class... Events>
    void feed(const Events&... events) {
        (append(to_record(events)), ...);
        poll();
    }
    void append(const streaming::Record& record) {
        const bool decision = record.headers.at(0).value == wire::kDecisionSchema;
        ASSERT_TRUE(log.append(decision ? "decisions" : "outcomes", std::span(&record, 1)));
    }
    void poll() {
        while (true) {
            const auto report = joiner->poll(4);
            ASSERT_TRUE(report) << report.error().message;
            EXPECT_TRUE(report->stopped.empty());
            if (report->records == 0) return;
        }
    }
    std::vector<domain::LabeledExample> examples(std::string_view measure,
                                                 base::TimePoint t) const {
        std::vector<domain::LabeledExample> found;
        EXPECT_TRUE(joiner->examples(measure, t, [&](const auto& example) {
            found.push_back(example);
            return base::ok();
        }));
        return found;
    }

    support::MemoryLog log;
    fs::path folder = fresh_folder();
    std::unique_ptr<OutcomeJoiner> joiner;
};

TEST_F(OutcomeJoinerTest, AnExampleExistsFromMaturityOnAndNotBefore) {
    feed(make_decision("1", day(0)), make_outcome("1", "repaid", 0, 1, day(30)));
    EXPECT_EQ(joiner->advance(day(kLabelDay) - base::Duration::micros(1)).value(), 0u);
    EXPECT_TRUE(examples("repaid", day(1000)).empty());
    EXPECT_EQ(joiner->advance(day(kLabelDay)).value(), 1u);
    const auto found = examples("repaid", day(kLabelDay));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].decision, make_decision("1", day(0)));
    EXPECT_EQ(found[0].value, 1.0);
    EXPECT_EQ(found[0].version, 0u);
    EXPECT_EQ(found[0].matured_at, day(kLabelDay));
    EXPECT_EQ(found[0].known_at, day(kLabelDay));
    EXPECT_TRUE(examples("score", day(1000)).empty());
    EXPECT_EQ(joiner->advance(day(kScoreDay)).value(), 1u);
    EXPECT_EQ(examples("score", day(1000)).at(0).value, std::nullopt);
    EXPECT_EQ(joiner->find_decision(domain::DecisionId("d-1")).value(), found[0].decision);
    EXPECT_EQ(joiner->find_decision(domain::DecisionId("d-2")).value(), std::nullopt);
}

TEST_F(OutcomeJoinerTest, TheDecisionsOfAPeriodAreThereMaturedOrNotInOrderOfTime) {
    feed(make_decision("3", day(9)), make_decision("1", day(5)), make_decision("0", day(4)),
         make_decision("2", day(5)), make_decision("4", day(10)),
         make_outcome("9", "repaid", 0, 1, day(6)));  // its decision never came
    ASSERT_TRUE(joiner->advance(day(4 + kLabelDay)));
    std::string found;
    ASSERT_TRUE(joiner->decisions(day(5), day(10), [&](const auto& decision) {
        found += decision.id.value() + " ";
        return base::ok();
    }));
    EXPECT_EQ(found, "d-1 d-2 d-3 ");
    const auto stop = base::Error{base::ErrorCode::kUnavailable, "stop", "that will do"};
    EXPECT_EQ(joiner->decisions(day(0), day(99), [&](const auto&) -> base::Status { return stop; })
                  .error()
                  .reason,
              "stop");
}

TEST_F(OutcomeJoinerTest, DeclinedAndApprovedMatureWithoutOutcomeButOnlyApprovedAreOverdue) {
    feed(make_decision("no", day(0), false), make_decision("yes", day(0), true));
    ASSERT_EQ(joiner->advance(day(kLabelDay)).value(), 2u);
    const auto found = examples("repaid", day(kLabelDay));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].value, std::nullopt);
    EXPECT_EQ(joiner->counts().overdue, 1u);
    const auto overdue = joiner->list_overdue(10).value();
    ASSERT_EQ(overdue.size(), 1u);
    EXPECT_EQ(overdue[0].decision.value(), "d-yes");
    EXPECT_EQ(overdue[0].measure, "repaid");
    EXPECT_EQ(overdue[0].matured_at, day(kLabelDay));
    feed(make_outcome("yes", "repaid", 0, 0, day(45)));
    EXPECT_EQ(joiner->counts().overdue, 0u);
    EXPECT_TRUE(joiner->list_overdue(10)->empty());
    EXPECT_EQ(joiner->counts().late_outcomes, 1u);
}

TEST_F(OutcomeJoinerTest, WhatArrivesLaterNeverChangesWhatWasKnown) {
    feed(make_decision("1", day(0)), make_outcome("1", "repaid", 0, 1, day(30)));
    ASSERT_TRUE(joiner->advance(day(50)));
    const auto then = examples("repaid", day(50));
    feed(make_outcome("1", "repaid", 1, 0, day(35)));  // under way for long
    EXPECT_EQ(examples("repaid", day(50)), then);
    const auto now = examples("repaid", day(51));
    ASSERT_EQ(now.size(), 1u);
    EXPECT_EQ(now[0].value, 0.0);
    EXPECT_EQ(now[0].revision, 1u);
    EXPECT_EQ(now[0].version, 1u);
    EXPECT_EQ(now[0].known_at, day(50) + base::Duration::micros(1));
    feed(make_decision("2", day(0)));  // a decision after its own maturity
    ASSERT_EQ(joiner->advance(day(51)).value(), 1u);
    EXPECT_EQ(examples("repaid", day(50)), then);
    EXPECT_EQ(examples("repaid", day(51)).size(), 2u);
    EXPECT_EQ(joiner->counts().corrections, 1u);
    EXPECT_EQ(joiner->counts().corrected, 1u);
}

TEST_F(OutcomeJoinerTest, OutcomesWithoutTheirDecisionWaitForIt) {
    feed(make_outcome("1", "repaid", 0, 1, day(30)), make_outcome("1", "score", 0, 5, day(40)));
    EXPECT_EQ(joiner->counts().unmatched, 2u);
    const auto unmatched = joiner->list_unmatched(10).value();
    ASSERT_EQ(unmatched.size(), 1u);
    EXPECT_EQ(unmatched[0].decision.value(), "d-1");
    EXPECT_EQ(unmatched[0].outcomes.at(1), make_outcome("1", "score", 0, 5, day(40)));
    EXPECT_EQ(joiner->find_decision(domain::DecisionId("d-1")).value(), std::nullopt);
    feed(make_decision("1", day(0)));
    EXPECT_EQ(joiner->counts().unmatched, 0u);
    EXPECT_TRUE(joiner->list_unmatched(10)->empty());
    ASSERT_TRUE(joiner->advance(day(100)));
    EXPECT_EQ(examples("score", day(100)).at(0).value, 5.0);
}

TEST_F(OutcomeJoinerTest, RepeatsAreCountedAndChangeNothing) {
    const auto decision = make_decision("1", day(0));
    const auto outcome = make_outcome("1", "repaid", 0, 1, day(30));
    feed(decision, outcome);
    const auto hash = joiner->state_hash();
    feed(decision, outcome, outcome);
    EXPECT_EQ(joiner->state_hash(), hash);
    EXPECT_EQ(joiner->counts().decisions, 1u);
    EXPECT_EQ(joiner->counts().duplicate_decisions, 1u);
    EXPECT_EQ(joiner->counts().duplicate_outcomes, 2u);
    EXPECT_TRUE(joiner->list_quarantined(10)->empty());
}

TEST_F(OutcomeJoinerTest, ConflictingContentIsQuarantinedAndTheFirstStays) {
    auto other = make_decision("1", day(0));
    other.score = 0.75;
    feed(make_decision("1", day(0)), make_outcome("1", "repaid", 0, 1, day(30)));
    const auto hash = joiner->state_hash();
    feed(other, make_outcome("1", "repaid", 0, 0, day(30)));
    EXPECT_EQ(joiner->state_hash(), hash);
    EXPECT_EQ(joiner->counts().conflicting_decisions, 1u);
    EXPECT_EQ(joiner->counts().conflicting_outcomes, 1u);
    const auto quarantined = joiner->list_quarantined(10).value();
    ASSERT_EQ(quarantined.size(), 2u);
    EXPECT_EQ(quarantined[0].topic, "decisions");
    EXPECT_EQ(quarantined[0].reason, "conflicting_decision");
    EXPECT_EQ(quarantined[0].record, to_record(other));
    EXPECT_EQ(quarantined[0].offset.value(), 1);
    EXPECT_EQ(quarantined[1].reason, "conflicting_outcome");
}

TEST_F(OutcomeJoinerTest, PoisonGoesToQuarantineWithItsReasonAndBlocksNobody) {
    auto wrong_schema = to_record(make_decision("0", day(0)));
    wrong_schema.headers = {{"schema", "rampart.v9.Decision/1"}};
    ASSERT_TRUE(log.append("decisions", std::span(&wrong_schema, 1)));
    const streaming::Record garbage{"k", "\xff\xff\xff", day(0), {}};
    ASSERT_TRUE(log.append("decisions", std::span(&garbage, 1)));
    ASSERT_TRUE(log.append("outcomes", std::span(&garbage, 1)));
    feed(make_outcome("1", "unheard_of", 0, 1, day(1)), make_outcome("1", "repaid", 0, 0.5, day(1)),
         make_outcome("1", "score", 0, 76, day(1)), make_decision("1", day(0)),
         make_outcome("1", "repaid", 0, 1, day(1)));
    EXPECT_EQ(joiner->counts().undecodable, 6u);
    EXPECT_EQ(joiner->counts().decisions, 1u);
    EXPECT_EQ(joiner->counts().outcomes, 1u);
    std::multiset<std::string> reasons;
    const auto quarantined = joiner->list_quarantined(10).value();
    for (const auto& q : quarantined) reasons.insert(q.reason);
    EXPECT_EQ(reasons, (std::multiset<std::string>{"unknown_schema", "not_a_message",
                                                   "not_a_message", "unknown_measure", "bad_label",
                                                   "outcome_outside_range"}));
    EXPECT_EQ(joiner->list_quarantined(2)->size(), 2u);
}

TEST_F(OutcomeJoinerTest, ReportsPastTheLimitOfADecisionAreQuarantined) {
    for (uint32_t revision = 0; revision <= kMaxReports; ++revision) {
        append(to_record(make_outcome("1", "repaid", revision, 1, day(30))));
    }
    while (joiner->poll(1000)->records > 0) continue;
    EXPECT_EQ(joiner->counts().outcomes, kMaxReports);
    EXPECT_EQ(joiner->list_quarantined(9)->at(0).reason, "too_many_reports");
}

TEST_F(OutcomeJoinerTest, StateClockAndOffsetsSurviveReopening) {
    feed(make_decision("1", day(0)), make_outcome("1", "repaid", 0, 1, day(30)),
         make_decision("2", day(20)));
    ASSERT_TRUE(joiner->advance(day(50)));
    const auto counts = joiner->counts();
    const auto hash = joiner->state_hash();
    open();
    EXPECT_EQ(joiner->clock(), day(50));
    EXPECT_EQ(joiner->counts(), counts);
    EXPECT_EQ(joiner->state_hash(), hash);
    EXPECT_EQ(joiner->poll(100)->records, 0u);
    EXPECT_EQ(joiner->advance(day(1000)).value(), 3u);  // "score" of 1, both of 2
}

TEST_F(OutcomeJoinerTest, TheClockNeverGoesBack) {
    ASSERT_TRUE(joiner->advance(day(50)));
    ASSERT_TRUE(joiner->advance(day(40)));
    EXPECT_EQ(joiner->clock(), day(50));
}

TEST_F(OutcomeJoinerTest, ExamplesComeByEventTimeThenDecisionId) {
    feed(make_decision("b", day(1)), make_decision("c", day(0)), make_decision("a", day(1)),
         make_decision("early", day(-400)));
    ASSERT_TRUE(joiner->advance(day(100)));
    std::vector<std::string> order;
    for (const auto& example : examples("repaid", day(100)))
        order.push_back(example.decision.id.value());
    EXPECT_EQ(order, (std::vector<std::string>{"d-early", "d-c", "d-a", "d-b"}));
    const auto unknown = joiner->examples("other", day(1), [](const auto&) { return base::ok(); });
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().reason, "unknown_measure");
    const auto stopped = joiner->examples("repaid", day(100), [](const auto&) {
        return base::Status(base::Error{base::ErrorCode::kInternal, "mine", "enough"});
    });
    EXPECT_EQ(stopped.error().reason, "mine");
}

TEST_F(OutcomeJoinerTest, ManyAtOnceMatureInSeveralWrites) {
    for (int i = 0; i < 2500; ++i) append(to_record(make_decision(fmt::format("{}", i), day(0))));
    while (joiner->poll(10'000)->records > 0) continue;
    EXPECT_EQ(joiner->advance(day(kLabelDay)).value(), 2500u);
    EXPECT_EQ(joiner->advance(day(kScoreDay)).value(), 2500u);
    EXPECT_EQ(joiner->advance(day(1000)).value(), 0u);
    EXPECT_EQ(joiner->counts().matured, 5000u);
    EXPECT_EQ(joiner->counts().overdue, 5000u);
}

/// All that is due is written with its decision at once; in life, measures mature one by one.
TEST_F(OutcomeJoinerTest, WhatMaturesTogetherIsWhatMaturesOneByOne) {
    constexpr int kDecisions = 2500;
    log.now = day(0);  // states that are dated
    for (int i = 0; i < kDecisions; ++i) {
        const auto name = fmt::format("{}", i);
        append(to_record(make_decision(name, day(i % 50), i % 3 != 0)));
        if (i % 2 == 0) append(to_record(make_outcome(name, "repaid", 0, 1, day(i % 50 + 20))));
        if (i % 5 == 0) append(to_record(make_outcome(name, "score", 0, 7, day(i % 50 + 100))));
    }
    while (joiner->poll(10'000)->records > 0) continue;
    const auto other = OutcomeJoiner::open(fresh_folder(), options(), log).value();
    while (other->poll(10'000)->records > 0) continue;
    size_t one_by_one = 0;
    for (int64_t d = 0; d <= 200; ++d) one_by_one += other->advance(day(d)).value();
    EXPECT_EQ(joiner->advance(day(200)).value(), one_by_one);
    EXPECT_EQ(one_by_one, 2u * kDecisions);
    EXPECT_EQ(joiner->advance(day(201)).value(), 0u);
    EXPECT_EQ(joiner->state_hash(), other->state_hash());
    EXPECT_EQ(joiner->counts(), other->counts());
    EXPECT_EQ(joiner->check().value(), std::vector<std::string>());
    joiner.reset();
    open();
    EXPECT_EQ(joiner->advance(day(1000)).value(), 0u) << "matured twice after a restart";
}

TEST_F(OutcomeJoinerTest, WhatTheReaderRefusesIsSaidAndTheOtherTopicGoesOn) {
    append(to_record(make_decision("1", day(0))));
    log.topics["outcomes"].failure =
        base::Error{base::ErrorCode::kDataLoss, "retention_gap", "gone"};
    const auto report = joiner->poll(10);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->records, 1u);
    ASSERT_EQ(report->stopped.size(), 2u);  // both partitions
    EXPECT_EQ(report->stopped[0].error.reason, "retention_gap");
}

TEST_F(OutcomeJoinerTest, AGapStopsItsPartitionUntilItIsAccepted) {
    for (int i = 0; i < 30; ++i) append(to_record(make_decision(fmt::format("{}", i), day(0))));
    const PartitionId second(1);
    const auto in_second = log.topics["decisions"].partitions[1].size();
    log.drop_front("decisions", second, 2);
    base::Result<PollReport> report;
    for (int i = 0; i < 20; ++i) report = joiner->poll(10);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->records, 0u);
    ASSERT_EQ(report->stopped.size(), 1u);
    EXPECT_EQ(report->stopped[0].topic, "decisions");
    EXPECT_EQ(report->stopped[0].partition, second);
    EXPECT_EQ(report->stopped[0].error.reason, "retention_gap");
    EXPECT_EQ(joiner->counts().decisions, 30 - in_second);

    EXPECT_EQ(joiner->accept_gap("decisions", PartitionId(0)).error().reason, "not_stopped");
    const auto accepted = joiner->accept_gap("decisions", second);
    ASSERT_TRUE(accepted) << accepted.error().message;
    ASSERT_EQ(accepted->size(), 1u);
    EXPECT_EQ(accepted->front().from.value(), 0);
    EXPECT_EQ(accepted->front().to.value(), 2);
    poll();
    EXPECT_EQ(joiner->counts().decisions, 28u);
    EXPECT_EQ(joiner->counts().gaps_accepted, 1u);
}

TEST_F(OutcomeJoinerTest, ATopicThatWasMadeAnewIsNoticedByItsContentAndReadFromItsBeginning) {
    for (int i = 0; i < 30; ++i) append(to_record(make_decision(fmt::format("{}", i), day(0))));
    poll();
    for (auto& partition : log.topics["decisions"].partitions) partition.clear();
    for (int i = 100; i < 160; ++i) append(to_record(make_decision(fmt::format("{}", i), day(0))));
    open();  // the same identity, and more records than before
    const auto report = joiner->poll(1000);
    ASSERT_EQ(report->stopped.size(), 3u);
    for (const auto& stopped : report->stopped) {
        EXPECT_EQ(stopped.error.reason, "topic_recreated");
        ASSERT_TRUE(joiner->accept_gap("decisions", stopped.partition));
    }
    poll();
    EXPECT_EQ(joiner->counts().decisions, 90u);
}

TEST_F(OutcomeJoinerTest, AddedPartitionsAndAnotherLogStopTheTopicUntilAccepted) {
    feed(make_decision("1", day(0)));
    log.topics["outcomes"].partitions.resize(5);
    ASSERT_EQ(joiner->poll(10)->stopped.at(0).error.reason, "partitions_changed");
    EXPECT_EQ(joiner->accept_gap("outcomes", kWholeTopic)->size(), 3u);  // by each that is held
    feed(make_outcome("1", "repaid", 0, 1, day(3)));
    EXPECT_EQ(joiner->counts().outcomes, 1u);
    log.topics["outcomes"].identity = "other";
    ASSERT_EQ(joiner->poll(10)->stopped.at(0).error.reason, "topic_recreated");
    ASSERT_TRUE(joiner->accept_gap("outcomes", kWholeTopic));
    poll();
    log.topics["decisions"].partitions.resize(2);
    EXPECT_FALSE(joiner->accept_gap("decisions", kWholeTopic));  // fewer than are configured
}

TEST_F(OutcomeJoinerTest, ANodeJoinsWhatItHoldsWhereverOutcomesLie) {
    std::vector<std::unique_ptr<OutcomeJoiner>> nodes;
    for (const auto& held : {std::vector{PartitionId(0), PartitionId(2)}, {PartitionId(1)}}) {
        nodes.push_back(*OutcomeJoiner::open(fresh_folder(), options(held), log));
    }
    for (int i = 0; i < 40; ++i) {
        append(to_record(make_decision(fmt::format("{}", i), day(0))));
        auto outcome = to_record(make_outcome(fmt::format("{}", i), "repaid", 0, 1, day(30)));
        outcome.key = "loan-" + std::to_string(i * 7);  // another key, another partition
        append(outcome);
    }
    poll();
    uint64_t decisions = 0, outcomes = 0;
    for (const auto& node : nodes) {
        while (node->poll(100)->records > 0) continue;
        EXPECT_GT(node->counts().decisions, 0u);
        decisions += node->counts().decisions;
        outcomes += node->counts().outcomes;
        EXPECT_EQ(node->counts().unmatched, 0u);
    }
    EXPECT_EQ(decisions, 40u);
    EXPECT_EQ(outcomes, 40u);
    std::map<PartitionId, PartitionState> apart;
    for (const auto& node : nodes) {
        const auto states = node->partition_states().value();
        for (const auto& state : states) apart.emplace(state.partition, state);
    }
    const auto together = joiner->partition_states().value();
    for (const auto& state : together) {
        EXPECT_EQ(apart.at(state.partition).hash, state.hash);
        EXPECT_EQ(apart.at(state.partition).counts, state.counts);
        EXPECT_GT(state.counts.decisions, 0u);
    }
}

TEST_F(OutcomeJoinerTest, WhoLostThePartitionIsNotCounted) {
    const auto in = [](const domain::Decision& decision, const std::string& epoch) {
        auto record = to_record(decision);
        record.headers.push_back({"epoch", epoch});
        return record;
    };
    const auto mine = make_decision("1", day(0));
    const auto partition = streaming::partition_of("d-1", 3);
    const auto fence = wire::fence_record(2, "b", day(0));
    append(in(mine, "1"));
    ASSERT_TRUE(log.append_to("decisions", partition, std::span(&fence, 1)));
    auto stale = mine;
    stale.score = 0.75;
    append(in(stale, "1"));                      // by a process that was stopped and woke up
    append(in(make_decision("1", day(0)), ""));  // no number: quarantine
    poll();
    EXPECT_EQ(joiner->counts().fenced, 1u);
    EXPECT_EQ(joiner->counts().conflicting_decisions, 0u);
    EXPECT_EQ(joiner->find_decision(mine.id).value(), mine);
    EXPECT_EQ(joiner->list_quarantined(9)->at(0).reason, "bad_epoch");
    open();
    append(to_record(stale));  // the fence is remembered; no epoch is below every fence
    poll();
    EXPECT_EQ(joiner->counts().fenced, 2u);
}

TEST_F(OutcomeJoinerTest, ADecisionInAPartitionThatIsNotItsOwnIsQuarantined) {
    const auto record = to_record(make_decision("1", day(0)));
    const auto home = streaming::partition_of(record.key, 3).value();
    ASSERT_TRUE(log.append_to("decisions", PartitionId((home + 1) % 3), std::span(&record, 1)));
    poll();
    EXPECT_EQ(joiner->counts().decisions, 0u);
    EXPECT_EQ(joiner->list_quarantined(9)->at(0).reason, "wrong_partition");
}

TEST_F(OutcomeJoinerTest, WhatStillMakesNoSenseStaysInQuarantineUntilItIsDropped) {
    feed(make_decision("1", day(0)), make_outcome("1", "income", 0, 3, day(20)));
    const auto where = joiner->list_quarantined(1)->at(0);
    const auto again = joiner->replay_quarantined("outcomes", where.partition, where.offset);
    ASSERT_TRUE(again && *again);
    EXPECT_EQ((*again)->reason, "unknown_measure");
    EXPECT_EQ(joiner->list_quarantined(9)->size(), 1u);
    EXPECT_EQ(joiner->counts().replayed, 0u);
    ASSERT_TRUE(joiner->drop_quarantined("outcomes", where.partition, where.offset));
    EXPECT_TRUE(joiner->list_quarantined(9)->empty());
    EXPECT_EQ(joiner->counts().dropped, 1u);
    EXPECT_EQ(joiner->drop_quarantined("outcomes", where.partition, where.offset).error().reason,
              "not_quarantined");
}

/// A record that an earlier version did not understand, as schemas/keys.md says it lies there.
void quarantine(const fs::path& folder, int32_t partition, const streaming::Record& record,
                std::string_view more = "") {
    const auto db = *storage::Database::open(folder / std::to_string(partition) / "joins",
                                             {"meta", "joins", "by_time", "pending", "dangling",
                                              "overdue", "quarantine", "persons", "reviews"},
                                             {.schema = {4, {}}});
    const streaming::StoredRecord stored{PartitionId(1), streaming::Offset(77), record};
    const auto key = wire::quarantine_key("outcomes", stored.partition, stored.offset);
    auto value = wire::encode_quarantined(wire::quarantine(
        "outcomes", stored, base::Error{base::ErrorCode::kDataLoss, "not_a_message", "new to us"}));
    value += more;
    storage::WriteBatch batch;
    batch.put(storage::ColumnFamily{6}, key, value);
    ASSERT_TRUE(db->write(batch, storage::Sync::kAlways));
}

TEST_F(OutcomeJoinerTest, ADamagedEntryOfTheQuarantineIsDataLoss) {
    joiner.reset();
    quarantine(folder, 0, to_record(make_outcome("1", "repaid", 0, 1, day(30))), "x");
    open();
    EXPECT_EQ(joiner->list_quarantined(9).error().reason, "bad_quarantine_entry");
}

TEST_F(OutcomeJoinerTest, AfterAReplayTheStateIsThatOfARunThatWasNeverPoisoned) {
    const auto outcome = make_outcome("1", "repaid", 0, 1, day(30));
    feed(make_decision("1", day(0)));
    joiner.reset();
    const int32_t home = streaming::partition_of("d-1", 3).value();
    quarantine(folder, (home + 1) % 3, to_record(outcome));  // its key led elsewhere
    open();
    const auto why = joiner->replay_quarantined("outcomes", PartitionId(1), streaming::Offset(77));
    ASSERT_TRUE(why);
    EXPECT_FALSE(*why);
    EXPECT_TRUE(joiner->list_quarantined(9)->empty());
    EXPECT_EQ(joiner->counts().replayed, 1u);

    const auto poisoned = joiner->state_hash();
    folder = fresh_folder();
    open();
    feed(outcome);
    EXPECT_EQ(joiner->state_hash(), poisoned);
}

TEST_F(OutcomeJoinerTest, ItsCheckFindsNothingWrongInWhatItWrote) {
    for (int i = 0; i < 50; ++i) {
        append(to_record(make_decision(fmt::format("{}", i), day(i % 7), i % 3 != 0)));
        if (i % 2 == 0) {
            append(to_record(make_outcome(fmt::format("{}", i), "repaid", 0, 1, day(60))));
        }
    }
    append(to_record(make_outcome("nobody", "repaid", 0, 1, day(60))));
    poll();
    EXPECT_TRUE(joiner->check()->empty());
    ASSERT_TRUE(joiner->advance(day(44)));
    EXPECT_EQ(joiner->check().value(), std::vector<std::string>());
    ASSERT_TRUE(joiner->advance(day(1000)));
    EXPECT_EQ(joiner->check().value(), std::vector<std::string>());
}

TEST_F(OutcomeJoinerTest, ATopicThatWasMadeAnewOrRepartitionedStops) {
    feed(make_decision("1", day(0)));
    log.topics["decisions"].identity = "2";
    log.topics["outcomes"].partitions.resize(5);
    open();
    const auto report = joiner->poll(10);
    ASSERT_TRUE(report);
    ASSERT_EQ(report->stopped.size(), 2u);
    EXPECT_EQ(report->stopped[0].error.reason, "topic_recreated");
    EXPECT_EQ(report->stopped[0].partition.value(), -1);
    EXPECT_EQ(report->stopped[1].error.reason, "partitions_changed");
    EXPECT_EQ(report->records, 0u);
}

TEST_F(OutcomeJoinerTest, AMissingTopicIsSaidAtEveryPoll) {
    log.topics.erase("outcomes");
    const auto report = joiner->poll(10);
    ASSERT_TRUE(report);
    ASSERT_EQ(report->stopped.size(), 1u);
    EXPECT_EQ(report->stopped[0].error.code, ErrorCode::kNotFound);
}

TEST_F(OutcomeJoinerTest, OneThatHoldsNoPartitionReadsNothingAndMakesNoDatabase) {
    const auto nothing = fresh_folder();
    const auto none = OutcomeJoiner::open(nothing, options(streaming::no_partitions()), log);
    ASSERT_TRUE(none) << none.error().message;
    feed(make_decision("a", day(0)));
    log.topics.erase("outcomes");  // who asked for it would find it missing
    const auto report = (*none)->poll(100);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->records, 0u);
    EXPECT_TRUE(report->stopped.empty());
    EXPECT_EQ((*none)->advance(day(100)).value(), 0u);
    EXPECT_EQ((*none)->clock(), day(100));
    EXPECT_EQ((*none)->counts(), Counts());
    EXPECT_TRUE((*none)->partition_states()->empty());
    EXPECT_TRUE((*none)->check()->empty());
    EXPECT_FALSE(fs::exists(nothing)) << nothing;
    auto mixed = streaming::no_partitions();
    mixed.emplace_back(0);
    EXPECT_EQ(OutcomeJoiner::open(nothing, options(mixed), log).error().reason, "bad_partitions");
}

TEST_F(OutcomeJoinerTest, AStoreOfOtherMeasuresIsRefused) {
    joiner.reset();
    auto product = support::two_measure_product();
    product.label.horizon_months = 7;
    const auto reopened = OutcomeJoiner::open(folder, {.product = product, .partitions = 3}, log);
    ASSERT_FALSE(reopened);
    EXPECT_EQ(reopened.error().code, ErrorCode::kFailedPrecondition);
    EXPECT_EQ(reopened.error().reason, "measures_changed");
    product = support::two_measure_product();
    product.impact.favourable = 50;  // not the joiner's business
    EXPECT_TRUE(OutcomeJoiner::open(folder, {.product = product, .partitions = 3}, log));
    product.label.hi = 2;
    EXPECT_FALSE(OutcomeJoiner::open(folder, {.product = product, .partitions = 3}, log));
    const auto same = OutcomeJoiner::open(
        folder,
        {.product = support::two_measure_product(), .decisions_topic = "t", .outcomes_topic = "t"},
        log);
    EXPECT_FALSE(same);
}

}  // namespace
}  // namespace rampart::joiner
