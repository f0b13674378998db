#include "rampart/decision_log/decision_log.hpp"

#include <gtest/gtest.h>

#include "rampart/streaming/partition_list.hpp"
#include "rampart/wire/fence.hpp"
#include "rampart/wire/record_codec.hpp"
#include "support/decision_log_fixture.hpp"
#include "support/set_clock.hpp"

namespace rampart::decision_log {
namespace {

using streaming::PartitionId;

const PartitionId kZero(0), kOne(1);

/// Appends what it is given, and keeps what became of it.
class Given final : public Batch {
  public:
    Given(const DecisionLog& log, std::vector<domain::Decision> decisions)
        : log_(log), decisions_(std::move(decisions)) {}
    size_t size() const override { return decisions_.size(); }
    void add_partitions(std::set<OwnedPartition*>& partitions) const override {
        for (const auto& one : decisions_) partitions.insert(log_.owned(log_.home_of(one.id)));
    }
    void finalise(PendingDecisions& pending) override {
        for (const auto& one : decisions_) pending.add(*log_.owned(log_.home_of(one.id)), one);
    }
    void finish(const AppendResult& became) override { result = became; }

    AppendResult result;

  private:
    const DecisionLog& log_;
    std::vector<domain::Decision> decisions_;
};

/// Writes into a log, keeps how many records each call had for which partition, and fails what it
/// is asked to.
class Watched final : public streaming::Writer {
  public:
    explicit Watched(streaming::Writer& log) : log_(log) {}
    base::Result<std::vector<streaming::Position>> append(
        std::string_view topic, std::span<const streaming::Record> records) override {
        ++appends;
        return log_.append(topic, records);
    }
    base::Result<std::vector<streaming::Position>> append_to(
        std::string_view topic, PartitionId partition,
        std::span<const streaming::Record> records) override {
        calls.emplace_back(partition, records.size());
        if (partition == away)
            return base::Error{base::ErrorCode::kUnavailable, "no_leader", "no leader"};
        for (const auto& one : records) {
            if (one.key == refused)
                return base::Error{base::ErrorCode::kOutOfRange, "record_too_large", "large"};
        }
        return log_.append_to(topic, partition, records);
    }

    std::vector<std::pair<PartitionId, size_t>> calls;
    int appends = 0;
    std::optional<PartitionId> away;
    std::string refused;  // the key of a record

  private:
    streaming::Writer& log_;
};

class DecisionLogTest : public support::DecisionTopic {
  protected:
    void open(DecisionLogOptions options = {}) {
        decisions_.reset();
        auto opened = try_open(std::move(options));
        ASSERT_TRUE(opened) << opened.error().message;
        decisions_ = *std::move(opened);
    }
    base::Result<std::unique_ptr<DecisionLog>> try_open(DecisionLogOptions options) {
        if (options.folder.empty()) options.folder = folder_ / "partitions";
        if (options.partitions == 1) options.partitions = kPartitions;
        return DecisionLog::open(std::move(options), {log_, log_, clock_});
    }
    AppendResult append(std::vector<domain::Decision> decisions) {
        Given batch(*decisions_, std::move(decisions));
        decisions_->commit(batch);
        return batch.result;
    }
    bool has(const domain::Decision& one) {
        const auto* partition = decisions_->owned(decisions_->home_of(one.id));
        return decisions_->look_up(*partition, one.id).value() == one;
    }
    size_t records(PartitionId partition) {
        return log_.topics["decisions"].partitions[static_cast<size_t>(partition.value())].size();
    }

    support::SetClock clock_{support::day(100)};
    std::unique_ptr<DecisionLog> decisions_;
};

TEST_F(DecisionLogTest, WhatIsCommittedIsInTheLogAndInTheIndex) {
    open();
    const auto result = append({decision(0, kZero), decision(0, kOne), decision(1, kOne)});
    EXPECT_TRUE(result.refused.empty() && result.failed.empty() && result.fenced.empty());
    EXPECT_TRUE(result.earlier.empty());
    EXPECT_EQ(records(kZero), 1u);
    EXPECT_EQ(records(kOne), 2u);
    for (const auto& one : {decision(0, kZero), decision(0, kOne), decision(1, kOne)}) {
        EXPECT_TRUE(has(one));
    }
    EXPECT_TRUE(decisions_->any_decides());
    EXPECT_TRUE(decisions_->all_decide());
    EXPECT_TRUE(decisions_->all_whole());
    EXPECT_EQ(decisions_->partitions().size(), 2u);
}

TEST_F(DecisionLogTest, TellsTheDecisionThatCountsWhereAnotherWriterCameFirst) {
    open();
    auto first = decision(0, kOne), ours = first;
    ours.score = 0.9;
    const auto record = wire::to_record(first, 0);
    ASSERT_TRUE(log_.append_to("decisions", kOne, {&record, 1}));
    const auto result = append({ours});
    ASSERT_EQ(result.earlier.count(first.id), 1u);
    EXPECT_EQ(result.earlier.at(first.id), first);
    EXPECT_TRUE(result.fenced.empty());
}

TEST_F(DecisionLogTest, FindsAnothersFenceBeforeItsRecordAndGivesThePartitionUpOnce) {
    std::vector<PartitionId> told;
    DecisionLogOptions options;
    options.node = "a";
    options.claim = [](const Epochs&) -> base::Result<Epochs> {
        return Epochs{{kZero, 2}, {kOne, 2}};
    };
    options.on_given_up = [&](PartitionId p) { told.push_back(p); };
    open(std::move(options));
    const auto fence = wire::fence_record(3, "b", {});
    ASSERT_TRUE(log_.append_to("decisions", kOne, {&fence, 1}));
    const auto result = append({decision(0, kZero), decision(0, kOne)});
    ASSERT_EQ(result.fenced.size(), 1u);
    EXPECT_EQ(result.fenced.begin()->first->id(), kOne);
    EXPECT_EQ(result.fenced.begin()->second.reason, "fenced");
    EXPECT_EQ(told, std::vector{kOne});
    EXPECT_FALSE(decisions_->give_up(kOne, "b"));
    EXPECT_TRUE(decisions_->give_up(kZero, "b"));
    EXPECT_EQ(told, std::vector{kOne}) << "only what the log shows";
    EXPECT_EQ(decisions_->any_decides().error().reason, "fenced");
}

TEST_F(DecisionLogTest, ALogThatCannotBeReadFailsItsPartitionUntilItCan) {
    open();
    log_.topics["decisions"].failure =
        base::Error{base::ErrorCode::kUnavailable, "timeout", "no answer"};
    const auto record = wire::to_record(decision(5, kOne), 0);
    ASSERT_TRUE(log_.append_to("decisions", kOne, {&record, 1}));  // so that it has to be read
    const auto result = append({decision(0, kOne)});
    ASSERT_EQ(result.failed.size(), 1u);
    EXPECT_EQ(result.failed.begin()->second.reason, "timeout");
    EXPECT_FALSE(decisions_->all_decide());
    EXPECT_TRUE(decisions_->any_decides());
    log_.topics["decisions"].failure = {};
    decisions_->maintain();
    EXPECT_TRUE(decisions_->all_decide());
    EXPECT_TRUE(has(decision(0, kOne)));
}

TEST_F(DecisionLogTest, ErasesInTheLogAndInTheIndex) {
    open();
    append({decision(0, kZero), decision(0, kOne)});
    const std::vector gone{decision(0, kOne).id};
    EXPECT_EQ(decisions_->not_erased(gone).value(), gone);
    ASSERT_TRUE(decisions_->erase(gone, clock_.now()));
    EXPECT_EQ(records(kOne), 2u);
    EXPECT_EQ(decisions_->look_up(*decisions_->owned(kOne), gone[0]).error().reason, "erased");
    EXPECT_TRUE(has(decision(0, kZero)));
    EXPECT_TRUE(decisions_->not_erased(gone)->empty());
    EXPECT_TRUE(decisions_->not_erased(std::vector{domain::DecisionId("unknown")})->empty());
    ASSERT_TRUE(decisions_->compact_erased());
    // an erasure that another wrote is taken in when no decision is named
    const auto erasure = wire::to_record(domain::Erasure{decision(0, kZero).id, clock_.now()});
    ASSERT_TRUE(log_.append_to("decisions", kZero, {&erasure, 1}));
    ASSERT_TRUE(decisions_->erase({}, clock_.now()));
    EXPECT_FALSE(decisions_->look_up(*decisions_->owned(kZero), decision(0, kZero).id));
}

TEST_F(DecisionLogTest, WhatOthersErasedIsReadOnlyWhereTheLogHasMoreThanTheIndex) {
    open();
    append({decision(0, kZero), decision(0, kOne)});
    log_.topics["decisions"].failure =
        base::Error{base::ErrorCode::kUnavailable, "timeout", "no answer"};
    EXPECT_TRUE(decisions_->erase({}, clock_.now())) << "nothing had to be read";
    const auto erasure = wire::to_record(domain::Erasure{decision(0, kZero).id, clock_.now()});
    ASSERT_TRUE(log_.append_to("decisions", kZero, {&erasure, 1}));
    EXPECT_EQ(decisions_->erase({}, clock_.now()).error().reason, "timeout");
    log_.topics["decisions"].failure = {};
    ASSERT_TRUE(decisions_->erase({}, clock_.now())) << "the others do not wait for it";
    EXPECT_FALSE(decisions_->all_decide()) << "it was not asked";
    decisions_->maintain();
    EXPECT_TRUE(decisions_->all_decide());
    EXPECT_FALSE(decisions_->look_up(*decisions_->owned(kZero), decision(0, kZero).id));
    EXPECT_TRUE(has(decision(0, kOne)));
}

TEST_F(DecisionLogTest, AnIndexThatIsFarBehindIsMadeAnewBetweenCommits) {
    log_.create("one", 1);
    for (int i = 0; i < 1200; ++i) {
        const auto record = wire::to_record(support::make_decision(std::to_string(i), {}), 0);
        ASSERT_TRUE(log_.append("one", {&record, 1}));
    }
    DecisionLogOptions options{.folder = folder_ / "one", .topic = "one", .partitions = 1};
    decisions_ = DecisionLog::open(std::move(options), {log_, log_, clock_}).value();
    EXPECT_EQ(decisions_->upkeep().rebuilding, 1u);
    EXPECT_EQ(decisions_->all_whole().error().reason, "partition_rebuilding");
    const auto known = support::make_decision("1", {}).id;
    EXPECT_EQ(decisions_->look_up(*decisions_->owned(kZero), known).error().reason,
              "partition_rebuilding");
    while (decisions_->mend()) continue;
    EXPECT_EQ(decisions_->upkeep().rebuilding, 0u);
    EXPECT_TRUE(decisions_->look_up(*decisions_->owned(kZero), known)->has_value());
}

TEST_F(DecisionLogTest, AGapIsAcceptedByPartition) {
    open();
    append({decision(0, kOne), decision(1, kOne)});
    log_.drop_front("decisions", kOne, 2);
    const auto record = wire::to_record(decision(2, kOne), 0);
    ASSERT_TRUE(log_.append_to("decisions", kOne, {&record, 1}));
    log_.drop_front("decisions", kOne, 1);
    open();
    EXPECT_FALSE(decisions_->all_decide());
    const auto& stopped = *decisions_->owned(kOne);
    EXPECT_EQ(decisions_->refusal(stopped, stopped.status().error()).reason, "partition_stopped");
    EXPECT_TRUE(decisions_->accept_gap(kZero)->empty());
    const auto accepted = decisions_->accept_gap(kOne).value();
    ASSERT_EQ(accepted.size(), 1u);
    EXPECT_EQ(accepted[0].from, streaming::Offset(2));
    EXPECT_EQ(accepted[0].to, streaming::Offset(3));
    EXPECT_TRUE(decisions_->all_decide());
    EXPECT_EQ(decisions_->accept_gap(PartitionId(7)).error().reason, "not_owner");
}

TEST_F(DecisionLogTest, AfterPartitionsWereAddedEachPartitionIsAppendedToInOneCall) {
    open();
    decisions_.reset();
    log_.topics["decisions"].partitions.resize(kPartitions + 1);
    Watched writer(log_);
    DecisionLogOptions options{.folder = folder_ / "partitions", .partitions = kPartitions};
    decisions_ = DecisionLog::open(std::move(options), {log_, writer, clock_}).value();
    ASSERT_EQ(decisions_->accept_gap(PartitionId(-1))->size(), 2u);
    writer.calls.clear();
    std::vector<domain::Decision> all;
    for (int n = 0; n < 20; ++n)
        for (const auto partition : {kOne, kZero}) all.push_back(decision(n, partition));
    const auto result = append(all);
    EXPECT_TRUE(result.refused.empty() && result.failed.empty() && result.fenced.empty());
    EXPECT_EQ(writer.calls, (std::vector{std::pair(kZero, size_t{20}), {kOne, size_t{20}}}));
    EXPECT_EQ(writer.appends, 0) << "a key's partition is not the decision's";
    for (const auto& one : all) EXPECT_TRUE(has(one));
    EXPECT_EQ(records(PartitionId(kPartitions)), 0u);

    // one that is refused for what it is keeps no other out
    writer.calls.clear();
    const auto large = decision(21, kZero);
    writer.refused = large.id.value();
    const auto some = append({decision(20, kZero), large, decision(20, kOne)});
    EXPECT_EQ(some.refused.size(), 1u);
    EXPECT_EQ(some.refused.count(large.id), 1u);
    EXPECT_TRUE(some.failed.empty());
    EXPECT_TRUE(has(decision(20, kZero)) && has(decision(20, kOne)));
    EXPECT_EQ(writer.calls.size(), 4u) << "together, and the two one by one; the other partition";

    // a partition without a leader fails its own
    writer.refused.clear();
    writer.away = kZero;
    const auto half = append({decision(22, kZero), decision(22, kOne)});
    ASSERT_EQ(half.failed.size(), 1u);
    EXPECT_EQ(half.failed.begin()->first->id(), kZero);
    EXPECT_TRUE(has(decision(22, kOne)));
}

TEST_F(DecisionLogTest, RefusesWhatDoesNotFitTheTopic) {
    const auto reason = [&](DecisionLogOptions options) {
        const auto opened = try_open(std::move(options));
        return opened ? "" : opened.error().reason;
    };
    const auto with = [](int32_t partitions, std::vector<PartitionId> owned,
                         const std::string& topic = "decisions") {
        DecisionLogOptions options;
        options.partitions = partitions;
        options.owned = std::move(owned);
        options.topic = topic;
        return options;
    };
    EXPECT_EQ(reason(with(3, {})), "partitions_changed");
    EXPECT_EQ(reason(with(0, {})), "bad_partitions");
    EXPECT_EQ(reason(with(2, {kOne, kOne})), "bad_partitions");
    EXPECT_EQ(reason(with(2, {PartitionId(2)})), "bad_partitions");
    EXPECT_EQ(reason(with(2, {}, "elsewhere")), "no_topic");
    const auto fence = wire::fence_record(1, "b", {});
    ASSERT_TRUE(log_.append_to("decisions", kOne, {&fence, 1}));
    EXPECT_EQ(reason({}), "fenced");
    DecisionLogOptions claims;
    claims.claim = [](const Epochs&) -> base::Result<Epochs> { return Epochs{}; };
    EXPECT_EQ(reason(std::move(claims)), "no_epoch");
}

TEST_F(DecisionLogTest, OneThatOwnsNothingHasNoIndexAndErasesForOthers) {
    DecisionLogOptions options;
    options.owned = streaming::no_partitions();
    bool claimed = false;
    options.claim = [&](const Epochs& fences) -> base::Result<Epochs> {
        claimed = !fences.empty();
        return Epochs{};
    };
    open(std::move(options));
    EXPECT_FALSE(claimed);
    EXPECT_TRUE(decisions_->partitions().empty());
    EXPECT_TRUE(decisions_->any_decides()) << "it is not what keeps the node from being ready";
    EXPECT_EQ(decisions_->not_owner(kOne).reason, "not_owner");
    const domain::DecisionId id("d");
    const size_t before = records(kZero) + records(kOne);
    EXPECT_TRUE(decisions_->erase({&id, 1}, {}));
    EXPECT_TRUE(decisions_->erase({}, {}));
    EXPECT_EQ(records(kZero) + records(kOne), before + 1);
    EXPECT_EQ(decisions_->not_erased({&id, 1}).value().size(), 1u) << "its owner may have it";
    EXPECT_FALSE(decisions_->mend());
    decisions_->maintain();
}

TEST_F(DecisionLogTest, NamesTheOwnerOfWhatIsNotOwned) {
    DecisionLogOptions options;
    options.owned = {kOne};
    std::optional owner(Owner{"b", "https://b.example:8443"});
    options.owner_of = [&](PartitionId) { return owner; };
    open(std::move(options));
    EXPECT_EQ(decisions_->owned(kZero), nullptr);
    EXPECT_EQ(decisions_->owned(PartitionId(-1)), nullptr);
    EXPECT_EQ(decisions_->owned(PartitionId(2)), nullptr);
    const auto error = decisions_->not_owner(kZero);
    EXPECT_EQ(error.reason, "not_owner");
    EXPECT_NE(error.message.find("the node 'b'"), std::string::npos);
    EXPECT_TRUE(decisions_->is_elsewhere(kZero));
    EXPECT_EQ(decisions_->other_owner(kZero)->address, "https://b.example:8443");
    owner.reset();
    EXPECT_FALSE(decisions_->other_owner(kZero));
    EXPECT_NE(decisions_->not_owner(kZero).message.find("another node"), std::string::npos);
    EXPECT_FALSE(decisions_->is_elsewhere(kOne));
    // it has lost the partition, and holds the lease as far as it has read
    EXPECT_TRUE(decisions_->give_up(kOne, "b"));
    owner = Owner{"node", "https://node.example:8443"};
    EXPECT_TRUE(decisions_->is_elsewhere(kOne));
    EXPECT_FALSE(decisions_->other_owner(kOne)) << "it names itself";
    const auto damage = base::Error{base::ErrorCode::kDataLoss, "bad_block", "x"};
    EXPECT_EQ(decisions_->unless_rebuilding(kOne, damage).reason, "bad_block");
}

}  // namespace
}  // namespace rampart::decision_log
