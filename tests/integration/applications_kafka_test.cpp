#include <fmt/format.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <set>
#include <thread>

#include "integration/decision_service_fixture.hpp"
#include "rampart/base/random.hpp"
#include "rampart/lease/partition_leases.hpp"
#include "rampart/serving/application_consumer.hpp"
#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "rampart/streaming_kafka/kafka_writer.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"
#include "rampart/wire/fence.hpp"
#include "rampart/wire/record_codec.hpp"
#include "rampart/wire/topics.hpp"
#include "support/kafka_broker.hpp"

/// Applications over a real broker: each has one decision that counts, whatever fails in between.
namespace rampart::serving {
namespace {

using namespace tests;            // NOLINT
using namespace streaming_kafka;  // NOLINT
using streaming::Offset;
using streaming::PartitionId;

constexpr int32_t kPartitions = 3;
constexpr auto kTtl = base::Duration::micros(400'000);

/// Ends the process at a chosen append: before it, or after it and before its answer arrives.
class MortalWriter final : public streaming::Writer {
  public:
    explicit MortalWriter(streaming::Writer& writer) : writer_(writer) {}
    base::Result<std::vector<streaming::Position>> append(
        std::string_view topic, std::span<const streaming::Record> records) override {
        if (dead || dies_before()) return gone();
        auto positions = writer_.append(topic, records);
        if (dies_behind()) return gone();
        return positions;
    }
    base::Result<std::vector<streaming::Position>> append_to(
        std::string_view topic, PartitionId partition,
        std::span<const streaming::Record> records) override {
        if (dead) return gone();
        return writer_.append_to(topic, partition, records);
    }
    int before = -1, behind = -1;  // number of appends from now on
    bool dead = false;

  private:
    bool dies_before() { return dead = before >= 0 && before-- == 0; }
    bool dies_behind() { return dead = behind >= 0 && behind-- == 0; }
    static base::Error gone() {
        return base::Error{base::ErrorCode::kUnavailable, "dead", "this process has ended"};
    }
    streaming::Writer& writer_;
};

/// One run of a node: what a process has open.
struct NodeRun {
    std::unique_ptr<KafkaReader> reader;
    std::unique_ptr<KafkaWriter> kafka_writer;
    std::unique_ptr<MortalWriter> writer;
    runtime::ManualClock clock{time("2005-04-02")};
    runtime::Metrics metrics;
    runtime::Health health;
    lease::SteadyTimer timer{[](base::Duration duration) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable().wait_for(lock, std::chrono::microseconds(duration.micros()));
        return true;
    }};
    std::unique_ptr<lease::PartitionLeases> leases;
    std::unique_ptr<DecisionService> service;
    std::unique_ptr<ApplicationConsumer> consumer;

    ~NodeRun() {
        consumer.reset();
        service.reset();
    }
};

class ApplicationsOverKafka : public testing::Test {
  protected:
    void SetUp() override {
        RAMPART_NEEDS_KAFKA();
        folder_ = fs::path(testing::TempDir()) / ("kafka" + base::to_hex(base::random_bytes(8)));
        use(test_support::shared_kafka().bootstrap);
    }
    void TearDown() override {
        std::error_code ignored;
        if (!folder_.empty()) fs::remove_all(folder_, ignored);
    }
    void use(const std::string& bootstrap) {
        settings_.bootstrap_servers = bootstrap;
        topics_ = wire::Topics::with_prefix(test_support::unique_topic("applications") + ".");
        const auto made =
            TopicAdmin::open(settings_).value()->create(topics_.specs(kPartitions), 1);
        ASSERT_TRUE(made) << made.error().message;
        reader_ = KafkaReader::open(settings_).value();
        writer_ = KafkaWriter::open(settings_).value();
    }

    base::Result<std::unique_ptr<NodeRun>> try_start(const std::string& store,
                                                     const std::string& name, double probability) {
        auto run = std::make_unique<NodeRun>();
        run->reader = KafkaReader::open(settings_).value();
        run->kafka_writer = KafkaWriter::open(settings_).value();
        run->writer = std::make_unique<MortalWriter>(*run->kafka_writer);
        RAMPART_TRY(run->leases, lease::PartitionLeases::create(
                                     {topics_.leases, "g", name, kTtl},
                                     {*run->reader, *run->writer, run->clock, run->timer}));
        DecisionServiceOptions options;
        options.log.folder = folder_ / store;
        options.log.topic = topics_.decisions;
        options.outcomes_topic = topics_.outcomes;
        options.log.partitions = kPartitions;
        options.log.node = name;
        options.product = sample_product();
        options.event_window = {kWidestWindow, kWidestWindow};  // times that Kafka cannot store
        options.draw_key = {"key", "secret"};
        options.log.claim = [leases = run->leases.get()](const Epochs& fences) {
            std::set<PartitionId> all;
            for (const auto& [p, fence] : fences) all.insert(p);
            return leases->claim(all, fences);
        };
        RAMPART_TRY(run->service,
                    DecisionService::open(options, {*run->reader, *run->writer, run->clock,
                                                    run->metrics, run->health}));
        RAMPART_RETURN_IF_ERROR(run->service->set_policy(constant(probability), false));
        ConsumerOptions consumer;
        consumer.applications_topic = topics_.applications;
        consumer.quarantine_topic = topics_.quarantine;
        consumer.batch = 20;
        consumer.retry_first = consumer.retry_last = base::Duration::micros(1000);
        RAMPART_TRY(run->consumer, ApplicationConsumer::create(
                                       consumer, {*run->reader, *run->writer, *run->service,
                                                  run->metrics, run->health}));
        return run;
    }
    std::unique_ptr<NodeRun> start(const std::string& store = "store",
                                   const std::string& name = "a", double probability = 0.5) {
        auto run = try_start(store, name, probability);
        EXPECT_TRUE(run) << run.error().message;
        return *std::move(run);
    }

    /// Writes to partitions and under keys that have no meaning.
    void send(int from, int to) {
        for (int i = from; i < to; ++i) {
            auto one = application(i);
            // finer than Kafka stores the time of a record
            one.event_time = one.event_time + base::Duration::micros(1 + i);
            auto record = wire::to_record(one);
            record.key = fmt::format("{}", random_.next() % 7);
            const PartitionId partition(static_cast<int32_t>(random_.below(kPartitions)));
            ASSERT_TRUE(writer_->append_to(topics_.applications, partition, {&record, 1}));
        }
    }
    void poll_all(NodeRun& run) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        for (int empty = 0; empty < 3;) {
            ASSERT_LT(std::chrono::steady_clock::now(), deadline);
            const auto records = run.consumer->poll();
            ASSERT_TRUE(records) << records.error().message;
            empty = *records == 0 && run.consumer->status() ? empty + 1 : 0;
        }
    }

    /// Returns the decisions that count, from the log alone; each application once.
    std::map<std::string, Decision> counted() {
        std::map<std::string, Decision> found;
        late_ = repeated_ = 0;
        for (int32_t p = 0; p < kPartitions; ++p) {
            uint64_t fence = 0;
            for (Offset from(0);;) {
                const auto records =
                    reader_->read(topics_.decisions, PartitionId(p), from, 1000).value();
                if (records.empty()) break;
                from = Offset(records.back().offset.value() + 1);
                for (const auto& stored : records) {
                    const auto mark = wire::writer_mark(stored.record).value();
                    if (mark.fence) {
                        EXPECT_GT(mark.epoch, fence);
                        fence = mark.epoch;
                    } else if (mark.epoch < fence) {
                        ++late_;
                    } else {
                        const auto decision =
                            wire::decode_decision(stored.record, PartitionId(p), kPartitions)
                                .value();
                        const bool fresh =
                            found.emplace(decision.application.id.value(), decision).second;
                        repeated_ += fresh ? 0 : 1;
                    }
                }
            }
        }
        return found;
    }

    KafkaSettings settings_;
    wire::Topics topics_;
    fs::path folder_;
    base::Random random_{7};
    std::unique_ptr<KafkaReader> reader_;
    std::unique_ptr<KafkaWriter> writer_;
    int late_ = 0, repeated_ = 0;  // result of the last counted()
};

TEST_F(ApplicationsOverKafka, WhereverTheyLieEachIsDecidedOnce) {
    send(0, 150);
    std::map<std::string, Decision> first;
    {
        const auto run = start();
        poll_all(*run);
        first = counted();
        EXPECT_EQ(first.size(), 150u);
        EXPECT_EQ(repeated_, 0);
        for (const auto& [id, decision] : first) {
            EXPECT_EQ(run->service->find(decision.id).value(), decision);
        }
    }
    send(100, 200);  // 50 of them again
    const auto run = start("store", "a", 0.9);
    poll_all(*run);
    const auto all = counted();
    EXPECT_EQ(all.size(), 200u);
    EXPECT_EQ(repeated_, 0);
    for (const auto& [id, decision] : first) EXPECT_EQ(all.at(id), decision);
}

TEST_F(ApplicationsOverKafka, ACrashAroundAnAppendLosesNothingAndDecidesNothingTwice) {
    send(0, 240);
    std::map<std::string, Decision> before;
    for (int crash = 0; crash < 6; ++crash) {
        // another policy each time: the test would see a decision that was made again
        const auto run = start("store", "a", 0.1 + 0.1 * crash);
        (crash % 2 == 0 ? run->writer->behind : run->writer->before) = crash % 3;
        for (int polls = 0; polls < 100 && !run->writer->dead; ++polls) {
            static_cast<void>(run->consumer->poll());
        }
        ASSERT_TRUE(run->writer->dead);
        const auto now = counted();
        for (const auto& [id, decision] : before) EXPECT_EQ(now.at(id), decision);
        before = now;
        EXPECT_EQ(repeated_, 0);
    }
    EXPECT_LT(before.size(), 240u);
    const auto run = start("store", "a", 0.9);
    poll_all(*run);
    const auto all = counted();
    EXPECT_EQ(all.size(), 240u);
    EXPECT_EQ(repeated_, 0);
    EXPECT_EQ(late_, 0);
    for (const auto& [id, decision] : before) EXPECT_EQ(all.at(id), decision);
}

TEST_F(ApplicationsOverKafka, ALostStoreIsMadeAnewToTheSameDecisions) {
    send(0, 60);
    poll_all(*start());
    const auto first = counted();
    send(60, 80);
    const auto run = start("new store", "a", 0.9);
    poll_all(*run);
    const auto all = counted();
    EXPECT_EQ(all.size(), 80u);
    EXPECT_EQ(repeated_, 0);
    for (const auto& [id, decision] : first) EXPECT_EQ(all.at(id), decision);
}

TEST_F(ApplicationsOverKafka, ARunThatWasAsleepWhileAnotherTookOverDecidesNothing) {
    send(0, 40);
    const auto a = start("a", "a", 0.2);
    poll_all(*a);
    const auto first = counted();
    EXPECT_EQ(first.size(), 40u);
    // `a` gives no sign of life for a ttl, and its partitions get another owner
    const auto b = start("b", "b", 0.8);
    send(40, 100);
    for (int i = 0; i < 50; ++i) static_cast<void>(a->consumer->poll());
    EXPECT_EQ(counted(), first);
    EXPECT_GT(late_, 0);  // it did write
    for (const auto& view : a->service->partitions()) {
        EXPECT_EQ(view.status.error().reason, "fenced");
    }
    EXPECT_EQ(a->leases->heartbeat()->size(), static_cast<size_t>(kPartitions));
    poll_all(*b);
    const auto all = counted();
    EXPECT_EQ(all.size(), 100u);
    EXPECT_EQ(repeated_, 0);
    for (const auto& [id, decision] : first) EXPECT_EQ(all.at(id), decision);
    for (const auto& [id, decision] : all) {
        EXPECT_EQ(b->service->find(decision.id).value(), decision);
        EXPECT_EQ(decision.p_approve, first.contains(id) ? 0.2 : 0.8);
    }
}

TEST_F(ApplicationsOverKafka, UndecodableRecordsAreInTheQuarantineTopic) {
    const streaming::Record nonsense{"key", "nonsense", time("2005-01-01"), {}};
    ASSERT_TRUE(writer_->append_to(topics_.applications, PartitionId(2), {&nonsense, 1}));
    auto ancient = application(1, "1950-01-01");  // a time that Kafka cannot store
    const auto old = wire::to_record(ancient);
    ASSERT_TRUE(writer_->append_to(topics_.applications, PartitionId(0), {&old, 1}));
    send(2, 10);
    const auto run = start();
    poll_all(*run);
    EXPECT_EQ(counted().size(), 9u);
    EXPECT_EQ(counted().at("a-1").application, ancient);
    const auto quarantined =
        reader_->read(topics_.quarantine, PartitionId(0), Offset(0), 10).value();
    ASSERT_EQ(quarantined.size(), 1u);
    EXPECT_EQ(quarantined[0].record.value, "nonsense");
    std::map<std::string, std::string> headers;
    for (const auto& header : quarantined[0].record.headers) headers[header.name] = header.value;
    EXPECT_EQ(headers["topic"], topics_.applications);
    EXPECT_EQ(headers["partition"], "2");
    EXPECT_EQ(headers["offset"], "0");
    EXPECT_EQ(headers["reason"], "not_a_message");
}

TEST_F(ApplicationsOverKafka, WhileTheBrokerIsAwayItWaitsAndThenGoesOn) {
    test_support::KafkaBroker broker;
    settings_.request_timeout = base::Duration::seconds(4);
    settings_.delivery_timeout = base::Duration::seconds(8);
    settings_.stall_limit = base::Duration::seconds(2);
    use(broker.bootstrap());
    send(0, 30);
    const auto run = start();
    run->consumer->start();
    const auto wait_for = [&](size_t count) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        size_t found = 0;
        while (found < count && std::chrono::steady_clock::now() < deadline) {
            found = 0;
            for (const auto& view : run->service->partitions()) found += view.counts.decisions;
            std::this_thread::yield();
        }
        EXPECT_EQ(found, count);
    };
    wait_for(30);
    broker.kill();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (run->consumer->status() && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
    }
    EXPECT_TRUE(run->health.report(runtime::Probe::kReady).degraded());
    broker.start();
    send(30, 60);
    wait_for(60);
    EXPECT_EQ(counted().size(), 60u);
    EXPECT_EQ(repeated_, 0);
    run->consumer->stop();
    EXPECT_TRUE(run->consumer->list_quarantined(10)->empty());
}

}  // namespace
}  // namespace rampart::serving
