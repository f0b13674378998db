// Partitions of a Kafka log without a leader, on the mock cluster: each stalls itself only.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include "integration/decision_service_fixture.hpp"
#include "rampart/joiner/catch_up.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/serving/application_consumer.hpp"
#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "rampart/streaming_kafka/kafka_writer.hpp"
#include "rampart/wire/record_codec.hpp"
#include "support/kafka_mock.hpp"

namespace rampart::serving {
namespace {

using namespace tests;  // NOLINT
using base::Duration;
using streaming::Offset;
using streaming::PartitionId;
using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr int32_t kPartitions = 3;
const PartitionId kDead(1);
// Far above what it takes, far below the timeouts of requests and deliveries (120 s).
constexpr auto kLimit = 60s;

class Leaderless : public testing::Test {
  protected:
    Leaderless() {
        for (const char* topic : {"decisions", "outcomes", "applications"}) {
            mock_.create(topic, kPartitions);
        }
        mock_.create("quarantine", 1);
        settings_ = mock_.settings();
        settings_.request_timeout = Duration::seconds(120);
        settings_.delivery_timeout = Duration::seconds(120);
        reader_ = streaming_kafka::KafkaReader::open(settings_).value();
        writer_ = streaming_kafka::KafkaWriter::open(settings_).value();
    }
    ~Leaderless() override {
        consumer_.reset();
        joiner_.reset();
        service_.reset();
        std::filesystem::remove_all(folder_);
    }
    void open() {
        consumer_.reset();
        service_.reset();
        health_ = std::make_unique<runtime::Health>();  // it keeps the checks of a service
        DecisionServiceOptions options;
        options.log.folder = folder_ / "partitions";
        options.log.partitions = kPartitions;
        options.product = sample_product();
        options.draw_key = {"key", "secret"};
        auto service =
            DecisionService::open(options, {*reader_, *writer_, clock_, metrics_, *health_});
        ASSERT_TRUE(service) << service.error().message;
        service_ = *std::move(service);
        ASSERT_TRUE(service_->set_policy(constant(0.5), false));
        ConsumerOptions consumer;
        consumer.retry_first = consumer.retry_last = Duration::micros(20'000);
        consumer_ = ApplicationConsumer::create(consumer,
                                                {*reader_, *writer_, *service_, metrics_, *health_})
                        .value();
    }
    void open_joiner() {
        joiner::JoinerOptions options;
        options.product = sample_product();
        options.partitions = kPartitions;
        joiner_ = joiner::OutcomeJoiner::open(folder_ / "joins", options, *reader_).value();
    }
    PartitionId home(int number) const { return service_->partition_of(application(number).id); }
    base::Result<Decision> try_decide(int number) {
        const auto one = application(number);
        auto decided = service_->decide({&one, 1});
        if (!decided) return decided.error();
        return decided->front();
    }
    /// Calls `done` until it is true.
    template <typename Done>
    static bool soon(const Done& done) {
        for (const auto end = Steady::now() + 110s; Steady::now() < end;) {
            if (done()) return true;
            std::this_thread::sleep_for(20ms);
        }
        return false;
    }
    /// How often each decision is in the log.
    std::map<std::string, int> logged() {
        std::map<std::string, int> found;
        for (int32_t p = 0; p < kPartitions; ++p) {
            Offset from(0);
            for (;;) {
                const auto records = reader_->read("decisions", PartitionId(p), from, 1000);
                EXPECT_TRUE(records) << records.error().message;
                if (!records || records->empty()) break;
                for (const auto& record : *records) ++found[record.record.key];
                from = Offset(records->back().offset.value() + 1);
            }
        }
        return found;
    }

    support::KafkaMock mock_;
    streaming_kafka::KafkaSettings settings_;
    std::unique_ptr<streaming_kafka::KafkaReader> reader_;
    std::unique_ptr<streaming_kafka::KafkaWriter> writer_;
    runtime::ManualClock clock_{time("2005-04-02")};
    runtime::Metrics metrics_;
    std::unique_ptr<runtime::Health> health_;
    std::unique_ptr<DecisionService> service_;
    std::unique_ptr<ApplicationConsumer> consumer_;
    std::unique_ptr<joiner::OutcomeJoiner> joiner_;
    const fs::path folder_ =
        fs::path(testing::TempDir()) / ("leaderless" + base::to_hex(base::random_bytes(8)));
};

TEST_F(Leaderless, DecisionsOfOtherPartitionsGoOnAndNothingIsLostOrDoubled) {
    open();
    if (HasFatalFailure()) return;
    open_joiner();
    for (int n = 0; n < 20; ++n) ASSERT_TRUE(try_decide(n));
    ASSERT_TRUE(joiner::nothing_stopped(joiner::catch_up(*joiner_)->stopped));
    ASSERT_TRUE(joiner_->advance(clock_.now()));
    const auto before = clock_.now();

    mock_.lead("decisions", kDead, -1);
    auto begin = Steady::now();
    std::map<int, Decision> answered;
    std::set<int> refused;
    for (int n = 20; n < 220; ++n) {
        const auto decided = try_decide(n);
        if (decided) answered.emplace(n, *decided);
        EXPECT_EQ(decided.has_value(), home(n) != kDead)
            << (decided ? "" : decided.error().message);
        if (decided) continue;
        refused.insert(n);
        EXPECT_NE(decided.error().message.find("partition 1"), std::string::npos)
            << decided.error().message;
    }
    EXPECT_LT(Steady::now() - begin, kLimit) << "others wait for a partition without a leader";
    ASSERT_GT(refused.size(), 10u);
    for (const auto& view : service_->partitions()) {
        EXPECT_EQ(view.status.has_value(), view.partition != kDead);
        if (view.status) continue;
        EXPECT_EQ(view.status.error().reason, "no_leader");
    }

    // the joiner
    begin = Steady::now();
    clock_.advance_to(before + Duration::days(1));
    for (int round = 0; round < 5; ++round) {
        const auto caught_up = joiner::catch_up(*joiner_);
        ASSERT_TRUE(caught_up) << caught_up.error().message;
        ASSERT_EQ(caught_up->stopped.size(), 1u);
        EXPECT_EQ(caught_up->stopped[0].partition, kDead);
        EXPECT_EQ(caught_up->stopped[0].error.reason, "no_leader");
        ASSERT_TRUE(joiner_->advance(clock_.now(), {kDead}));
    }
    EXPECT_LT(Steady::now() - begin, kLimit) << "others are not read meanwhile";
    EXPECT_EQ(joiner_->clock(), before) << "what is known of all partitions";
    const auto states = joiner_->partition_states().value();
    for (const auto& state : states)
        EXPECT_EQ(state.clock, state.partition == kDead ? before : clock_.now());

    mock_.lead("decisions", kDead, 1);
    for (const int n : refused) {
        ASSERT_TRUE(soon([&] {
            service_->maintain();
            const auto decided = try_decide(n);
            if (decided) answered.emplace(n, *decided);
            return decided.has_value();
        })) << n;
    }
    // what was given up is in the log once, and what was answered is what counts
    for (const auto& [n, decision] : answered) EXPECT_EQ(service_->find(decision.id), decision);
    const auto found = logged();
    EXPECT_EQ(found.size(), 220u);
    ASSERT_TRUE(joiner::nothing_stopped(joiner::catch_up(*joiner_)->stopped));
    ASSERT_TRUE(joiner_->advance(clock_.now()));
    EXPECT_EQ(joiner_->clock(), clock_.now());
    EXPECT_EQ(joiner_->counts().decisions, 220u);
    EXPECT_EQ(joiner_->counts().conflicting_decisions, 0u);
    for (const auto& view : service_->partitions())
        EXPECT_TRUE(view.status) << view.partition.value();
}

TEST_F(Leaderless, OneRequestForManyPartitionsSaysWhichFailed) {
    open();
    if (HasFatalFailure()) return;
    mock_.lead("decisions", kDead, -1);
    const auto begin = Steady::now();
    const auto all = applications(0, 60);
    for (int round = 0; round < 5; ++round) {
        const auto results = service_->decide_each(all);
        ASSERT_TRUE(results) << results.error().message;
        for (int n = 0; n < 60; ++n)
            EXPECT_EQ(results->at(static_cast<size_t>(n)).has_value(), home(n) != kDead);
    }
    EXPECT_LT(Steady::now() - begin, kLimit);
}

TEST_F(Leaderless, ANodeStartsWithoutAPartitionAndTakesItUpLater) {
    open();
    if (HasFatalFailure()) return;
    for (int n = 0; n < 20; ++n) ASSERT_TRUE(try_decide(n));
    mock_.lead("decisions", kDead, -1);
    open();
    if (HasFatalFailure()) return;
    for (int n = 0; n < 40; ++n) {
        // what it answered before counts, once it knows the log
        EXPECT_EQ(try_decide(n).has_value(), home(n) != kDead || n < 20) << n;
    }
    mock_.lead("decisions", kDead, 1);
    EXPECT_TRUE(soon([&] {
        service_->maintain();
        bool all = true;
        for (int n = 0; n < 40; ++n) all &= try_decide(n).has_value();
        return all;
    }));
    EXPECT_EQ(logged().size(), 40u);
}

TEST_F(Leaderless, ApplicationsOfOtherSourcesAreDecided) {
    open();
    if (HasFatalFailure()) return;
    const auto send = [&](int from, int to) {
        for (int n = from; n < to; ++n) {
            const auto record = wire::to_record(application(n));
            ASSERT_TRUE(
                writer_->append_to("applications", PartitionId(n % kPartitions), {&record, 1}));
        }
    };
    const auto decided = [&](int n) {
        return service_->find(domain::decision_id_of(application(n).id)).has_value();
    };
    send(0, 30);
    mock_.lead("applications", kDead, -1);
    const auto begin = Steady::now();
    EXPECT_TRUE(soon([&] {
        static_cast<void>(consumer_->poll());
        bool all = true;
        for (int n = 0; n < 30; ++n) all &= n % kPartitions == kDead.value() || decided(n);
        return all;
    }));
    EXPECT_LT(Steady::now() - begin, kLimit) << "others wait for a source without a leader";
    ASSERT_FALSE(consumer_->status());
    EXPECT_EQ(consumer_->status().error().reason, "no_leader");
    ASSERT_EQ(consumer_->stopped().size(), 1u);
    EXPECT_EQ(consumer_->stopped()[0].source, kDead);
    for (int n = 1; n < 30; n += kPartitions) EXPECT_FALSE(decided(n)) << n;

    mock_.lead("applications", kDead, 1);
    EXPECT_TRUE(soon([&] {
        static_cast<void>(consumer_->poll());
        bool all = true;
        for (int n = 0; n < 30; ++n) all &= decided(n);
        return all && consumer_->status();
    }));
    EXPECT_TRUE(consumer_->stopped().empty());
    const auto found = logged();
    EXPECT_EQ(found.size(), 30u);
    for (const auto& [id, times] : found) EXPECT_EQ(times, 1) << id;
}

}  // namespace
}  // namespace rampart::serving
