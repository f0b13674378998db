#include "rampart/decision_log/decision_index.hpp"

#include <gtest/gtest.h>

#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/fence.hpp"
#include "rampart/wire/record_codec.hpp"
#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"

namespace rampart::decision_log {
namespace {

namespace fs = std::filesystem;
using streaming::Offset;
using streaming::PartitionId;

constexpr int32_t kPartitions = 2;
const PartitionId kHere(1), kElsewhere(0), kAll(-1);

class DecisionIndexTest : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) / ("index" + base::to_hex(base::random_bytes(8)));
        log_.create("decisions", kPartitions);
        log_.create("applications", 2);
        open();
    }
    void TearDown() override {
        index_.reset();
        fs::remove_all(folder_);
    }
    base::Result<std::unique_ptr<DecisionIndex>> try_open(PartitionId partition,
                                                          int32_t partitions) {
        return DecisionIndex::open({folder_ / "decisions", "decisions", partition, partitions, {}},
                                   log_);
    }
    void open() {
        index_.reset();
        auto index = try_open(kHere, kPartitions);
        ASSERT_TRUE(index) << index.error().message;
        index_ = *std::move(index);
    }

    /// Opens the database of the index, which is closed.
    std::unique_ptr<storage::Database> database() const {
        return storage::Database::open(folder_ / "decisions", {"meta", "decisions", "explored",
                                                               "quarantine", "explanations"})
            .value();
    }

    /// Returns the n-th decision whose id belongs to the partition.
    static domain::Decision decision(int n, PartitionId partition = kHere) {
        for (int i = 0;; ++i) {
            auto one = support::make_decision(std::to_string(i), support::day(i));
            if (streaming::partition_of(one.id.value(), kPartitions) != partition) continue;
            if (n-- == 0) return one;
        }
    }
    Offset append(const streaming::Record& record) {
        return log_.append_to("decisions", kHere, {&record, 1})->front().offset;
    }
    Offset append(const domain::Decision& one, uint64_t epoch = 0) {
        return append(wire::to_record(one, epoch));
    }
    Offset fence(uint64_t epoch, const std::string& node) {
        return append(wire::fence_record(epoch, node, {}));
    }
    bool has(const domain::Decision& one) const { return index_->find(one.id)->has_value(); }
    std::string reason_of_catch_up() {
        const auto status = index_->catch_up();
        return status ? "" : status.error().reason;
    }

    fs::path folder_;
    support::MemoryLog log_;
    std::unique_ptr<DecisionIndex> index_;
};

TEST_F(DecisionIndexTest, HoldsTheFirstRecordOfEachDecision) {
    auto other = decision(0);
    other.score = 0.75;
    append(decision(0));
    append(other);
    append(decision(1));
    ASSERT_TRUE(index_->catch_up());
    EXPECT_EQ(index_->find(decision(0).id).value(), decision(0));
    EXPECT_TRUE(has(decision(1)));
    EXPECT_FALSE(has(decision(2)));
    EXPECT_EQ(index_->counts(), (IndexCounts{2, 1, 0, 0}));
}

TEST_F(DecisionIndexTest, ARecordOfAnEpochBelowTheFenceDoesNotCount) {
    append(decision(0), 1);
    fence(2, "b");
    append(decision(1), 1);
    append(decision(2));  // no epoch counts as 0
    append(decision(3), 2);
    fence(1, "a");  // the fence of a process that lost the partition has no effect
    append(decision(4), 2);
    ASSERT_TRUE(index_->catch_up());
    EXPECT_TRUE(has(decision(0)));
    EXPECT_FALSE(has(decision(1)));
    EXPECT_FALSE(has(decision(2)));
    EXPECT_TRUE(has(decision(3)));
    EXPECT_TRUE(has(decision(4)));
    EXPECT_EQ(index_->fence(), (Fence{2, "b"}));
    EXPECT_EQ(index_->counts(), (IndexCounts{3, 0, 3, 0}));
}

TEST_F(DecisionIndexTest, WhatCannotBeReadOrBelongsElsewhereIsPassedOver) {
    append({"k", "nonsense", {}, {}});
    append(decision(0, kElsewhere));
    auto wrong = wire::to_record(decision(0), 0);
    wrong.headers[0].value = "rampart.v1.Outcome/1";
    append(wrong);
    auto bad_epoch = wire::to_record(decision(0), 3);
    bad_epoch.headers[1].value = "three";
    append(bad_epoch);
    append(decision(1));
    ASSERT_TRUE(index_->catch_up());
    EXPECT_FALSE(has(decision(0)));
    EXPECT_TRUE(has(decision(1)));
    EXPECT_EQ(index_->counts(), (IndexCounts{1, 0, 0, 4}));
}

TEST_F(DecisionIndexTest, GoesOnWhereItStoodWithFenceAndCounts) {
    auto exploring = decision(0);
    exploring.explored = true;
    exploring.p_exploit = 0;
    exploring.decided_at = support::day(20'000);
    append(exploring);
    fence(4, "a");
    append(decision(1), 3);
    ASSERT_TRUE(index_->catch_up());
    const auto counts = index_->counts();
    open();
    EXPECT_EQ(index_->fence(), (Fence{4, "a"}));
    EXPECT_EQ(index_->counts(), counts);
    const int64_t day = base::day_of(exploring.decided_at);
    EXPECT_EQ(index_->explored_on(day).value(), 1u);
    append(decision(2), 3);
    append(decision(3), 4);
    ASSERT_TRUE(index_->catch_up());
    EXPECT_FALSE(has(decision(2)));
    EXPECT_TRUE(has(decision(3)));
    EXPECT_EQ(index_->explored_on(day).value(), 1u);  // no record was read twice
}

TEST_F(DecisionIndexTest, APersonCountsOnceInADaysExploration) {
    const auto exploring = [&](int n, const char* person, int day) {
        auto one = decision(n);
        one.application.person = domain::PersonId(person);
        one.explored = true;
        one.p_exploit = 0;
        one.decided_at = support::day(day);
        return one;
    };
    append(exploring(0, "eve", 20'000));
    append(exploring(1, "eve", 20'000));
    ASSERT_TRUE(index_->catch_up());
    open();  // and after a restart
    append(exploring(2, "eve", 20'000));
    append(exploring(3, "ann", 20'000));
    append(exploring(4, "eve", 20'001));
    ASSERT_TRUE(index_->catch_up());
    EXPECT_EQ(index_->explored_on(20'000).value(), 2u);
    EXPECT_EQ(index_->explored_on(20'001).value(), 1u);
    append(exploring(5, "ann", 20'003));
    append(exploring(6, "eve", 20'003));
    ASSERT_TRUE(index_->catch_up());
    EXPECT_EQ(index_->explored_on(20'003).value(), 2u);
    EXPECT_EQ(index_->check().value(), std::vector<std::string>());
    index_.reset();
    const auto db = database();
    size_t explorers = 0;
    const auto count = [&](std::string_view key, std::string_view) -> base::Result<bool> {
        explorers += key.starts_with("explorer/") ? 1 : 0;
        return true;
    };
    ASSERT_TRUE(db->scan(storage::ColumnFamily{0}, storage::KeyRange::all(), count));
    EXPECT_EQ(explorers, 2u) << "those of days past are gone";
}

TEST_F(DecisionIndexTest, AnIndexThatCountedByDaysOfTheApplicationsCountsAgain) {
    auto exploring = decision(0);
    exploring.explored = true;
    exploring.p_exploit = 0;
    exploring.decided_at = support::day(20'000);
    append(exploring);
    append(decision(1));
    ASSERT_TRUE(index_->catch_up());
    index_.reset();
    const int64_t before = base::day_of(exploring.application.event_time);
    {
        const auto db = database();
        std::string old_day, now_day, one;
        base::append_i64(old_day, before);
        base::append_i64(now_day, 20'000);
        base::append_u64(one, 1);
        storage::WriteBatch batch;
        batch.put(storage::ColumnFamily{2}, old_day, one);
        batch.erase(storage::ColumnFamily{2}, now_day);
        batch.erase(storage::ColumnFamily{0}, "explored_by");
        ASSERT_TRUE(db->write(batch, storage::Sync::kAlways));
    }
    open();
    EXPECT_EQ(index_->explored_on(before).value(), 0u);
    EXPECT_EQ(index_->explored_on(20'000).value(), 1u);
    EXPECT_EQ(index_->check().value(), std::vector<std::string>());
}

TEST_F(DecisionIndexTest, AppliesWhatFollowsAndReadsWhatCameBetween) {
    ASSERT_TRUE(index_->catch_up());
    const auto stored = [&](const domain::Decision& one) {
        auto record = wire::to_record(one, 1);
        const Offset offset = append(record);
        return std::vector{streaming::StoredRecord{kHere, offset, std::move(record)}};
    };
    EXPECT_EQ(index_->apply(stored(decision(0))).value(), true);
    fence(2, "b");
    EXPECT_EQ(index_->apply(stored(decision(1))).value(), false);
    EXPECT_FALSE(has(decision(1)));
    EXPECT_EQ(index_->fence().epoch, 2u);
    // no record in between now, but it does not count either
    EXPECT_EQ(index_->apply(stored(decision(2))).value(), false);
    EXPECT_FALSE(has(decision(2)));
}

TEST_F(DecisionIndexTest, IsForOnePartitionOfOneNumber) {
    index_.reset();
    EXPECT_EQ(try_open(kElsewhere, kPartitions).error().reason, "other_partition");
    EXPECT_EQ(try_open(kHere, 3).error().reason, "other_partition");
    open();
    log_.topics["decisions"].partitions.resize(3);
    EXPECT_EQ(reason_of_catch_up(), "partitions_changed");
    EXPECT_EQ(index_->accept_gap("decisions", kHere).error().reason, "partitions_changed");
    EXPECT_TRUE(index_->accept_gap("decisions", kAll)->has_value());
    EXPECT_EQ(reason_of_catch_up(), "");  // more partitions do no harm
    log_.topics["decisions"].partitions.resize(1);
    EXPECT_EQ(index_->accept_gap("decisions", kAll).error().reason, "partitions_changed");
}

TEST_F(DecisionIndexTest, AnotherTopicUnderTheSameNameStopsItUntilTheGapIsAccepted) {
    append(decision(0));
    append(decision(1));
    ASSERT_TRUE(index_->catch_up());
    EXPECT_FALSE(index_->accept_gap("decisions", kHere)->has_value());
    EXPECT_FALSE(index_->accept_gap("decisions", kAll)->has_value());
    open();
    log_.topics["decisions"].identity = "2";
    log_.topics["decisions"].partitions[1].clear();
    append(decision(2));
    EXPECT_EQ(reason_of_catch_up(), "topic_recreated");
    EXPECT_EQ(index_->accept_gap("decisions", kHere).error().reason, "topic_recreated");
    const auto gap = index_->accept_gap("decisions", kAll).value();
    ASSERT_TRUE(gap);
    EXPECT_EQ(gap->why.reason, "topic_recreated");
    EXPECT_EQ(gap->partition, kAll);
    EXPECT_EQ(reason_of_catch_up(), "");
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(has(decision(i)));  // acknowledged records stay
    open();
    EXPECT_EQ(reason_of_catch_up(), "");
}

TEST_F(DecisionIndexTest, AnotherLogOfTheSameNameAndLengthIsNoticedAtOpenAndAfterAnError) {
    append(decision(0));
    ASSERT_TRUE(index_->catch_up());
    auto& records = log_.topics["decisions"].partitions[1];
    records.clear();
    append(decision(1));
    append(decision(2));
    log_.topics["decisions"].failure =
        base::Error{base::ErrorCode::kUnavailable, "broker_down", "no answer"};
    EXPECT_EQ(reason_of_catch_up(), "broker_down");
    log_.topics["decisions"].failure = {};
    EXPECT_EQ(reason_of_catch_up(), "topic_recreated");
    open();
    EXPECT_EQ(reason_of_catch_up(), "topic_recreated");
    EXPECT_FALSE(index_->accept_gap("decisions", kAll)->has_value());
    const auto gap = index_->accept_gap("decisions", kHere).value();
    ASSERT_TRUE(gap);
    EXPECT_EQ(gap->from, Offset(1));
    EXPECT_EQ(gap->to, Offset(0));
    EXPECT_EQ(reason_of_catch_up(), "");
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(has(decision(i)));
}

TEST_F(DecisionIndexTest, RemembersHowFarEachSourceOfApplicationsHasBeenDecided) {
    const PartitionId zero(0), one(1);
    const auto check = [&] {
        streaming::SourceChecks checks(log_);
        return index_->check_source("applications", zero, checks);
    };
    EXPECT_FALSE(index_->bookmark("applications", zero)->has_value());
    EXPECT_TRUE(check());
    const streaming::Record record{"k", "v", {}, {}};
    ASSERT_TRUE(log_.append_to("applications", zero, {&record, 1}));
    ASSERT_TRUE(log_.append_to("applications", one, {&record, 1}));
    const auto mark = streaming::bookmark_after(log_.topics["applications"].partitions[0].front());
    ASSERT_TRUE(index_->put_progress("applications", {{zero, mark}}));
    open();
    EXPECT_EQ(index_->bookmark("applications", zero).value(), mark);
    EXPECT_TRUE(check());

    log_.topics["applications"].identity = "2";
    EXPECT_EQ(check().error().reason, "topic_recreated");
    EXPECT_TRUE(index_->accept_gap("applications", kAll).value().has_value());
    EXPECT_EQ(index_->bookmark("applications", zero).value(), streaming::Bookmark{});
    EXPECT_TRUE(check());

    log_.topics["applications"].partitions.emplace_back();
    EXPECT_EQ(check().error().reason, "partitions_changed");
    EXPECT_TRUE(index_->accept_gap("applications", kAll).value().has_value());
    EXPECT_TRUE(check());
}

TEST_F(DecisionIndexTest, KeepsWhatMadeNoSenseUntilItIsDropped) {
    const streaming::StoredRecord stored{kElsewhere, Offset(7), {"k", "v", {}, {}}};
    const auto one = wire::quarantine("applications", stored,
                                      base::Error{base::ErrorCode::kInvalidArgument, "why", "so"});
    ASSERT_TRUE(index_->put_progress("applications", {{kElsewhere, {Offset(8), ""}}}, {&one, 1}));
    open();
    EXPECT_EQ(index_->quarantined(10).value(), std::vector{one});
    EXPECT_TRUE(index_->quarantined(0)->empty());
    EXPECT_EQ(index_->find_quarantined("applications", kElsewhere, Offset(7)).value(), one);
    EXPECT_FALSE(index_->find_quarantined("applications", kElsewhere, Offset(8))->has_value());
    ASSERT_TRUE(index_->drop_quarantined(one));
    EXPECT_TRUE(index_->quarantined(10)->empty());
}

TEST_F(DecisionIndexTest, AnErasedDecisionIsNotFoundNorTakenInAgainWhateverTheOrder) {
    const auto erase = [](const domain::Decision& one) {
        return wire::to_record(domain::Erasure{one.id, support::day(9)});
    };
    append(decision(0));
    append(decision(1));
    append(erase(decision(0)));
    append(erase(decision(2)));  // before it arrives
    append(decision(0));
    append(decision(2));
    ASSERT_TRUE(index_->catch_up());
    for (const int n : {0, 2}) EXPECT_EQ(index_->find(decision(n).id).error().reason, "erased");
    EXPECT_TRUE(has(decision(1)));
    EXPECT_EQ(index_->counts().repeated, 2u);
    open();
    EXPECT_EQ(index_->find(decision(0).id).error().reason, "erased");
}

TEST_F(DecisionIndexTest, AnExplanationIsKeptOnceAndGoesWithItsDecision) {
    append(decision(0));
    append(decision(1));
    ASSERT_TRUE(index_->catch_up());
    const auto kept = [&](int n) { return index_->explanation(decision(n).id).value(); };
    const auto keep = [&](int n, const std::string& bytes) {
        const DecisionIndex::Explanation one{decision(n).id, bytes};
        ASSERT_TRUE(index_->keep_explanations({&one, 1}));
    };
    EXPECT_EQ(kept(0), std::nullopt);
    keep(0, "first");
    keep(0, "second");
    const DecisionIndex::Explanation both[] = {{decision(1).id, "a"}, {decision(1).id, "b"}};
    ASSERT_TRUE(index_->keep_explanations(both));
    keep(2, "of a decision that is not there");
    open();
    EXPECT_EQ(kept(0), "first");
    EXPECT_EQ(kept(1), "a");
    EXPECT_EQ(kept(2), std::nullopt);
    append(wire::to_record(domain::Erasure{decision(0).id, support::day(9)}));
    ASSERT_TRUE(index_->catch_up());
    EXPECT_EQ(kept(0), std::nullopt);
    keep(0, "too late");
    EXPECT_EQ(kept(0), std::nullopt);
    EXPECT_EQ(kept(1), "a");
    EXPECT_EQ(index_->check().value(), std::vector<std::string>());
}

TEST_F(DecisionIndexTest, WritesThatEraseAreCountedAndOthersAreNot) {
    append(decision(0));
    append(decision(1));
    ASSERT_TRUE(index_->catch_up());
    const DecisionIndex::Explanation one{decision(0).id, "why"};
    ASSERT_TRUE(index_->keep_explanations({&one, 1}));
    fence(3, "node-b");
    ASSERT_TRUE(index_->catch_up());
    EXPECT_EQ(index_->erasing_writes(), 0u);
    append(wire::to_record(domain::Erasure{decision(0).id, support::day(9)}));
    ASSERT_TRUE(index_->catch_up());
    const auto once = index_->erasing_writes();
    EXPECT_GT(once, 0u);
    ASSERT_TRUE(index_->catch_up());
    EXPECT_EQ(index_->erasing_writes(), once) << "nothing was there to take in";
    append(wire::to_record(domain::Erasure{decision(1).id, support::day(9)}));
    ASSERT_TRUE(index_->catch_up());
    EXPECT_GT(index_->erasing_writes(), once);
}

TEST_F(DecisionIndexTest, ALeftOverExplanationIsFound) {
    append(decision(0));
    append(wire::to_record(domain::Erasure{decision(0).id, support::day(9)}));
    ASSERT_TRUE(index_->catch_up());
    index_.reset();
    storage::WriteBatch batch;
    batch.put(storage::ColumnFamily{4}, decision(0).id.value(), "left over");
    batch.put(storage::ColumnFamily{4}, decision(1).id.value(), "of none");
    ASSERT_TRUE(database()->write(batch, storage::Sync::kAlways));
    open();
    auto problems = index_->check().value();
    std::sort(problems.begin(), problems.end());
    std::vector<std::string> expected = {
        fmt::format("an explanation of decision '{}', which is erased", decision(0).id),
        fmt::format("an explanation of decision '{}', which is not there", decision(1).id)};
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(problems, expected);
}

TEST_F(DecisionIndexTest, AnErasureCountsBelowAFenceAndNotInAWrongPartition) {
    append(decision(0));
    fence(5, "node-b");
    append(wire::to_record(domain::Erasure{decision(0).id, support::day(9)}));
    append(wire::to_record(domain::Erasure{decision(0, kElsewhere).id, support::day(9)}));
    ASSERT_TRUE(index_->catch_up());
    EXPECT_EQ(index_->find(decision(0).id).error().reason, "erased");
    EXPECT_EQ(index_->counts().passed_over, 1u);
}

TEST_F(DecisionIndexTest, AfterCompactionAnErasedDecisionIsInNoFile) {
    auto one = decision(0);
    one.application.features = {{"job", std::string("lighthouse keeper")}};
    append(one);
    append(decision(1));
    ASSERT_TRUE(index_->catch_up());
    const DecisionIndex::Explanation why{one.id, "few years at sea"};
    ASSERT_TRUE(index_->keep_explanations({&why, 1}));
    append(wire::to_record(domain::Erasure{one.id, support::day(9)}));
    ASSERT_TRUE(index_->catch_up());
    const auto on_disk = [&](std::string_view bytes) {
        for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
            if (!entry.is_regular_file()) continue;
            const auto content = base::read_file(entry.path(), size_t{1} << 30);
            if (content && content->find(bytes) != std::string::npos) return true;
        }
        return false;
    };
    EXPECT_TRUE(on_disk("lighthouse keeper")) << "erased, and still in the files";
    ASSERT_TRUE(index_->compact_erased({&one.id, 1}));
    EXPECT_FALSE(on_disk("lighthouse keeper"));
    EXPECT_FALSE(on_disk("few years at sea"));
    EXPECT_TRUE(on_disk(decision(1).application.person.value()));
}

}  // namespace
}  // namespace rampart::decision_log
