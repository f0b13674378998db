#include "rampart/serving/application_consumer.hpp"

#include <gtest/gtest.h>

#include <set>

#include "integration/decision_service_fixture.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/data_retention/quarantine_bounds.hpp"
#include "rampart/wire/record_codec.hpp"

/// Applications that arrive in the log: each is decided once, whatever fails.
namespace rampart::serving {
namespace {

using namespace tests;  // NOLINT
using streaming::Offset;
using streaming::PartitionId;

constexpr int32_t kSources = 2;

/// A log that can fail: at reads, at appends, or at one partition of a topic.
class ShakyLog final : public streaming::Reader, public streaming::Writer {
  public:
    explicit ShakyLog(streaming_local::LocalLog& log) : log_(log) {}
    base::Result<int32_t> partitions(std::string_view topic) const override {
        if (down) return gone();
        return log_.partitions(topic);
    }
    base::Result<std::string> identity(std::string_view topic) const override {
        return log_.identity(topic);
    }
    base::Result<std::vector<streaming::StoredRecord>> read(std::string_view topic, PartitionId id,
                                                            Offset from,
                                                            size_t limit) const override {
        if (down || (topic == "applications" && dead_source == id)) return gone();
        if (topic == "applications") largest_read = std::max(largest_read, limit);
        return log_.read(topic, id, from, limit);
    }
    base::Result<Offset> begin_offset(std::string_view topic, PartitionId id) const override {
        return log_.begin_offset(topic, id);
    }
    base::Result<Offset> end_offset(std::string_view topic, PartitionId id) const override {
        return log_.end_offset(topic, id);
    }
    base::Result<std::vector<streaming::Position>> append(
        std::string_view topic, std::span<const streaming::Record> records) override {
        if (down || dead_topic == topic) return gone();
        if (topic == "decisions" && dead_partition) {
            for (const auto& record : records) {
                if (streaming::partition_of(record.key, 3) == *dead_partition) return gone();
            }
        }
        auto positions = log_.append(topic, records);
        if (topic == "decisions" && die_after_appends > 0 && --die_after_appends == 0) {
            down = true;
            return gone();
        }
        return positions;
    }
    base::Result<std::vector<streaming::Position>> append_to(
        std::string_view topic, PartitionId id,
        std::span<const streaming::Record> records) override {
        return log_.append_to(topic, id, records);
    }

    bool down = false;
    int die_after_appends = 0;  // the append is done, but its answer is lost
    std::optional<PartitionId> dead_source, dead_partition;
    std::string dead_topic;
    mutable size_t largest_read = 0;

  private:
    static base::Error gone() {
        return base::Error{base::ErrorCode::kUnavailable, "broker_down", "no answer"};
    }
    streaming_local::LocalLog& log_;
};

class ApplicationConsumerTest : public DecisionServiceTest {
  protected:
    void SetUp() override {
        DecisionServiceTest::SetUp();
        service_.reset();
        fs::remove_all(folder_ / "partitions");
        make_topic("applications", kSources);
        make_topic("quarantine", 1);
        consumer_options_.batch = 10;
        consumer_options_.retry_first = base::Duration();  // at every poll
        consumer_options_.retry_last = base::Duration();
        start();
    }
    void TearDown() override {
        consumer_.reset();
        DecisionServiceTest::TearDown();
    }
    void make_topic(const std::string& name, int32_t partitions) {
        ASSERT_TRUE(log_->create_topic(name, {partitions, streaming_local::Fsync::kNever, {}}));
    }
    /// Restarts after a crash.
    void start() {
        consumer_.reset();
        service_.reset();
        shaky_ = std::make_unique<ShakyLog>(*log_);
        health_ = std::make_unique<runtime::Health>();
        auto service =
            DecisionService::open(options_, {*shaky_, *shaky_, clock_, metrics_, *health_});
        ASSERT_TRUE(service) << service.error().message;
        service_ = *std::move(service);
        set_policy(constant(0.5));
        auto consumer = ApplicationConsumer::create(
            consumer_options_, {*shaky_, *shaky_, *service_, metrics_, *health_});
        ASSERT_TRUE(consumer);
        consumer_ = *std::move(consumer);
    }

    Offset send(const streaming::Record& record, int32_t source) {
        return log_->append_to("applications", PartitionId(source), {&record, 1})->front().offset;
    }
    /// Writes to any partition: keys play no role.
    Offset send(int number, int32_t source = 0) {
        auto record = wire::to_record(application(number));
        record.key = "anything";
        return send(record, source);
    }
    void send_many(int from, int to) {
        for (int i = from; i < to; ++i) send(i, i % kSources);
    }
    /// Polls until no application arrives and none is tried again.
    void poll_all() {
        for (int polls = 0, empty = 0; polls < 1000; ++polls) {
            const auto records = consumer_->poll();
            ASSERT_TRUE(records) << records.error().message;
            empty = *records == 0 ? empty + 1 : 0;
            if (empty == 2) return;
        }
        FAIL() << "no end of applications";
    }
    bool decided(int number) {
        return service_->find(domain::decision_id_of(application(number).id)).has_value();
    }
    /// Checks that all of these were decided, once each.
    void expect_logged(int count) {
        std::set<std::string> ids;
        const auto all = logged();
        for (const auto& decision : all) ids.insert(decision.application.id.value());
        EXPECT_EQ(all.size(), static_cast<size_t>(count));
        EXPECT_EQ(ids.size(), static_cast<size_t>(count));
    }
    std::string ready() {
        for (const auto& check : health_->report(runtime::Probe::kReady).checks) {
            if (check.name == "applications") {
                return check.status ? "" : check.status.error().reason;
            }
        }
        return "no check";
    }
    std::vector<wire::Quarantined> quarantined() {
        return consumer_->list_quarantined(100).value();
    }
    size_t quarantine_records() {
        return log_->read("quarantine", PartitionId(0), Offset(0), 100)->size();
    }

    std::unique_ptr<ShakyLog> shaky_;
    ConsumerOptions consumer_options_;
    std::unique_ptr<ApplicationConsumer> consumer_;
};

TEST_F(ApplicationConsumerTest, DecidesWhatArrivesInWhateverPartition) {
    send_many(0, 25);
    poll_all();
    expect_logged(25);
    for (int i = 0; i < 25; ++i) EXPECT_TRUE(decided(i)) << i;
    EXPECT_EQ(consumer_->poll().value(), 0u);
    send(25, 1);
    EXPECT_EQ(consumer_->poll().value(), 1u);
    expect_logged(26);
    EXPECT_EQ(ready(), "");
    EXPECT_LE(shaky_->largest_read, consumer_options_.batch);
    EXPECT_NE(metrics_.prometheus_text().find("rampart_applications_total{result=\"decided\"} 26"),
              std::string::npos);
}

TEST_F(ApplicationConsumerTest, AnApplicationThatIsReadAgainHasTheSameDecision) {
    send_many(0, 12);
    send_many(0, 12);
    poll_all();
    const auto before = logged();
    expect_logged(12);
    // all bookmarks are lost, and another policy decides
    consumer_.reset();
    service_.reset();
    fs::remove_all(folder_ / "partitions");
    start();
    set_policy(constant(0.9));
    poll_all();
    EXPECT_EQ(logged(), before);
}

TEST_F(ApplicationConsumerTest, AnErasedApplicationThatComesAgainIsSkippedAndNotStored) {
    send_many(0, 3);
    poll_all();
    const auto erased = domain::decision_id_of(application(1).id);
    ASSERT_TRUE(service_->erase({&erased, 1}, time("2005-05-01")));
    send(1);
    send(3);
    poll_all();
    EXPECT_EQ(service_->find(erased).error().reason, "erased");
    EXPECT_TRUE(decided(3));
    EXPECT_TRUE(quarantined().empty());
    EXPECT_EQ(quarantine_records(), 0u);
    EXPECT_EQ(ready(), "");
}

TEST_F(ApplicationConsumerTest, GoesOnWhereItStoodAfterARestart) {
    send_many(0, 12);
    poll_all();
    start();
    EXPECT_EQ(consumer_->poll().value(), 0u);
    send_many(12, 20);
    EXPECT_EQ(consumer_->poll().value(), 8u);
    expect_logged(20);
}

TEST_F(ApplicationConsumerTest, ACrashBetweenTheAppendAndTheBookmarkDecidesNothingTwice) {
    send_many(0, 40);
    for (int crashes = 1; crashes <= 5; ++crashes) {
        shaky_->die_after_appends = 2;
        while (!shaky_->down) ASSERT_TRUE(consumer_->poll());
        const auto in_log = logged();
        EXPECT_GE(in_log.size(), static_cast<size_t>(5 * crashes));
        start();
        set_policy(constant(crashes / 10.0));
        const auto again = logged();
        EXPECT_EQ(again, in_log);
        if (in_log.size() > 30) break;
    }
    poll_all();
    expect_logged(40);
}

TEST_F(ApplicationConsumerTest, UndecodableRecordsAreQuarantinedAndBlockNoOther) {
    send(1, 0);
    poll_all();
    auto unknown = application(2);
    unknown.features[0].name = "income";
    auto differs = application(1);
    differs.features[0].value = 99.0;
    auto old_schema = wire::to_record(application(3));
    old_schema.headers[0].value = "rampart.v1.Application/9";
    const Offset nonsense = send({"key", "nonsense", time("2005-01-01"), {{"schema", "x"}}}, 1);
    const Offset unfit = send(wire::to_record(unknown), 0);
    const Offset other = send(wire::to_record(differs), 0);
    const Offset old = send(old_schema, 1);
    send(4, 0);
    send(5, 1);
    poll_all();
    EXPECT_TRUE(decided(4));
    EXPECT_TRUE(decided(5));
    expect_logged(3);
    EXPECT_EQ(ready(), "");

    std::map<std::pair<int32_t, int64_t>, std::string> reasons;
    for (const auto& one : quarantined()) {
        EXPECT_EQ(one.topic, "applications");
        reasons[{one.partition.value(), one.offset.value()}] = one.reason;
    }
    EXPECT_EQ(reasons, (std::map<std::pair<int32_t, int64_t>, std::string>{
                           {{0, unfit.value()}, "unknown_feature"},
                           {{0, other.value()}, "application_differs"},
                           {{1, nonsense.value()}, "unknown_schema"},
                           {{1, old.value()}, "unknown_schema"}}));
    const auto published = log_->read("quarantine", PartitionId(0), Offset(0), 100).value();
    ASSERT_EQ(published.size(), 4u);
    std::set<std::string> values;
    for (const auto& record : published) values.insert(record.record.value);
    EXPECT_TRUE(values.contains("nonsense"));
    poll_all();
    start();
    poll_all();
    EXPECT_EQ(quarantine_records(), 4u);
    EXPECT_EQ(quarantined().size(), 4u);
}

TEST_F(ApplicationConsumerTest, TheQuarantineLosesTheOldestOfAllPartitionsToItsBounds) {
    const auto at = [](int day) { return time("2005-01-01") + base::Duration::days(day); };
    for (int n = 0; n < 12; ++n) send({"k", std::string(500, 'x'), at(n), {}}, n % kSources);
    poll_all();
    const auto days = base::Duration::days(15);
    const auto old = data_retention::trim(*consumer_, {1 << 20, days}, at(20)).value();
    EXPECT_EQ(old.too_old, 5u);
    EXPECT_EQ(data_retention::trim(*consumer_, {old.bytes / 2, days}, at(20))->too_much, 4u);
    EXPECT_EQ(quarantined().size(), 3u);
    for (const auto& one : quarantined()) EXPECT_GE(one.record.timestamp, at(9));
}

TEST_F(ApplicationConsumerTest, OutOfQuarantineByReplayOrForGood) {
    const auto wide =
        dataset::FeatureSchema::create({{"age", dataset::FeatureKind::kNumeric, {}},
                                        {"income", dataset::FeatureKind::kNumeric, {}}})
            .value();
    auto unfit = application(2);
    unfit.features.push_back({"income", 7.0});
    const Offset at = send(wire::to_record(unfit), 1);
    send({"key", "nonsense", {}, {}}, 0);
    poll_all();
    ASSERT_EQ(quarantined().size(), 2u);
    const auto still = consumer_->replay_quarantined(PartitionId(1), at).value();
    ASSERT_TRUE(still);
    EXPECT_EQ(still->reason, "unknown_feature");
    // a policy that has the feature
    auto policy =
        model::Policy::create(wide, {model::BootstrapLink{"age", {{0, 0.5}}, 0.5}}, {}, {}).value();
    const auto id = model::policy_id_of(model::encode_model_file(policy));
    set_policy(
        std::make_shared<const model::LoadedPolicy>(model::LoadedPolicy{std::move(policy), id}));
    EXPECT_FALSE(consumer_->replay_quarantined(PartitionId(1), at)->has_value());
    EXPECT_TRUE(decided(2));
    EXPECT_EQ(consumer_->replay_quarantined(PartitionId(1), at).error().reason, "not_quarantined");
    EXPECT_TRUE(consumer_->replay_quarantined(PartitionId(0), Offset(0)).value().has_value());
    ASSERT_TRUE(consumer_->drop_quarantined(PartitionId(0), Offset(0)));
    EXPECT_TRUE(quarantined().empty());
    EXPECT_EQ(consumer_->drop_quarantined(PartitionId(0), Offset(0)).error().reason,
              "not_quarantined");
}

TEST_F(ApplicationConsumerTest, WhileTheLogIsAwayNothingIsLostNorQuarantined) {
    send_many(0, 6);
    shaky_->down = true;
    EXPECT_FALSE(consumer_->poll());
    EXPECT_EQ(ready(), "broker_down");
    shaky_->down = false;
    shaky_->dead_topic = "decisions";
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(consumer_->poll());
    EXPECT_EQ(ready(), "broker_down");
    expect_logged(0);
    shaky_->dead_topic.clear();
    poll_all();
    expect_logged(6);
    EXPECT_TRUE(quarantined().empty());
    EXPECT_EQ(ready(), "");
}

TEST_F(ApplicationConsumerTest, WithoutAQuarantineToWriteToNothingIsPassedOver) {
    shaky_->dead_topic = "quarantine";
    send({"key", "nonsense", {}, {}}, 0);
    send_many(0, 8);
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(consumer_->poll());
    EXPECT_EQ(ready(), "broker_down");
    EXPECT_TRUE(quarantined().empty());
    shaky_->dead_topic.clear();
    poll_all();
    EXPECT_EQ(quarantined().size(), 1u);
    EXPECT_EQ(quarantine_records(), 1u);
    expect_logged(8);
}

TEST_F(ApplicationConsumerTest, APartitionThatCannotBeWrittenHoldsNoOtherUp) {
    shaky_->dead_partition = PartitionId(1);
    send_many(0, 200);
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(consumer_->poll());
    int there = 0, missing = 0;
    for (int i = 0; i < 200; ++i) {
        const bool dead = service_->partition_of(application(i).id) == PartitionId(1);
        const auto found = service_->find(domain::decision_id_of(application(i).id));
        EXPECT_EQ(found.has_value(), !dead) << i;
        (dead ? missing : there) += 1;
    }
    EXPECT_GT(there, 0);
    EXPECT_GT(missing, 0);
    EXPECT_EQ(ready(), "broker_down");
    shaky_->dead_partition.reset();
    poll_all();
    expect_logged(200);
    EXPECT_EQ(ready(), "");
}

TEST_F(ApplicationConsumerTest, OneSourceOutOfReachWaits) {
    send_many(0, 10);
    shaky_->dead_source = PartitionId(1);
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(consumer_->poll());
    EXPECT_EQ(ready(), "broker_down");
    EXPECT_GT(logged().size(), 0u) << "the other sources wait for it";
    EXPECT_LT(logged().size(), 10u);
    ASSERT_EQ(consumer_->stopped().size(), 1u);
    EXPECT_EQ(consumer_->stopped()[0].source, PartitionId(1));
    shaky_->dead_source.reset();
    poll_all();
    expect_logged(10);
}

TEST_F(ApplicationConsumerTest, APartitionThatIsFurtherBehindCatchesUpWithoutHoldingTheOthersUp) {
    send_many(0, 60);
    poll_all();
    consumer_.reset();
    service_.reset();
    // one of the three is made again: its decisions are in the log, its bookmarks are not
    fs::remove_all(folder_ / "partitions" / "1");
    start();
    send_many(60, 70);
    EXPECT_EQ(consumer_->poll().value(), 20u);  // 10 for the two in front, 10 for the one behind
    for (int i = 60; i < 70; ++i) {
        if (service_->partition_of(application(i).id) != PartitionId(1)) {
            EXPECT_TRUE(decided(i)) << i;
        }
    }
    poll_all();
    expect_logged(70);
    // now they are at the same position again: one read for all
    send_many(70, 75);
    EXPECT_EQ(consumer_->poll().value(), 5u);
    expect_logged(75);
}

TEST_F(ApplicationConsumerTest, AGapStopsTheSourceUntilItIsAccepted) {
    send_many(0, 10);
    poll_all();
    ASSERT_TRUE(log_->delete_topic("applications"));
    make_topic("applications", kSources);
    send_many(8, 14);
    start();
    EXPECT_EQ(consumer_->poll().value(), 0u);
    EXPECT_EQ(ready(), "topic_recreated");
    EXPECT_EQ(consumer_->stopped().size(), 3u * kSources);
    EXPECT_EQ(consumer_->accept_gap(PartitionId(0)).error().reason, "topic_recreated");
    const auto gaps = consumer_->accept_gap(PartitionId(-1)).value();
    ASSERT_EQ(gaps.size(), 3u);
    EXPECT_EQ(gaps[2].holder, PartitionId(2));
    EXPECT_EQ(gaps[2].why.reason, "topic_recreated");
    poll_all();
    expect_logged(14);
    EXPECT_EQ(ready(), "");
    EXPECT_TRUE(consumer_->stopped().empty());
    EXPECT_TRUE(consumer_->accept_gap(PartitionId(-1))->empty());
}

TEST_F(ApplicationConsumerTest, WhatRetentionTookBeforeItWasDecidedIsAGap) {
    ASSERT_TRUE(log_->create_topic(
        "applications",
        {kSources, streaming_local::Fsync::kNever, {base::Duration::days(1), std::nullopt}}));
    const auto dated = [](int number, const std::string& day) {
        return wire::to_record(application(number, day));
    };
    send(dated(1, "2005-03-05"), 0);
    poll_all();
    send(dated(2, "2005-03-05"), 0);
    send(dated(3, "2005-03-20"), 0);
    send(dated(4, "2005-03-20"), 1);
    ASSERT_EQ(log_->drop(time("2005-03-20")).value(), 2u);
    poll_all();
    EXPECT_EQ(ready(), "retention_gap");
    EXPECT_TRUE(decided(4));  // the other source continues
    EXPECT_FALSE(decided(3));
    const auto gaps = consumer_->accept_gap(PartitionId(0)).value();
    ASSERT_EQ(gaps.size(), 3u);
    EXPECT_EQ(gaps[0].from, Offset(1));
    EXPECT_EQ(gaps[0].to, Offset(2));
    poll_all();
    EXPECT_TRUE(decided(3));
    EXPECT_FALSE(decided(2));
    EXPECT_EQ(ready(), "");
}

TEST_F(ApplicationConsumerTest, RetentionTakesWhatIsDecidedAndNothingElse) {
    ASSERT_TRUE(log_->create_topic(
        "applications",
        {kSources, streaming_local::Fsync::kNever, {base::Duration::days(1), std::nullopt}}));
    const auto drop = [&] {
        return log_->drop(
            time("2035-01-01"),
            [&](std::string_view topic, PartitionId source) -> base::Result<std::optional<Offset>> {
                if (topic != "applications") return std::optional<Offset>();
                RAMPART_TRY(const auto settled, consumer_->settled(source));
                return std::optional(settled);
            });
    };
    send_many(0, 100);
    EXPECT_EQ(drop().value(), 0u) << "nothing was read yet";
    // One partition cannot decide, and delays what the others have decided.
    shaky_->dead_partition = PartitionId(1);
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(consumer_->poll());
    EXPECT_EQ(drop().value(), 0u) << "partition 1 has decided none of it";
    shaky_->dead_partition.reset();
    poll_all();
    send_many(100, 120);
    EXPECT_EQ(drop().value(), 100u);
    EXPECT_EQ(log_->begin_offset("applications", PartitionId(1)).value(), Offset(50));
    start();  // and continues at its position
    poll_all();
    expect_logged(120);
    EXPECT_EQ(ready(), "");
}

TEST_F(ApplicationConsumerTest, WhatAnotherNodeHasToReadIsNotSettledHere) {
    options_.log.owned = {PartitionId(0), PartitionId(2)};
    start();
    send_many(0, 20);
    poll_all();
    EXPECT_EQ(consumer_->settled(PartitionId(0)).value(), Offset(0));
}

TEST_F(ApplicationConsumerTest, AGapSettlesNothingUntilItIsAccepted) {
    send_many(0, 20);
    poll_all();
    EXPECT_EQ(consumer_->settled(PartitionId(0)).value(), Offset(10));
    ASSERT_TRUE(log_->delete_topic("applications"));
    make_topic("applications", kSources);
    send_many(20, 60);
    start();
    poll_all();
    EXPECT_EQ(ready(), "topic_recreated");
    EXPECT_EQ(consumer_->settled(PartitionId(0)).value(), Offset(0));
    ASSERT_TRUE(consumer_->accept_gap(PartitionId(-1)));
    poll_all();
    EXPECT_EQ(consumer_->settled(PartitionId(0)).value(), Offset(20));
}

TEST_F(ApplicationConsumerTest, ANodeTakesWhatBelongsToItAndBothTogetherTakeAll) {
    const auto run = [&](const std::string& name, std::vector<PartitionId> owned) {
        options_.log.folder = folder_ / name;
        options_.log.owned = std::move(owned);
        start();
        poll_all();
        return consumer_->list_quarantined(10)->size();
    };
    send_many(0, 30);
    send({"key", "nonsense", {}, {}}, 1);
    EXPECT_EQ(run("a", {PartitionId(0), PartitionId(2)}), 0u);
    const size_t first = logged().size();
    EXPECT_GT(first, 0u);
    EXPECT_LT(first, 30u);
    EXPECT_EQ(run("b", {PartitionId(1)}), 1u);  // undecodable records belong to one of them
    expect_logged(30);
    EXPECT_EQ(quarantine_records(), 1u);
}

TEST_F(ApplicationConsumerTest, APartitionThatWasTakenOverIsLeftToItsNewOwner) {
    send_many(0, 10);
    poll_all();
    service_->give_up(PartitionId(1), "other");
    send_many(10, 40);
    poll_all();
    for (int i = 10; i < 40; ++i) {
        const bool theirs = service_->partition_of(application(i).id) == PartitionId(1);
        EXPECT_EQ(decided(i), !theirs) << i;
    }
    // the new owner continues where the old one stopped
    start();
    poll_all();
    expect_logged(40);
}

TEST_F(ApplicationConsumerTest, WithoutAPolicyItWaits) {
    send_many(0, 5);
    service_.reset();
    consumer_.reset();
    health_ = std::make_unique<runtime::Health>();
    service_ =
        DecisionService::open(options_, {*shaky_, *shaky_, clock_, metrics_, *health_}).value();
    consumer_ = ApplicationConsumer::create(consumer_options_,
                                            {*shaky_, *shaky_, *service_, metrics_, *health_})
                    .value();
    EXPECT_EQ(consumer_->poll().error().reason, "no_policy");
    EXPECT_EQ(ready(), "no_policy");
    set_policy(constant(0.5));
    poll_all();
    expect_logged(5);
}

TEST_F(ApplicationConsumerTest, AThreadOfItsOwnDecidesUntilItIsStopped) {
    consumer_->start();
    for (int i = 0; i < 20; ++i) send(i, i % kSources);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (logged().size() < 20 && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
    }
    consumer_->stop();
    expect_logged(20);
    send(20);
    EXPECT_FALSE(decided(20));
}

TEST_F(ApplicationConsumerTest, TheBatchHasALimit) {
    const auto reason = [&](size_t batch) {
        ConsumerOptions options;
        options.batch = batch;
        runtime::Health health;
        const auto made =
            ApplicationConsumer::create(options, {*shaky_, *shaky_, *service_, metrics_, health});
        return made ? "" : made.error().reason;
    };
    EXPECT_EQ(reason(1), "");
    EXPECT_EQ(reason(base::limits::kMaxBatch), "");
    EXPECT_EQ(reason(0), "bad_batch");
    EXPECT_EQ(reason(base::limits::kMaxBatch + 1), "bad_batch");
}

}  // namespace
}  // namespace rampart::serving
