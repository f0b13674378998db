#include "rampart/streaming_kafka/kafka_writer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <thread>

#include "rampart/streaming/partitioner.hpp"
#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "support/kafka_mock.hpp"

namespace rampart::streaming_kafka {
namespace {

using base::Duration;
using base::ErrorCode;
using base::TimePoint;
using streaming::Offset;
using streaming::PartitionId;
using streaming::Record;
using support::KafkaMock;
using namespace std::chrono_literals;

const PartitionId kFirst(0);

template <class T>
void expect_error(const base::Result<T>& result, ErrorCode code, std::string_view reason) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, code) << result.error().message;
    EXPECT_EQ(result.error().reason, reason) << result.error().message;
}

Record record(std::string key, std::string value = "v") {
    return {std::move(key), std::move(value), TimePoint::from_micros(1'000'000), {}};
}

class KafkaWriterTest : public testing::Test {
  protected:
    KafkaWriterTest() {
        mock.create("t", 1);
        mock.create("many", 7);
        settings = mock.settings();
        settings.request_timeout = Duration::seconds(10);
        settings.delivery_timeout = Duration::seconds(20);
        writer = KafkaWriter::open(settings).value();
    }

    std::vector<std::string> keys_of(std::string_view topic, PartitionId partition) {
        const auto reader = KafkaReader::open(mock.settings()).value();
        std::vector<std::string> keys;
        for (;;) {
            const auto from = Offset(static_cast<int64_t>(keys.size()));
            const auto records = reader->read(topic, partition, from, 10'000);
            EXPECT_TRUE(records) << records.error().message;
            if (!records || records->empty()) return keys;
            for (const auto& stored : *records) keys.push_back(stored.record.key);
        }
    }

    KafkaMock mock;
    KafkaSettings settings;
    std::unique_ptr<KafkaWriter> writer;
};

TEST_F(KafkaWriterTest, KeysGoWhereTheSharedPartitionerPutsThemInOrder) {
    std::vector<Record> batch;
    for (int i = 0; i < 200; ++i) batch.push_back(record(fmt::format("key{}", i)));
    const auto positions = writer->append("many", batch);
    ASSERT_TRUE(positions) << positions.error().message;
    std::map<int32_t, std::vector<std::string>> expected;
    for (size_t i = 0; i < batch.size(); ++i) {
        const auto [partition, offset] = (*positions)[i];
        EXPECT_EQ(partition, streaming::partition_of(batch[i].key, 7));
        auto& keys = expected[partition.value()];
        EXPECT_EQ(offset.value(), static_cast<int64_t>(keys.size()));
        keys.push_back(batch[i].key);
    }
    for (const auto& [partition, keys] : expected) {
        EXPECT_EQ(keys_of("many", PartitionId(partition)), keys);
    }
}

TEST_F(KafkaWriterTest, OnePartitionCanBeAskedForWhateverTheKeys) {
    const std::vector<Record> marks{record("a"), record(""), record("b")};
    ASSERT_TRUE(writer->append_to("many", PartitionId(5), marks));
    EXPECT_EQ(keys_of("many", PartitionId(5)), (std::vector<std::string>{"a", "", "b"}));
    expect_error(writer->append_to("many", PartitionId(7), marks), ErrorCode::kOutOfRange,
                 "bad_partition");
    expect_error(writer->append_to("many", PartitionId(-1), marks), ErrorCode::kOutOfRange,
                 "bad_partition");
    EXPECT_TRUE(writer->append("many", {})->empty());
}

TEST_F(KafkaWriterTest, WhatCannotBeWrittenIsRefusedBeforeAnythingIs) {
    mock.create("gone", 1);
    mock.topic_error("gone", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    expect_error(writer->append("gone", std::vector{record("a")}), ErrorCode::kNotFound,
                 "no_topic");
    settings.max_record_bytes = 1024;
    settings.writer_bytes = 1u << 20;
    writer = KafkaWriter::open(settings).value();
    const auto refused = [&](Record bad, ErrorCode code, std::string_view reason) {
        expect_error(writer->append("t", std::vector{record("good"), std::move(bad)}), code,
                     reason);
    };
    refused(record("a", std::string(1024, 'x')), ErrorCode::kOutOfRange, "record_too_large");
    Record many = record("a");
    many.headers.resize(kMaxHeaders + 1, {"h", "v"});
    refused(many, ErrorCode::kOutOfRange, "too_many_headers");
    expect_error(writer->append("t", std::vector(1000, record("a", std::string(1000, 'x')))),
                 ErrorCode::kOutOfRange, "batch_too_large");
    EXPECT_TRUE(keys_of("t", kFirst).empty());
    many.headers.resize(kMaxHeaders);
    ASSERT_TRUE(writer->append("t", std::vector{record("a", std::string(1023, 'x')), many}));
}

TEST_F(KafkaWriterTest, ErrorsThatPassAreRetriedOnceAndInOrder) {
    mock.fail(KafkaMock::kProduce, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, 2);
    mock.fail(KafkaMock::kProduce, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, 1);
    mock.fail(KafkaMock::kProduce, RD_KAFKA_RESP_ERR__TRANSPORT, 1);
    std::vector<std::string> expected;
    for (int i = 0; i < 30; ++i) {
        const std::vector<Record> batch{record(fmt::format("{}a", i)),
                                        record(fmt::format("{}b", i))};
        const auto positions = writer->append("t", batch);
        ASSERT_TRUE(positions) << positions.error().message;
        for (const auto& r : batch) expected.push_back(r.key);
    }
    EXPECT_EQ(keys_of("t", kFirst), expected);
}

TEST_F(KafkaWriterTest, ABrokerThatComesBackInTimeGetsEverything) {
    ASSERT_TRUE(writer->append("t", std::vector{record("0")}));
    mock.down();
    std::jthread returns([this] {
        std::this_thread::sleep_for(500ms);
        mock.up();
    });
    const auto positions = writer->append("t", std::vector{record("1"), record("2")});
    returns.join();
    ASSERT_TRUE(positions) << positions.error().message;
    EXPECT_EQ(keys_of("t", kFirst), (std::vector<std::string>{"0", "1", "2"}));
}

TEST_F(KafkaWriterTest, WhileTheBrokerStallsAppendsAreRefusedAtOnceAndLaterTaken) {
    settings.stall_limit = Duration::micros(300'000);
    settings.delivery_timeout = Duration::seconds(6);
    writer = KafkaWriter::open(settings).value();
    ASSERT_TRUE(writer->append("t", std::vector{record("0")}));
    mock.down();
    std::atomic<bool> begun = false;
    std::jthread first([this, &begun] {
        begun = true;
        begun.notify_one();
        const auto positions = writer->append("t", std::vector{record("1")});
        ASSERT_FALSE(positions);
        EXPECT_EQ(positions.error().code, ErrorCode::kUnavailable) << positions.error().message;
    });
    begun.wait(false);
    // until the first has been on its way for long enough, others may queue behind it
    std::this_thread::sleep_for(2s);
    const auto asked = std::chrono::steady_clock::now();
    const auto refused = writer->append("t", std::vector{record("2")});
    EXPECT_LT(std::chrono::steady_clock::now() - asked, 3s);  // sooner than the first is given up
    expect_error(refused, ErrorCode::kResourceExhausted, "broker_stalled");
    first.join();
    mock.up();
    const auto positions = writer->append("t", std::vector{record("3")});
    ASSERT_TRUE(positions) << positions.error().message;
    const auto keys = keys_of("t", kFirst);
    EXPECT_EQ(keys.front(), "0");
    EXPECT_EQ(keys.back(), "3");
    EXPECT_EQ(std::count(keys.begin(), keys.end(), "2"), 0);
}

TEST_F(KafkaWriterTest, APartitionWithoutALeaderFailsItsOwnRecordsAndNoOthers) {
    settings.delivery_timeout = Duration::seconds(120);
    writer = KafkaWriter::open(settings).value();
    const PartitionId dead(3);
    std::vector<Record> batch;
    for (int i = 0; i < 70; ++i) batch.push_back(record(fmt::format("key{}", i)));
    const auto is_dead = [&](size_t i) { return streaming::partition_of(batch[i].key, 7) == dead; };
    ASSERT_TRUE(writer->append("many", batch));
    mock.lead("many", dead, -1);

    const auto begin = std::chrono::steady_clock::now();
    const auto placed = writer->append_each("many", batch);
    ASSERT_EQ(placed.size(), batch.size());
    size_t failed = 0;
    for (size_t i = 0; i < batch.size(); ++i) {
        EXPECT_EQ(placed[i].has_value(), !is_dead(i)) << batch[i].key;
        if (placed[i]) continue;
        ++failed;
        EXPECT_EQ(placed[i].error().reason, "no_leader");
        EXPECT_NE(placed[i].error().message.find("topic 'many', partition 3"), std::string::npos)
            << placed[i].error().message;
    }
    ASSERT_GT(failed, 0u);
    // what is on its way there keeps more out, and nothing else
    expect_error(writer->append_to("many", dead, std::vector{record("more")}),
                 ErrorCode::kResourceExhausted, "broker_stalled");
    EXPECT_TRUE(writer->append_to("many", PartitionId(2), std::vector{record("other")}));
    expect_error(writer->append("many", batch), ErrorCode::kResourceExhausted, "broker_stalled");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s) << "it waited for delivery_timeout";

    mock.lead("many", dead, 1);
    const auto deadline = std::chrono::steady_clock::now() + 100s;
    base::Result<std::vector<streaming::Position>> last =
        base::Error{base::ErrorCode::kInternal, "none", "none"};
    while (!last && std::chrono::steady_clock::now() < deadline) {
        last = writer->append_to("many", dead, std::vector{record("last")});
        if (!last) std::this_thread::sleep_for(50ms);
    }
    ASSERT_TRUE(last) << last.error().message;
    const auto keys = keys_of("many", dead);
    EXPECT_EQ(keys.size(), 2 * failed + 1) << "what was given up arrives late, and once";
    EXPECT_EQ(keys.back(), "last");
}

TEST_F(KafkaWriterTest, WhatIsGivenUpIsPurgedWithTheWriter) {
    mock.create("dead", 1);
    ASSERT_TRUE(writer->append("dead", std::vector{record("0")}));
    mock.lead("dead", kFirst, -1);
    expect_error(writer->append("dead", std::vector{record("1")}), ErrorCode::kUnavailable,
                 "no_leader");
    const auto begin = std::chrono::steady_clock::now();
    writer.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s);
}

TEST_F(KafkaWriterTest, MoreThanTheLimitOnItsWayIsRefused) {
    settings.writer_bytes = 1u << 20;
    writer = KafkaWriter::open(settings).value();
    ASSERT_TRUE(writer->append("t", std::vector{record("0")}));
    mock.answer_late(KafkaMock::kProduce, 2s, RD_KAFKA_RESP_ERR_NO_ERROR);
    std::jthread first([this] {
        const auto big = writer->append("t", std::vector{record("1", std::string(700'000, 'x'))});
        EXPECT_TRUE(big) << big.error().message;
    });
    mock.wait_for_late(KafkaMock::kProduce);
    expect_error(writer->append("t", std::vector{record("2", std::string(700'000, 'x'))}),
                 ErrorCode::kResourceExhausted, "queue_full");
    const auto small = writer->append("t", std::vector{record("3")});
    EXPECT_TRUE(small) << small.error().message;
    first.join();
    EXPECT_TRUE(writer->append("t", std::vector{record("4", std::string(700'000, 'x'))}));
    EXPECT_EQ(keys_of("t", kFirst), (std::vector<std::string>{"0", "1", "3", "4"}));
}

TEST_F(KafkaWriterTest, TheLimitIsThatOfAllProducersAndAnAppendIsRefusedAsAWhole) {
    settings.writer_bytes = 1u << 20;
    writer = KafkaWriter::open(settings).value();
    std::map<int32_t, std::string> keys;  // by partition
    for (int i = 0; keys.size() < 7; ++i) {
        const auto key = std::to_string(i);
        keys.emplace(streaming::partition_of(key, 7).value(), key);
    }
    const std::string big(700'000, 'x');
    ASSERT_TRUE(writer->append_to("many", PartitionId(0), std::vector{record("warm")}));
    mock.answer_late(KafkaMock::kProduce, 2s, RD_KAFKA_RESP_ERR_NO_ERROR);
    std::jthread first([&] {
        const auto there =
            writer->append_to("many", PartitionId(0), std::vector{record("first", big)});
        EXPECT_TRUE(there) << there.error().message;
    });
    mock.wait_for_late(KafkaMock::kProduce);
    const std::vector both{record(keys.at(2)), record(keys.at(1), big)};
    expect_error(writer->append("many", both), ErrorCode::kResourceExhausted, "queue_full");
    first.join();
    EXPECT_TRUE(keys_of("many", PartitionId(2)).empty()) << "half of an append was written";
    const auto later = writer->append("many", both);
    EXPECT_TRUE(later) << later.error().message;
    EXPECT_EQ(keys_of("many", PartitionId(2)), std::vector{keys.at(2)});
    EXPECT_EQ(keys_of("many", PartitionId(1)), std::vector{keys.at(1)});
}

TEST_F(KafkaWriterTest, AProducerThatFailsForGoodIsReplaced) {
    ASSERT_TRUE(writer->append("t", std::vector{record("0")}));
    mock.fail(KafkaMock::kProduce, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, 1);
    const auto lost = writer->append("t", std::vector{record("1")});
    if (!lost) {
        EXPECT_EQ(lost.error().reason, "producer_failed") << lost.error().message;
    }
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    base::Result<std::vector<streaming::Position>> after =
        base::Error{base::ErrorCode::kInternal, "none", "none"};
    while (!after && std::chrono::steady_clock::now() < deadline) {
        after = writer->append("t", std::vector{record("2")});
        if (after) break;
        EXPECT_EQ(after.error().reason, "producer_failed") << after.error().message;
    }
    ASSERT_TRUE(after) << after.error().message;
    EXPECT_EQ(keys_of("t", kFirst).back(), "2");
}

TEST_F(KafkaWriterTest, ManyThreadsAppendAtOnceAndEachKeepsItsOrder) {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([this, t] {
            for (int i = 0; i < 50; ++i) {
                const std::vector<Record> batch{record(fmt::format("{} {}", t, 2 * i)),
                                                record(fmt::format("{} {}", t, 2 * i + 1))};
                const auto positions = writer->append_to("t", kFirst, batch);
                ASSERT_TRUE(positions) << positions.error().message;
                EXPECT_LT((*positions)[0].offset, (*positions)[1].offset);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    std::map<std::string, int> next;
    const auto keys = keys_of("t", kFirst);
    EXPECT_EQ(keys.size(), 800u);
    for (const auto& key : keys) {
        EXPECT_EQ(key.substr(key.find(' ') + 1), fmt::format("{}", next[key.substr(0, 1)]++));
    }
}

}  // namespace
}  // namespace rampart::streaming_kafka
