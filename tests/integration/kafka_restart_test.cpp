// The Kafka reader and writer with a broker that is killed, stopped and started again.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "rampart/streaming_kafka/kafka_writer.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"
#include "support/kafka_broker.hpp"

namespace rampart::streaming_kafka {
namespace {

using base::Duration;
using base::ErrorCode;
using streaming::Offset;
using streaming::PartitionId;
using streaming::Record;
using test_support::KafkaBroker;
using namespace std::chrono_literals;

const PartitionId kFirst(0);
using Clock = std::chrono::steady_clock;

class KafkaRestart : public testing::Test {
  protected:
    void SetUp() override {
        RAMPART_NEEDS_KAFKA();
        broker = std::make_unique<KafkaBroker>();
        settings.bootstrap_servers = broker->bootstrap();
        streaming::TopicSpec spec;
        spec.name = "t";
        const auto made = TopicAdmin::open(settings).value()->create(std::vector{spec}, 1);
        ASSERT_TRUE(made) << made.error().message;
    }
    std::unique_ptr<KafkaBroker> broker;
    KafkaSettings settings;
};

/// Appends numbered records, two at a time, until it is stopped. A number is used again only if no
/// record was written; the acknowledged values are kept with their offsets.
class Appender {
  public:
    Appender(KafkaWriter& writer, std::string name) : writer_(writer), name_(std::move(name)) {}

    void run(const std::atomic<bool>& stop) {
        for (int64_t next = 0; !stop;) {
            std::vector<Record> batch(2);
            for (auto& record : batch) record.value = fmt::format("{} {}", name_, next++);
            const auto positions = writer_.append_to("t", kFirst, batch);
            if (positions) {
                for (size_t i = 0; i < batch.size(); ++i) {
                    acknowledged[(*positions)[i].offset.value()] = batch[i].value;
                }
                continue;
            }
            const auto code = positions.error().code;
            EXPECT_TRUE(code == ErrorCode::kResourceExhausted || code == ErrorCode::kUnavailable)
                << positions.error().message;
            if (code == ErrorCode::kResourceExhausted) next -= 2;
            std::this_thread::sleep_for(20ms);
        }
    }
    std::map<int64_t, std::string> acknowledged;

  private:
    KafkaWriter& writer_;
    std::string name_;
};

/// Reads all from the beginning to the end, with one reader during all of it.
void read_on(const KafkaReader& reader, std::vector<std::string>& values,
             const std::atomic<bool>& stop) {
    for (;;) {
        const bool last = stop;
        const Offset from(static_cast<int64_t>(values.size()));
        const auto records = reader.read("t", kFirst, from, 1000);
        if (!records) {
            ASSERT_EQ(records.error().code, ErrorCode::kUnavailable) << records.error().message;
            continue;
        }
        for (const auto& stored : *records) {
            ASSERT_EQ(stored.offset, Offset(static_cast<int64_t>(values.size())));
            values.push_back(stored.record.value);
        }
        if (records->empty() && last) return;
        if (records->empty()) std::this_thread::sleep_for(5ms);
    }
}

TEST_F(KafkaRestart, NothingAcknowledgedIsLostOrTwiceWhenTheBrokerIsKilled) {
    settings.delivery_timeout = Duration::seconds(60);
    settings.stall_limit = Duration::seconds(1);
    settings.request_timeout = Duration::seconds(2);
    const auto writer = KafkaWriter::open(settings).value();
    const auto reader = KafkaReader::open(settings).value();
    std::vector<Appender> appenders;
    for (int i = 0; i < 3; ++i) appenders.emplace_back(*writer, fmt::format("appender{}", i));
    std::vector<std::string> seen;
    std::atomic<bool> stop_writing = false, stop_reading = false;
    {
        std::jthread reading([&] { read_on(*reader, seen, stop_reading); });
        {
            std::vector<std::jthread> threads;
            for (auto& appender : appenders) {
                threads.emplace_back([&] { appender.run(stop_writing); });
            }
            for (int kill = 0; kill < 2; ++kill) {
                std::this_thread::sleep_for(1s);
                broker->kill();
                broker->start();
            }
            // until it continues
            const auto deadline = Clock::now() + 60s;
            const Record probe{"", "probe", {}, {}};
            while (!writer->append_to("t", kFirst, std::span(&probe, 1))) {
                ASSERT_LT(Clock::now(), deadline);
            }
            std::this_thread::sleep_for(200ms);
            stop_writing = true;
        }
        stop_reading = true;
    }
    std::map<std::string, int64_t> last;
    size_t acknowledged = 0;
    for (const auto& value : seen) {
        if (value == "probe") continue;
        const auto space = value.find(' ');
        const auto number = std::stoll(value.substr(space + 1));
        const auto [at, first] = last.try_emplace(value.substr(0, space), -1);
        EXPECT_LT(at->second, number) << value << " is twice or out of order";
        at->second = number;
    }
    for (const auto& appender : appenders) {
        for (const auto& [offset, value] : appender.acknowledged) {
            ASSERT_LT(offset, static_cast<int64_t>(seen.size()));
            EXPECT_EQ(seen[static_cast<size_t>(offset)], value);
            ++acknowledged;
        }
        EXPECT_GT(appender.acknowledged.size(), 0u);
    }
    fmt::print("{} records acknowledged over 2 kills, {} read\n", acknowledged, seen.size());
}

TEST_F(KafkaRestart, ABrokerThatHangsIsGivenUpInTimeAndGoneOnWith) {
    settings.delivery_timeout = Duration::seconds(8);
    settings.stall_limit = Duration::seconds(1);
    settings.request_timeout = Duration::seconds(5);
    const auto writer = KafkaWriter::open(settings).value();
    const auto reader = KafkaReader::open(settings).value();
    const auto append = [&](std::string value) {
        const Record record{"", std::move(value), {}, {}};
        return writer->append_to("t", kFirst, std::span(&record, 1));
    };
    ASSERT_TRUE(append("0"));
    const auto read = reader->read("t", kFirst, Offset(0), 10);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->size(), 1u);
    broker->stop();
    {
        std::atomic<bool> begun = false;
        std::jthread first([&] {
            begun = true;
            begun.notify_one();
            const auto begin = Clock::now();
            const auto late = append("1");
            ASSERT_FALSE(late);
            EXPECT_EQ(late.error().code, ErrorCode::kUnavailable) << late.error().message;
            EXPECT_LT(Clock::now() - begin, 30s);
        });
        begun.wait(false);
        std::this_thread::sleep_for(3s);  // it has been on its way for longer than stall_limit
        const auto begin = Clock::now();
        const auto refused = append("2");
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().reason, "broker_stalled") << refused.error().message;
        EXPECT_LT(Clock::now() - begin, 4s);  // before the first one is given up
    }
    const auto stuck = reader->read("t", kFirst, Offset(1), 10);
    ASSERT_FALSE(stuck);
    EXPECT_EQ(stuck.error().code, ErrorCode::kUnavailable) << stuck.error().message;
    broker->cont();
    const auto deadline = Clock::now() + 60s;
    while (!append("3")) ASSERT_LT(Clock::now(), deadline);
    std::vector<std::string> values;
    const std::atomic<bool> now = true;
    read_on(*reader, values, now);
    EXPECT_EQ(values.front(), "0");
    EXPECT_EQ(values.back(), "3");
    EXPECT_EQ(std::count(values.begin(), values.end(), "2"), 0);  // it was refused
    EXPECT_LE(std::count(values.begin(), values.end(), "1"), 1);  // its result is unknown
}

}  // namespace
}  // namespace rampart::streaming_kafka
