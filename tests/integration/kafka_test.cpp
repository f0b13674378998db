// The Kafka reader and writer against a real broker.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "rampart/streaming/bookmark.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "rampart/streaming_kafka/kafka_writer.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"
#include "support/kafka_admin.hpp"
#include "support/kafka_broker.hpp"

namespace rampart::streaming_kafka {
namespace {

using base::Duration;
using base::ErrorCode;
using base::TimePoint;
using streaming::Bookmark;
using streaming::Offset;
using streaming::PartitionId;
using streaming::Record;
using streaming::StoredRecord;
using streaming::TopicSpec;
using test_support::KafkaAddress;
using test_support::KafkaBroker;
using test_support::shared_kafka;
using test_support::unique_topic;
using namespace std::chrono_literals;

const PartitionId kFirst(0);
using Clock = std::chrono::steady_clock;

template <class T>
void expect_error(const base::Result<T>& result, ErrorCode code, std::string_view reason) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, code) << result.error().message;
    EXPECT_EQ(result.error().reason, reason) << result.error().message;
}

Record record(std::string key, std::string value = "v") {
    return {std::move(key), std::move(value), TimePoint::from_micros(1'000'000), {}};
}

KafkaSettings settings_for(const std::string& bootstrap) {
    KafkaSettings settings;
    settings.bootstrap_servers = bootstrap;
    settings.request_timeout = Duration::seconds(10);
    return settings;
}

std::string make_topic(const KafkaSettings& settings, int32_t partitions = 1) {
    TopicSpec spec;
    spec.name = unique_topic("t");
    spec.partitions = partitions;
    const auto made = TopicAdmin::open(settings).value()->create(std::vector<TopicSpec>{spec}, 1);
    EXPECT_TRUE(made) << made.error().message;
    return spec.name;
}

/// Returns all records from `from` to the end.
std::vector<StoredRecord> read_all(const KafkaReader& reader, const std::string& topic,
                                   PartitionId partition = kFirst, Offset from = Offset(0)) {
    std::vector<StoredRecord> all;
    for (;;) {
        const auto records = reader.read(topic, partition, from, 10'000);
        EXPECT_TRUE(records) << records.error().message;
        if (!records || records->empty()) return all;
        EXPECT_GE(records->front().offset, from);
        from = Offset(records->back().offset.value() + 1);
        all.insert(all.end(), records->begin(), records->end());
    }
}

std::vector<std::string> values_of(const std::vector<StoredRecord>& records) {
    std::vector<std::string> values;
    for (const auto& stored : records) values.push_back(stored.record.value);
    return values;
}

class Kafka : public testing::Test {
  protected:
    void SetUp() override {
        RAMPART_NEEDS_KAFKA();
        settings = settings_for(shared_kafka().bootstrap);
        topic = make_topic(settings);
        writer = KafkaWriter::open(settings).value();
        reader = KafkaReader::open(settings).value();
    }
    void append(int first, int count) {
        std::vector<Record> records;
        for (int i = first; i < first + count; ++i) {
            records.push_back(record("k", std::to_string(i)));
        }
        const auto positions = writer->append_to(topic, kFirst, records);
        ASSERT_TRUE(positions) << positions.error().message;
    }
    void make_anew() {
        const support::KafkaAdmin admin(settings.bootstrap_servers);
        admin.delete_topic(topic);
        const auto deadline = Clock::now() + 60s;
        const auto gone = [&] {
            const auto count = KafkaReader::open(settings).value()->partitions(topic);
            return !count && count.error().reason == "no_topic";
        };
        while (!gone()) ASSERT_LT(Clock::now(), deadline);
        TopicSpec spec;
        spec.name = topic;
        const auto made = TopicAdmin::open(settings).value()->create(std::vector{spec}, 1);
        ASSERT_TRUE(made) << made.error().message;
    }
    void wait_for_end(int64_t end) {
        const auto deadline = Clock::now() + 60s;
        while (reader->end_offset(topic, kFirst) != Offset(end)) {
            ASSERT_LT(Clock::now(), deadline);
        }
    }

    KafkaSettings settings;
    std::string topic;
    std::unique_ptr<KafkaWriter> writer;
    std::unique_ptr<KafkaReader> reader;
};

TEST_F(Kafka, HundredThousandRecordsGoThereAndBackInOrder) {
    const auto many = make_topic(settings, 4);
    constexpr size_t kRecords = 100'000, kBatch = 500;
    std::vector<Record> batch;
    std::vector<std::vector<std::string>> keys(4);
    const auto begin = Clock::now();
    for (size_t i = 0; i < kRecords; ++i) {
        batch.push_back(
            record(std::to_string(i), std::string(300, static_cast<char>('a' + i % 26))));
        if (batch.size() < kBatch) continue;
        const auto positions = writer->append(many, batch);
        ASSERT_TRUE(positions) << positions.error().message;
        for (size_t r = 0; r < batch.size(); ++r) {
            const auto [partition, offset] = (*positions)[r];
            ASSERT_EQ(partition, streaming::partition_of(batch[r].key, 4));
            auto& mine = keys[static_cast<size_t>(partition.value())];
            ASSERT_EQ(offset.value(), static_cast<int64_t>(mine.size()));
            mine.push_back(batch[r].key);
        }
        batch.clear();
    }
    const auto written = Clock::now();
    for (int32_t p = 0; p < 4; ++p) {
        const auto records = read_all(*reader, many, PartitionId(p));
        const auto& expected = keys[static_cast<size_t>(p)];
        ASSERT_EQ(records.size(), expected.size());
        for (size_t i = 0; i < records.size(); ++i) {
            ASSERT_EQ(records[i].offset, Offset(static_cast<int64_t>(i)));
            ASSERT_EQ(records[i].record.key, expected[i]);
        }
    }
    const auto per_second = [](Clock::duration span) {
        return static_cast<int>(kRecords / std::chrono::duration<double>(span).count());
    };
    RecordProperty("appended_per_second", per_second(written - begin));
    RecordProperty("read_per_second", per_second(Clock::now() - written));
    fmt::print("100,000 records: {}/s appended in batches of {}, {}/s read\n",
               per_second(written - begin), kBatch, per_second(Clock::now() - written));
}

TEST_F(Kafka, TheEndIsWhereItStandsWhenItIsRead) {
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(reader->read(topic, kFirst, Offset(i), 10)->empty());
        append(i, 1);
        const auto records = reader->read(topic, kFirst, Offset(i), 10);
        ASSERT_TRUE(records) << records.error().message;
        ASSERT_EQ(records->size(), 1u);
        EXPECT_EQ(records->front().record.value, std::to_string(i));
    }
    EXPECT_EQ(reader->end_offset(topic, kFirst), Offset(100));
    expect_error(reader->read(topic, kFirst, Offset(101), 1), ErrorCode::kOutOfRange,
                 "offset_ahead");
    EXPECT_EQ(read_all(*reader, topic, kFirst, Offset(90)).size(), 10u);
}

TEST_F(Kafka, ATopicThatIsNotThereIsNotMadeByAsking) {
    const auto name = unique_topic("never");
    for (int i = 0; i < 2; ++i) {
        expect_error(reader->partitions(name), ErrorCode::kNotFound, "no_topic");
        expect_error(reader->identity(name), ErrorCode::kNotFound, "no_topic");
        expect_error(reader->read(name, kFirst, Offset(0), 1), ErrorCode::kNotFound, "no_topic");
        expect_error(writer->append(name, std::vector{record("a")}), ErrorCode::kNotFound,
                     "no_topic");
    }
}

TEST_F(Kafka, RecordsThatWereDeletedAreARetentionGapForOldAndNewReaders) {
    append(0, 100);
    EXPECT_EQ(reader->read(topic, kFirst, Offset(0), 1)->size(), 1u);
    support::KafkaAdmin(settings.bootstrap_servers)
        .delete_records_before(topic, kFirst, Offset(60));
    EXPECT_EQ(reader->begin_offset(topic, kFirst), Offset(60));
    const auto fresh = KafkaReader::open(settings).value();
    expect_error(fresh->read(topic, kFirst, Offset(10), 1), ErrorCode::kDataLoss, "retention_gap");
    expect_error(fresh->read(topic, kFirst, Offset(59), 1), ErrorCode::kDataLoss, "retention_gap");
    expect_error(streaming::check_bookmark(*fresh, topic, kFirst, Bookmark{Offset(59), ""}),
                 ErrorCode::kDataLoss, "retention_gap");
    EXPECT_EQ(fresh->read(topic, kFirst, Offset(60), 1)->front().offset, Offset(60));
    EXPECT_EQ(read_all(*fresh, topic, kFirst, Offset(60)).size(), 40u);
    // the running cursor may still have them; from another position it must ask the broker
    expect_error(reader->read(topic, kFirst, Offset(0), 1), ErrorCode::kDataLoss, "retention_gap");
    EXPECT_EQ(read_all(*reader, topic, kFirst, Offset(60)).size(), 40u);
}

TEST_F(Kafka, ATopicThatWasMadeAnewIsFoundByItsBookmark) {
    append(0, 10);
    const auto before = read_all(*reader, topic);
    const Bookmark bookmark = streaming::bookmark_after(before.back());
    EXPECT_TRUE(streaming::check_bookmark(*reader, topic, kFirst, bookmark));
    make_anew();
    // shorter than before, for the reader that also knew the old one
    const auto fresh = KafkaReader::open(settings).value();
    expect_error(streaming::check_bookmark(*fresh, topic, kFirst, bookmark), ErrorCode::kOutOfRange,
                 "offset_ahead");
    expect_error(reader->read(topic, kFirst, bookmark.next, 1), ErrorCode::kOutOfRange,
                 "offset_ahead");
    // grown beyond the old position
    writer = KafkaWriter::open(settings).value();
    append(100, 20);
    expect_error(streaming::check_bookmark(*fresh, topic, kFirst, bookmark),
                 ErrorCode::kFailedPrecondition, "topic_recreated");
    expect_error(streaming::check_bookmark(*reader, topic, kFirst, bookmark),
                 ErrorCode::kFailedPrecondition, "topic_recreated");
}

TEST_F(Kafka, WhatWasFetchedOfATopicIsNotReadLongAfter) {
    append(0, 10);
    for (const int64_t from : {2, 5})  // the rest of it is fetched
        ASSERT_EQ(reader->read(topic, kFirst, Offset(from), 1)->size(), 1u);
    make_anew();
    writer = KafkaWriter::open(settings).value();
    append(100, 20);
    std::this_thread::sleep_for(16s);
    for (const int64_t from : {3, 6, 4}) {
        const auto records = reader->read(topic, kFirst, Offset(from), 1);
        ASSERT_TRUE(records) << records.error().message;
        EXPECT_EQ(records->front().record.value, std::to_string(100 + from));
    }
}

TEST_F(Kafka, MarksOfTransactionsAreLeftOutAndAbortedRecordsAreNotSeen) {
    const support::TransactionalProducer producer(settings.bootstrap_servers, topic);
    append(0, 3);  // 0 1 2
    producer.begin();
    producer.produce(topic, 0, "a");
    producer.produce(topic, 0, "b");
    producer.commit();  // 3 4, mark 5
    wait_for_end(6);    // the mark comes after the answer
    append(3, 1);       // 6
    producer.begin();
    producer.produce(topic, 0, "never");
    producer.abort();  // 7, mark 8
    wait_for_end(9);
    const auto records = read_all(*reader, topic);
    EXPECT_EQ(values_of(records), (std::vector<std::string>{"0", "1", "2", "a", "b", "3"}));
    EXPECT_EQ(records.back().offset, Offset(6));
    // the end after the marks does not block, and is not a gap
    const auto begin = Clock::now();
    for (const int64_t from : {5, 7, 8, 9}) {
        const auto rest = reader->read(topic, kFirst, Offset(from), 10);
        ASSERT_TRUE(rest) << from << ": " << rest.error().message;
        EXPECT_EQ(rest->size(), from == 5 ? 1u : 0u) << from;
    }
    EXPECT_LT(Clock::now() - begin, 10s);  // the time of a read that blocks
    append(4, 1);
    EXPECT_EQ(values_of(read_all(*reader, topic, kFirst, Offset(7))),
              std::vector<std::string>{"4"});
}

TEST_F(Kafka, AnOpenTransactionHoldsTheEndBackUntilItIsDecided) {
    const support::TransactionalProducer producer(settings.bootstrap_servers, topic);
    append(0, 2);
    producer.begin();
    producer.produce(topic, 0, "a");
    append(2, 1);
    EXPECT_EQ(reader->end_offset(topic, kFirst), Offset(2));
    EXPECT_EQ(values_of(read_all(*reader, topic)), (std::vector<std::string>{"0", "1"}));
    producer.commit();
    wait_for_end(5);
    EXPECT_EQ(values_of(read_all(*reader, topic)), (std::vector<std::string>{"0", "1", "a", "2"}));
}

TEST_F(Kafka, PartitionsThatWereAddedAreSeenWithinASecondOrTwo) {
    EXPECT_EQ(reader->partitions(topic), 1);
    expect_error(reader->read(topic, PartitionId(2), Offset(0), 1), ErrorCode::kOutOfRange,
                 "bad_partition");
    support::KafkaAdmin(settings.bootstrap_servers).add_partitions(topic, 3);
    const auto deadline = Clock::now() + 60s;
    while (reader->partitions(topic) != 3) ASSERT_LT(Clock::now(), deadline);
    EXPECT_TRUE(reader->read(topic, PartitionId(2), Offset(0), 1)->empty());
    const auto fresh = KafkaWriter::open(settings).value();
    const auto placed = fresh->append_to(topic, PartitionId(2), std::vector{record("k", "new")});
    ASSERT_TRUE(placed) << placed.error().message;
    EXPECT_EQ(values_of(read_all(*reader, topic, PartitionId(2))), std::vector<std::string>{"new"});
}

TEST_F(Kafka, RecordsOfAMegabyteAndTheTopicsOwnLimit) {
    const std::vector<Record> large{record("k", std::string(1'000'000, 'x'))};
    ASSERT_TRUE(writer->append(topic, large));
    EXPECT_EQ(read_all(*reader, topic).size(), 1u);
    const std::vector<Record> larger{record("k", std::string(3'000'000, 'x'))};
    // neither the compressed size counts nor the size after decompression: random bytes
    std::string noise;
    for (uint64_t i = 0, x = 1; i < 3'000'000; ++i, x = x * 6364136223846793005u + 1) {
        noise.push_back(static_cast<char>(x >> 56));
    }
    expect_error(writer->append(topic, std::vector{record("k", noise)}), ErrorCode::kOutOfRange,
                 "record_too_large");
    append(0, 1);
    EXPECT_EQ(read_all(*reader, topic).back().record.value, "0");
}

}  // namespace
}  // namespace rampart::streaming_kafka
