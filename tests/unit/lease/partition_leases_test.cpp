#include "rampart/lease/partition_leases.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>

#include "support/memory_log.hpp"

namespace rampart::lease {
namespace {

using base::Duration;
using streaming::PartitionId;
using Epochs = PartitionLeases::Epochs;

const PartitionId kZero(0), kOne(1), kTwo(2);
constexpr Duration kTtl = Duration::seconds(9);
constexpr Duration kBeat = Duration::seconds(3);

/// Time that passes only in a wait; what happens meanwhile is up to the test.
class FakeTimer final : public Timer {
  public:
    Duration now() const override { return now_; }
    bool wait(Duration duration) const override {
        now_ = Duration::micros(now_.micros() + duration.micros());
        if (const auto call = meanwhile) call();  // a copy: it may put another in its place
        return !stop;
    }
    std::function<void()> meanwhile;
    bool stop = false;

  private:
    mutable Duration now_;
};

class FixedClock final : public base::Clock {
  public:
    base::TimePoint now() const override { return base::TimePoint::from_micros(7); }
};

/// Calls `before` whenever a node is about to touch the log: there another node may act, as if
/// this one had been put to sleep.
class InterruptedLog final : public streaming::Reader, public streaming::Writer {
  public:
    InterruptedLog(support::MemoryLog& log, std::function<void()> before)
        : log_(log), before_(std::move(before)) {}
    base::Result<int32_t> partitions(std::string_view topic) const override {
        return log_.partitions(topic);
    }
    base::Result<std::string> identity(std::string_view topic) const override {
        return log_.identity(topic);
    }
    base::Result<std::vector<streaming::StoredRecord>> read(std::string_view topic, PartitionId id,
                                                            streaming::Offset from,
                                                            size_t limit) const override {
        before_();
        return log_.read(topic, id, from, limit);
    }
    base::Result<streaming::Offset> begin_offset(std::string_view topic,
                                                 PartitionId id) const override {
        return log_.begin_offset(topic, id);
    }
    base::Result<streaming::Offset> end_offset(std::string_view topic,
                                               PartitionId id) const override {
        return log_.end_offset(topic, id);
    }
    base::Result<std::vector<streaming::Position>> append(
        std::string_view topic, std::span<const streaming::Record> records) override {
        return append_to(topic, kZero, records);
    }
    base::Result<std::vector<streaming::Position>> append_to(
        std::string_view topic, PartitionId id,
        std::span<const streaming::Record> records) override {
        before_();
        if (fail) return base::Error{base::ErrorCode::kUnavailable, "broker_down", "no answer"};
        return log_.append_to(topic, id, records);
    }
    bool fail = false;

  private:
    support::MemoryLog& log_;
    std::function<void()> before_;
};

class PartitionLeasesTest : public testing::Test {
  protected:
    PartitionLeasesTest() { log_.create("leases", 1); }

    std::unique_ptr<PartitionLeases> node(const std::string& name) {
        return PartitionLeases::create({"leases", "g", name, kTtl}, {log_, log_, clock_, timer_})
            .value();
    }
    static std::string reason(const base::Result<Epochs>& claim) {
        return claim ? "" : claim.error().reason;
    }
    /// While a node waits, `other` is alive.
    void let_beat(PartitionLeases& other) {
        timer_.meanwhile = [this, &other, last = timer_.now()]() mutable {
            if (timer_.now().micros() - last.micros() < kBeat.micros()) return;
            last = timer_.now();
            EXPECT_TRUE(other.heartbeat());
        };
    }

    support::MemoryLog log_;
    FixedClock clock_;
    FakeTimer timer_;
};

TEST_F(PartitionLeasesTest, ALookShowsALeaseThatWasGivenUp) {
    const auto a = node("a"), b = node("b");
    EXPECT_FALSE(b->look(kTrainer).value());
    ASSERT_TRUE(a->claim({kTrainer}, {{kTrainer, 4}}));
    EXPECT_EQ(b->look(kTrainer).value()->epoch, 5u);
    EXPECT_EQ(b->look(kTrainer).value()->session, a->session());
    EXPECT_EQ(b->holder(kTrainer), (Holder{kTrainer, "a", 5}));
    EXPECT_FALSE(b->look(kZero).value()) << "it is no partition";
    ASSERT_TRUE(a->release());
    EXPECT_TRUE(b->look(kTrainer).value()->released);
    EXPECT_EQ(b->holder(kTrainer), std::nullopt);
}

TEST_F(PartitionLeasesTest, WhoTrainsAndIsAliveIsNamed) {
    const auto a = node("a"), b = node("b");
    ASSERT_TRUE(a->claim({kTrainer}));
    let_beat(*a);
    EXPECT_EQ(reason(b->claim({kTrainer})), "trainer_elsewhere");
}

TEST_F(PartitionLeasesTest, WhatNobodyHoldsIsTakenAtOnce) {
    const auto a = node("a");
    EXPECT_EQ(a->claim({kZero, kOne}).value(), (Epochs{{kZero, 1}, {kOne, 1}}));
    EXPECT_EQ(timer_.now(), Duration());
    EXPECT_EQ(a->owned(), (Epochs{{kZero, 1}, {kOne, 1}}));
    EXPECT_EQ(a->holder(kOne), (Holder{kOne, "a", 1}));
    EXPECT_EQ(a->holder(kTwo), std::nullopt);
    EXPECT_EQ(a->claim({kZero}).value(), (Epochs{{kZero, 1}}));  // it has it
    EXPECT_TRUE(a->heartbeat()->empty());
}

TEST_F(PartitionLeasesTest, TheirAgeCountsFromTheLastRenewal) {
    const auto a = node("a");
    EXPECT_EQ(a->age(), std::nullopt);
    ASSERT_TRUE(a->claim({kZero}));
    timer_.wait(kBeat);
    EXPECT_EQ(a->age(), kBeat);
    ASSERT_TRUE(a->heartbeat());
    EXPECT_EQ(a->age(), Duration());
    timer_.wait(kTtl);
    EXPECT_EQ(a->age(), kTtl);
}

TEST_F(PartitionLeasesTest, TheLastSignIsWhenTheLogTookARecordThatCounted) {
    const auto a = node("a"), b = node("b");
    const auto at = [](int second) { return base::TimePoint::from_micros(second * 1'000'000); };
    const auto taken_at = [&](int second) {
        log_.topics["leases"].partitions[0].back().appended_at = at(second);
        EXPECT_TRUE(b->heartbeat());
        return b->last_sign(kTrainer);
    };
    EXPECT_TRUE(b->heartbeat());
    EXPECT_EQ(b->last_sign(kTrainer), std::nullopt) << "never claimed";
    ASSERT_TRUE(a->claim({kTrainer}));
    EXPECT_EQ(taken_at(100), at(100));
    ASSERT_TRUE(a->heartbeat());
    EXPECT_EQ(taken_at(200), at(200));
    EXPECT_EQ(b->last_sign(kZero), std::nullopt);
    const auto c = node("c");
    ASSERT_TRUE(c->claim({kZero}));
    EXPECT_EQ(taken_at(300), at(200)) << "a partition's lease";
    EXPECT_EQ(b->last_sign(kZero), at(300));
    ASSERT_TRUE(a->release());
    EXPECT_EQ(taken_at(400), at(400));
    auto late = log_.topics["leases"].partitions[0].front();
    late.appended_at = at(900);
    late.offset =
        streaming::Offset(static_cast<int64_t>(log_.topics["leases"].partitions[0].size()));
    log_.topics["leases"].partitions[0].push_back(late);  // a claim that lost
    EXPECT_TRUE(b->heartbeat());
    EXPECT_EQ(b->last_sign(kTrainer), at(400));
    EXPECT_EQ(node("d")->last_sign(kTrainer), std::nullopt) << "has read nothing";
}

TEST_F(PartitionLeasesTest, ANodeThatIsAliveIsNotRobbed) {
    const auto a = node("a"), b = node("b");
    ASSERT_TRUE(a->claim({kZero, kOne}));
    let_beat(*a);
    const auto refused = b->claim({kOne, kTwo});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, base::ErrorCode::kFailedPrecondition);
    EXPECT_EQ(refused.error().reason, "partition_owned");
    EXPECT_NE(refused.error().message.find("partition 1 of group 'g' is owned by the node 'a'"),
              std::string::npos)
        << refused.error().message;
    EXPECT_LT(timer_.now(), kTtl);  // no longer than it takes to see it
    EXPECT_TRUE(b->owned().empty());
    EXPECT_EQ(node("c")->claim({kTwo}).value(), (Epochs{{kTwo, 1}}));
    EXPECT_TRUE(a->heartbeat()->empty());
}

TEST_F(PartitionLeasesTest, WhoIsToBeginWithAPartitionSeesWhetherItIsFreeAndClaimsNothing) {
    auto a = node("a"), b = node("b");
    ASSERT_TRUE(b->check_free({kZero}));
    ASSERT_TRUE(a->claim({kZero}));
    const auto records = log_.topics["leases"].partitions[0].size();
    EXPECT_TRUE(a->check_free({kZero, kOne}));
    let_beat(*a);
    const auto refused = b->check_free({kZero, kOne});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "partition_owned");
    timer_.meanwhile = {};
    EXPECT_TRUE(b->check_free({kOne}));
    const auto beaten = log_.topics["leases"].partitions[0].size();
    EXPECT_GT(beaten, records) << "by the beats of a";
    EXPECT_TRUE(b->check_free({kZero})) << "a is silent now";
    EXPECT_EQ(log_.topics["leases"].partitions[0].size(), beaten);
    EXPECT_TRUE(b->owned().empty());
}

TEST_F(PartitionLeasesTest, ASilentNodeIsReplacedAfterOneTtlUnderAHigherEpoch) {
    const auto a = node("a"), b = node("b");
    ASSERT_TRUE(a->claim({kZero, kOne}));
    EXPECT_EQ(b->claim({kOne}).value(), (Epochs{{kOne, 2}}));
    EXPECT_EQ(timer_.now(), kTtl);
    // it wakes up
    EXPECT_EQ(a->heartbeat().value(), (std::vector{Holder{kOne, "b", 2}}));
    EXPECT_EQ(a->owned(), (Epochs{{kZero, 1}}));
    EXPECT_EQ(a->holder(kOne), (Holder{kOne, "b", 2}));
    EXPECT_TRUE(a->heartbeat()->empty());
    EXPECT_TRUE(b->heartbeat()->empty());
}

TEST_F(PartitionLeasesTest, TheHoldersTtlCountsNotTheClaimers) {
    const auto slow = PartitionLeases::create({"leases", "g", "slow", Duration::seconds(60)},
                                              {log_, log_, clock_, timer_})
                          .value();
    ASSERT_TRUE(slow->claim({kZero}));
    ASSERT_TRUE(node("b")->claim({kZero}));
    EXPECT_EQ(timer_.now(), Duration::seconds(60));
}

TEST_F(PartitionLeasesTest, ANodeTakesItsOwnLeaseBackAtOnce) {
    ASSERT_TRUE(node("a")->claim({kZero}));
    const auto again = node("a");
    EXPECT_EQ(again->claim({kZero}).value(), (Epochs{{kZero, 2}}));
    EXPECT_EQ(timer_.now(), Duration());
}

TEST_F(PartitionLeasesTest, WhatWasReleasedIsTakenAtOnce) {
    const auto a = node("a"), b = node("b");
    ASSERT_TRUE(a->claim({kZero}));
    ASSERT_TRUE(a->release());
    EXPECT_TRUE(a->owned().empty());
    EXPECT_EQ(a->holder(kZero), std::nullopt);
    EXPECT_EQ(b->claim({kZero}).value(), (Epochs{{kZero, 2}}));
    EXPECT_EQ(timer_.now(), Duration());
    EXPECT_TRUE(a->heartbeat()->empty());
    EXPECT_TRUE(b->heartbeat()->empty());
}

TEST_F(PartitionLeasesTest, ALeaseThatIsReleasedWhileItIsWatchedIsTaken) {
    const auto a = node("a"), b = node("b");
    ASSERT_TRUE(a->claim({kZero}));
    timer_.meanwhile = [&] { EXPECT_TRUE(a->release()); };
    EXPECT_EQ(b->claim({kZero}).value(), (Epochs{{kZero, 2}}));
}

TEST_F(PartitionLeasesTest, OfTwoThatWaitForTheSameSilenceTheFirstInTheLogWins) {
    ASSERT_TRUE(node("dead")->claim({kZero, kOne}));
    const auto a = node("a"), b = node("b");
    base::Result<Epochs> first = Epochs();
    timer_.meanwhile = [&] {
        timer_.meanwhile = nullptr;
        first = a->claim({kZero, kOne});
    };
    EXPECT_EQ(reason(b->claim({kOne, kTwo})), "partition_owned");
    EXPECT_EQ(first.value(), (Epochs{{kZero, 2}, {kOne, 2}}));
    EXPECT_TRUE(b->owned().empty());
    EXPECT_EQ(node("c")->claim({kTwo}).value().size(), 1u);
    EXPECT_TRUE(a->heartbeat()->empty());
}

TEST_F(PartitionLeasesTest, TheLoserOfARaceGivesBackWhatItWon) {
    const auto a = node("a");
    bool raced = false;
    InterruptedLog log(log_, [&] {
        // just before its claim gets into the log
        if (raced || log_.topics.at("leases").partitions[0].size() != 2) return;
        raced = true;
        ASSERT_TRUE(a->claim({kOne}));
    });
    ASSERT_TRUE(node("c")->claim({kTwo}));
    const auto b =
        PartitionLeases::create({"leases", "g", "b", kTtl}, {log_, log, clock_, timer_}).value();
    EXPECT_EQ(reason(b->claim({kZero, kOne})), "partition_owned");
    EXPECT_TRUE(raced);
    EXPECT_TRUE(b->owned().empty());
    const auto before = timer_.now();
    EXPECT_TRUE(node("d")->claim({kZero}));
    EXPECT_EQ(timer_.now(), before);  // no wait is needed
}

TEST_F(PartitionLeasesTest, EpochsAreAboveTheFencesInTheLog) {
    const auto a = node("a");
    EXPECT_EQ(a->claim({kZero, kOne}, {{kOne, 41}}).value(), (Epochs{{kZero, 1}, {kOne, 42}}));
    EXPECT_EQ(node("a")->claim({kOne}, {{kOne, 7}}).value(), (Epochs{{kOne, 43}}));
}

TEST_F(PartitionLeasesTest, ToBeToldToStopEndsTheWatch) {
    ASSERT_TRUE(node("a")->claim({kZero}));
    timer_.stop = true;
    const auto b = node("b");
    EXPECT_EQ(reason(b->claim({kZero})), "stopped");
    EXPECT_TRUE(b->owned().empty());
}

TEST_F(PartitionLeasesTest, ABrokerThatCannotBeReadIsNotSilenceOfTheHolder) {
    const auto a = node("a"), b = node("b");
    ASSERT_TRUE(a->claim({kZero}));
    timer_.meanwhile = [&] {
        log_.topics["leases"].failure =
            base::Error{base::ErrorCode::kUnavailable, "broker_down", "no answer"};
    };
    EXPECT_EQ(reason(b->claim({kZero})), "broker_down");
    log_.topics["leases"].failure = {};
    timer_.meanwhile = nullptr;
    EXPECT_TRUE(b->claim({kZero}));
}

TEST_F(PartitionLeasesTest, WhatWasLostIsToldEvenIfTheBeatDoesNotGetThrough) {
    InterruptedLog log(log_, [] {});
    const auto a =
        PartitionLeases::create({"leases", "g", "a", kTtl}, {log_, log, clock_, timer_}).value();
    ASSERT_TRUE(a->claim({kZero, kOne}));
    ASSERT_TRUE(node("b")->claim({kZero}));
    log.fail = true;
    EXPECT_EQ(a->heartbeat().error().reason, "broker_down");
    EXPECT_EQ(a->owned(), (Epochs{{kOne, 1}}));
    log.fail = false;
    EXPECT_EQ(a->heartbeat().value(), (std::vector{Holder{kZero, "b", 2}}));
}

TEST_F(PartitionLeasesTest, AClaimThatFailedHalfWayCanBeMadeAgain) {
    InterruptedLog log(log_, [] {});
    const auto a =
        PartitionLeases::create({"leases", "g", "a", kTtl}, {log_, log, clock_, timer_}).value();
    log.fail = true;
    EXPECT_EQ(reason(a->claim({kZero})), "broker_down");
    log.fail = false;
    EXPECT_TRUE(a->claim({kZero}));
}

TEST_F(PartitionLeasesTest, OthersLearnWhereTheHolderIsReached) {
    const std::string address = "https://a.example:8443";
    const auto a =
        PartitionLeases::create({"leases", "g", "a", kTtl, address}, {log_, log_, clock_, timer_})
            .value();
    const auto b = node("b");
    ASSERT_TRUE(a->claim({kZero}));
    ASSERT_TRUE(b->claim({kOne}));
    ASSERT_TRUE(a->heartbeat());
    EXPECT_EQ(b->holder(kZero), (Holder{kZero, "a", 1, address}));
    EXPECT_EQ(a->holder(kOne), (Holder{kOne, "b", 1}));
    ASSERT_TRUE(a->heartbeat());  // each beat has it, as compaction keeps the last
    for (const auto& stored : log_.topics.at("leases").partitions[0]) {
        const auto record = decode_lease(stored.record.value).value();
        EXPECT_EQ(record.address, record.node == "a" ? address : "");
    }
    ASSERT_TRUE(b->claim({kZero}));  // a is silent
    EXPECT_EQ(a->heartbeat().value(), (std::vector{Holder{kZero, "b", 2}}));
}

TEST_F(PartitionLeasesTest, OptionsHaveTheirRanges) {
    const auto reason_of = [&](LeaseOptions options) {
        const auto made = PartitionLeases::create(options, {log_, log_, clock_, timer_});
        return made ? "" : made.error().reason;
    };
    EXPECT_EQ(reason_of({"leases", "g", "n", Duration::micros(100'000)}), "");
    EXPECT_EQ(reason_of({"leases", "g", "n", Duration::hours(1)}), "");
    EXPECT_EQ(reason_of({"leases", "g", "n", Duration::micros(99'999)}), "bad_ttl");
    EXPECT_EQ(reason_of({"leases", "g", "n", Duration::micros(3'600'000'001)}), "bad_ttl");
    EXPECT_EQ(reason_of({"leases", "g/h", "n", kTtl}), "bad_name");
    EXPECT_EQ(reason_of({"leases", "g", "", kTtl}), "bad_name");
    EXPECT_EQ(reason_of({"leases", "g", "n", kTtl, "n.example"}), "bad_node_address");
}

/// Three nodes over one log. Every time that one of them touches the log or waits, others may act,
/// to any depth: it sleeps meanwhile.
class World {
  public:
    World() {
        log_.create("leases", 1);
        timer_.meanwhile = [this] { interrupt(); };
        for (int i = 0; i < kNodes; ++i) restart(i);
    }

    void run(std::vector<int> script) {
        script_ = std::move(script);
        while (!script_.empty()) act();
        timer_.meanwhile = nullptr;
        for (auto& node : nodes_) RC_ASSERT(node->heartbeat().has_value());
    }

    /// At most one node believes that it owns a partition, and under the highest epoch; no epoch
    /// was given twice, and in the order of the log they grow.
    void check() const {
        std::map<PartitionId, uint64_t> given;
        for (const auto& stored : log_.topics.at("leases").partitions[0]) {
            const auto record = decode_lease(stored.record.value).value();
            const auto key = lease_of(stored.record.key).value();
            if (record.kind != LeaseRecord::Kind::kClaim) continue;
            const auto id = std::pair(key.second, record.epoch);
            const auto winner = won_.find(id);
            if (winner == won_.end() || winner->second != record.session) continue;
            // the same again: its winner had failed before
            RC_ASSERT(record.epoch >= given[key.second]);
            given[key.second] = record.epoch;
        }
        std::set<PartitionId> held;
        for (const auto& node : nodes_) {
            for (const auto& [p, epoch] : node->owned()) {
                RC_ASSERT(held.insert(p).second);
                RC_ASSERT(epoch == given.at(p));
            }
        }
    }
    size_t claims_won() const { return won_.size(); }

  private:
    static constexpr int kNodes = 3, kPartitions = 3;

    int draw(int n) {
        if (script_.empty()) return 0;
        const int value = script_.back();
        script_.pop_back();
        return value % n;
    }
    void restart(int i) {
        const auto at = static_cast<size_t>(i);
        if (nodes_.size() <= at) nodes_.resize(at + 1);
        nodes_[at] = PartitionLeases::create({"leases", "g", fmt::format("n{}", i), kTtl},
                                             {*view_, *view_, clock_, timer_})
                         .value();
    }
    void interrupt() {
        while (draw(4) == 1) act();
    }
    void act() {
        const int i = draw(kNodes);
        const auto at = static_cast<size_t>(i);
        const int what = draw(8);
        if (busy_.contains(i)) return;
        busy_.insert(i);
        if (what == 0) {
            restart(i);
        } else if (what == 1) {
            RC_ASSERT(nodes_[at]->release().has_value());
        } else if (what < 4) {
            std::set<PartitionId> wanted;
            for (int n = 1 + draw(2); n > 0; --n) wanted.insert(PartitionId(draw(kPartitions)));
            const auto had = nodes_[at]->owned();
            const auto claimed = nodes_[at]->claim(wanted);
            if (claimed) {
                for (const auto& [p, epoch] : *claimed) {
                    if (!had.contains(p)) note(p, epoch, i);
                }
            } else {
                RC_ASSERT(claimed.error().reason == "partition_owned" ||
                          claimed.error().reason == "claim_failed");
            }
        } else {
            RC_ASSERT(nodes_[at]->heartbeat().has_value());
        }
        busy_.erase(i);
    }
    void note(PartitionId p, uint64_t epoch, int i) {
        const auto name = fmt::format("n{}", i);
        for (const auto& stored : log_.topics.at("leases").partitions[0]) {
            const auto record = decode_lease(stored.record.value).value();
            if (record.node != name || record.epoch != epoch ||
                stored.record.key != lease_key("g", p) || record.kind != LeaseRecord::Kind::kBeat) {
                continue;
            }
            const auto [at, fresh] = won_.emplace(std::pair(p, epoch), record.session);
            RC_ASSERT(fresh || at->second == record.session);
            return;
        }
        RC_FAIL("a claim that was won has no beat");
    }

    support::MemoryLog log_;
    FixedClock clock_;
    FakeTimer timer_;
    std::unique_ptr<InterruptedLog> view_ =
        std::make_unique<InterruptedLog>(log_, [this] { interrupt(); });
    std::vector<std::unique_ptr<PartitionLeases>> nodes_;
    std::set<int> busy_;
    std::vector<int> script_;
    std::map<std::pair<PartitionId, uint64_t>, std::string> won_;  // -> session
};

RC_GTEST_PROP(PartitionLeasesLaw, HoweverNodesInterleaveOneOwnsAPartitionAndEpochsGrow, ()) {
    const auto script =
        *rc::gen::container<std::vector<int>>(300, rc::gen::inRange(0, 1000)).as("script");
    World world;
    world.run(script);
    world.check();
    RC_TAG(world.claims_won() > 5 ? "more than 5 claims won" : "up to 5 claims won");
}

}  // namespace
}  // namespace rampart::lease
