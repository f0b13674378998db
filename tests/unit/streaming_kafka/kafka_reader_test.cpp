#include "rampart/streaming_kafka/kafka_reader.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "rampart/streaming/bookmark.hpp"
#include "rampart/streaming_kafka/kafka_writer.hpp"
#include "support/kafka_mock.hpp"

namespace rampart::streaming_kafka {
namespace {

using base::Duration;
using base::ErrorCode;
using base::TimePoint;
using streaming::Offset;
using streaming::PartitionId;
using streaming::Record;
using streaming::StoredRecord;
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

class KafkaReaderTest : public testing::Test {
  protected:
    KafkaReaderTest() {
        mock.create("t", 1);
        mock.create("many", 3);
        for (int32_t p = 0; p < 3; ++p) mock.lead("many", PartitionId(p), 1);
        mock.lead("t", kFirst, 1);
        settings = mock.settings();
        settings.request_timeout = Duration::seconds(10);
        writer = KafkaWriter::open(settings).value();
        reader = KafkaReader::open(settings).value();
    }

    void append(int64_t first, int64_t count, const std::string& topic = "t",
                PartitionId partition = kFirst, size_t bytes = 10) {
        std::vector<Record> records;
        for (int64_t i = first; i < first + count; ++i) {
            records.push_back(record(fmt::format("{}", i), std::string(bytes, 'x')));
        }
        const auto positions = writer->append_to(topic, partition, records);
        ASSERT_TRUE(positions) << positions.error().message;
        for (int64_t i = 0; i < count; ++i) {
            EXPECT_EQ((*positions)[static_cast<size_t>(i)],
                      (streaming::Position{partition, Offset(first + i)}));
        }
    }

    /// Reads from `from` until the end and checks that nothing is missing or twice.
    int64_t read_on(int64_t from, size_t limit = 1000, const std::string& topic = "t",
                    PartitionId partition = kFirst) {
        for (;;) {
            const auto records = reader->read(topic, partition, Offset(from), limit);
            EXPECT_TRUE(records) << records.error().message;
            if (!records || records->empty()) return from;
            EXPECT_LE(records->size(), limit);
            for (const auto& stored : *records) {
                EXPECT_EQ(stored.offset, Offset(from));
                EXPECT_EQ(stored.record.key, fmt::format("{}", from));
                ++from;
            }
        }
    }

    KafkaMock mock{2};
    KafkaSettings settings;
    std::unique_ptr<KafkaWriter> writer;
    std::unique_ptr<KafkaReader> reader;
};

TEST_F(KafkaReaderTest, GivesBackWhatWasWritten) {
    const std::vector<Record> written{
        {"key", std::string("val\0ue", 6), TimePoint::from_micros(1'234'567'891), {}},
        {"key2", "", TimePoint::from_micros(0), {{"schema", "s/1"}, {"", "x"}, {"empty", ""}}},
        {"", "no key", TimePoint::from_micros(-1), {{"schema", std::string("\0", 1)}}},
        {"a", "b", TimePoint::from_micros(1), {{"rampart-time", "somebody else's"}}}};
    ASSERT_TRUE(writer->append_to("t", kFirst, written));
    std::vector<StoredRecord> records;  // a read gives what is at hand
    while (records.size() < written.size()) {
        const auto more = reader->read("t", kFirst, Offset(std::ssize(records)), 10);
        ASSERT_TRUE(more) << more.error().message;
        ASSERT_FALSE(more->empty());
        records.insert(records.end(), more->begin(), more->end());
    }
    ASSERT_EQ(records.size(), written.size());
    for (size_t i = 0; i < written.size(); ++i) {
        EXPECT_EQ(records[i].record, written[i]) << i;
        EXPECT_EQ(records[i].offset, Offset(static_cast<int64_t>(i)));
        EXPECT_EQ(records[i].partition, kFirst);
    }
}

TEST_F(KafkaReaderTest, SaysWhenARecordWasWritten) {
    const auto seconds = [] {
        return std::chrono::system_clock::now().time_since_epoch() / std::chrono::seconds(1);
    };
    const auto before = seconds();
    append(0, 1);
    const auto records = reader->read("t", kFirst, Offset(0), 10).value();
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].record.timestamp, TimePoint::from_micros(1'000'000));
    ASSERT_TRUE(records[0].appended_at);
    EXPECT_GE(records[0].appended_at->micros() / 1'000'000, before);
    EXPECT_LE(records[0].appended_at->micros() / 1'000'000, seconds());
}

TEST_F(KafkaReaderTest, RecordsOfOthersHaveKafkasTime) {
    mock.produce("t", "key", "value", 1'234'567);
    const auto records = reader->read("t", kFirst, Offset(0), 10);
    ASSERT_TRUE(records) << records.error().message;
    ASSERT_EQ(records->size(), 1u);
    EXPECT_EQ(records->front().record,
              (Record{"key", "value", TimePoint::from_micros(1'234'567'000), {}}));
}

TEST_F(KafkaReaderTest, ReadsOnAndBackAndSeesTheEndAsItStands) {
    EXPECT_EQ(read_on(0), 0);
    append(0, 100);
    EXPECT_EQ(read_on(0, 7), 100);
    append(100, 50);
    EXPECT_EQ(read_on(100), 150);  // at once: the end is asked for, not remembered
    EXPECT_EQ(read_on(3), 150);    // back
    EXPECT_EQ(read_on(149), 150);
    EXPECT_EQ(read_on(150), 150);
    EXPECT_EQ(reader->read("t", kFirst, Offset(0), 1)->size(), 1u);
    EXPECT_TRUE(reader->read("t", kFirst, Offset(0), 0)->empty());
    EXPECT_EQ(reader->begin_offset("t", kFirst), Offset(0));
    EXPECT_EQ(reader->end_offset("t", kFirst), Offset(150));
}

TEST_F(KafkaReaderTest, WhatWasJustAcknowledgedIsRead) {
    for (int64_t i = 0; i < 50; ++i) {
        append(i, 1);
        ASSERT_EQ(read_on(i), i + 1);
    }
}

TEST_F(KafkaReaderTest, TopicsAndPartitionsThatAreNotThereHaveErrors) {
    EXPECT_EQ(reader->partitions("many"), 3);
    expect_error(reader->read("many", PartitionId(3), Offset(0), 1), ErrorCode::kOutOfRange,
                 "bad_partition");
    expect_error(reader->begin_offset("many", PartitionId(-1)), ErrorCode::kOutOfRange,
                 "bad_partition");
    expect_error(reader->read("t", kFirst, Offset(-1), 1), ErrorCode::kOutOfRange, "bad_offset");
    expect_error(reader->partitions("no spaces"), ErrorCode::kInvalidArgument, "bad_topic");
    // the mock would make what is asked for
    mock.create("gone", 1);
    mock.topic_error("gone", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    expect_error(reader->partitions("gone"), ErrorCode::kNotFound, "no_topic");
    expect_error(reader->identity("gone"), ErrorCode::kNotFound, "no_topic");
    expect_error(reader->read("gone", kFirst, Offset(0), 1), ErrorCode::kNotFound, "no_topic");
    expect_error(reader->end_offset("gone", kFirst), ErrorCode::kNotFound, "no_topic");
    const std::vector<PartitionId> two{kFirst, PartitionId(1)};
    for (const auto& end : reader->end_offsets("gone", two))
        expect_error(end, ErrorCode::kNotFound, "no_topic");
}

TEST_F(KafkaReaderTest, IdentityNamesClusterAndTopic) {
    const auto id = reader->identity("t");
    ASSERT_TRUE(id) << id.error().message;
    EXPECT_TRUE(id->ends_with("/t"));
    EXPECT_GT(id->size(), 10u);
    EXPECT_NE(*id, *reader->identity("many"));
    const auto other = KafkaReader::open(settings).value();
    EXPECT_EQ(other->identity("t").value(), *id);
    const KafkaMock elsewhere;
    elsewhere.create("t", 1);
    EXPECT_NE(KafkaReader::open(elsewhere.settings()).value()->identity("t").value(), *id);
}

TEST_F(KafkaReaderTest, AnOffsetPastTheEndIsReportedAndTheCursorRecovers) {
    append(0, 10);
    expect_error(reader->read("t", kFirst, Offset(11), 1), ErrorCode::kOutOfRange, "offset_ahead");
    EXPECT_EQ(read_on(0), 10);
    expect_error(reader->read("t", kFirst, Offset(1000), 1), ErrorCode::kOutOfRange,
                 "offset_ahead");
    EXPECT_EQ(read_on(10), 10);
}

TEST_F(KafkaReaderTest, WhatABrokerSaysOfAnEarlierPlaceIsNotTakenForTheNextOne) {
    append(0, 10);
    EXPECT_EQ(read_on(0), 10);  // and fetches on from there
    mock.answer_late(KafkaMock::kFetch, std::chrono::milliseconds(200),
                     RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE);
    mock.wait_for_late(KafkaMock::kFetch);
    mock.fail(KafkaMock::kListOffsets, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
    expect_error(reader->read("t", kFirst, Offset(10), 1), ErrorCode::kPermissionDenied,
                 "not_authorized");  // fetches no more
    // Until the broker has answered that fetch; if it is later still, there is nothing to be seen.
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    EXPECT_EQ(read_on(3), 10);
}

TEST_F(KafkaReaderTest, RecordsThatTheClusterForgotAreARetentionGap) {
    append(0, 10);
    EXPECT_EQ(read_on(0), 10);
    // the mock keeps 5 MiB of a partition, compressed: incompressible records
    std::string noise;
    for (uint64_t i = 0, x = 1; i < 100'000; ++i, x = x * 6364136223846793005u + 1) {
        noise.push_back(static_cast<char>(x >> 56));
    }
    for (int i = 0; i < 80; ++i) {
        const std::vector<Record> records(1, record("k", noise));
        ASSERT_TRUE(writer->append_to("t", kFirst, records));
    }
    const auto begin = reader->begin_offset("t", kFirst);
    ASSERT_TRUE(begin);
    ASSERT_GT(*begin, Offset(11));
    expect_error(reader->read("t", kFirst, Offset(3), 1), ErrorCode::kDataLoss, "retention_gap");
    expect_error(KafkaReader::open(settings).value()->read("t", kFirst, Offset(0), 1),
                 ErrorCode::kDataLoss, "retention_gap");
    const auto rest = reader->read("t", kFirst, *begin, 1);
    ASSERT_TRUE(rest) << rest.error().message;
    EXPECT_EQ(rest->front().offset, *begin);
    const streaming::Bookmark bookmark{Offset(5), ""};
    expect_error(streaming::check_bookmark(*reader, "t", kFirst, bookmark), ErrorCode::kDataLoss,
                 "retention_gap");
}

TEST_F(KafkaReaderTest, AGapThatOpensUnderARunningCursorIsFound) {
    std::string noise;
    for (uint64_t i = 0, x = 7; i < 100'000; ++i, x = x * 6364136223846793005u + 1) {
        noise.push_back(static_cast<char>(x >> 56));
    }
    settings.reader_bytes_per_partition = size_t{64} << 10;  // it cannot fetch all of it ahead
    reader = KafkaReader::open(settings).value();
    const std::vector<Record> records(1, record("k", noise));
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(writer->append_to("t", kFirst, records));
    ASSERT_EQ(reader->read("t", kFirst, Offset(0), 1)->size(), 1u);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(writer->append_to("t", kFirst, records));
    int64_t next = 1;
    for (;;) {
        const auto read = reader->read("t", kFirst, Offset(next), 1);
        if (!read) {
            expect_error(read, ErrorCode::kDataLoss, "retention_gap");
            break;
        }
        ASSERT_EQ(read->size(), 1u);
        ASSERT_EQ(read->front().offset, Offset(next));  // never over the gap
        ++next;
    }
    EXPECT_LT(next, 60);
}

TEST_F(KafkaReaderTest, ErrorsThatPassAreRiddenOut) {
    append(0, 100);
    mock.fail(KafkaMock::kListOffsets, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, 2);
    mock.fail(KafkaMock::kFetch, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, 3);
    EXPECT_EQ(read_on(0), 100);
    mock.fail(KafkaMock::kFetch, RD_KAFKA_RESP_ERR__TRANSPORT, 2);
    append(100, 10);
    EXPECT_EQ(read_on(100), 110);
}

TEST_F(KafkaReaderTest, ABrokerThatIsDownIsUnavailableAndThenReadOn) {
    settings.request_timeout = Duration::seconds(1);
    reader = KafkaReader::open(settings).value();
    append(0, 10);
    EXPECT_EQ(read_on(0), 10);
    mock.down(1);
    mock.down(2);
    const auto read = reader->read("t", kFirst, Offset(10), 1);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::kUnavailable) << read.error().message;
    const auto count = KafkaReader::open(settings).value()->partitions("t");
    expect_error(count, ErrorCode::kUnavailable, "no_broker");
    mock.up(1);
    mock.up(2);
    append(10, 5);
    // the library waits up to a second before it connects again: all that a request may take
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!reader->read("t", kFirst, Offset(10), 1) || !reader->partitions("t")) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    }
    EXPECT_EQ(read_on(10), 15);
    EXPECT_EQ(reader->partitions("t"), 1);
}

TEST_F(KafkaReaderTest, NoServerAtAllSaysWhereItLooked) {
    settings.bootstrap_servers = "127.0.0.1:1";
    settings.request_timeout = Duration::seconds(1);
    const auto count = KafkaReader::open(settings).value()->partitions("t");
    expect_error(count, ErrorCode::kUnavailable, "no_broker");
    EXPECT_NE(count.error().message.find("127.0.0.1:1"), std::string::npos)
        << count.error().message;
}

TEST_F(KafkaReaderTest, APartitionWhoseLeaderIsGoneHoldsUpNoOther) {
    append(0, 1);
    append(0, 10, "many", PartitionId(1));
    mock.lead("t", kFirst, 2);
    mock.down(2);
    settings.request_timeout = Duration::seconds(5);
    reader = KafkaReader::open(settings).value();
    std::atomic<bool> waiting = true;
    std::jthread slow([&] {
        const auto records = reader->read("t", kFirst, Offset(0), 1);
        EXPECT_FALSE(records);
        waiting = false;
    });
    const auto records = reader->read("many", PartitionId(1), Offset(0), 10);
    ASSERT_TRUE(records) << records.error().message;
    EXPECT_FALSE(records->empty());
    EXPECT_TRUE(waiting);
    slow.join();
    mock.lead("t", kFirst, 1);  // found again, if not at once
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!reader->read("t", kFirst, Offset(0), 1)) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    }
    EXPECT_EQ(read_on(0), 1);
}

TEST_F(KafkaReaderTest, APartitionWithoutALeaderIsNamedSoonAndReadAgainLater) {
    settings.request_timeout = Duration::seconds(120);
    reader = KafkaReader::open(settings).value();
    for (int32_t p = 0; p < 3; ++p) append(0, 10, "many", PartitionId(p));
    const PartitionId dead(1);
    EXPECT_FALSE(reader->read("many", dead, Offset(0), 5)->empty());
    mock.lead("many", dead, -1);
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<PartitionId> all{PartitionId(0), dead, PartitionId(2)};
    const auto ends = reader->end_offsets("many", all);
    EXPECT_EQ(ends[0], Offset(10));
    expect_error(ends[1], ErrorCode::kUnavailable, "no_leader");
    EXPECT_EQ(ends[2], Offset(10));
    const auto end = reader->end_offset("many", dead);
    expect_error(end, ErrorCode::kUnavailable, "no_leader");
    EXPECT_NE(end.error().message.find("topic 'many', partition 1"), std::string::npos);
    for (int round = 0; round < 20; ++round) {
        expect_error(reader->read("many", dead, Offset(5), 5), ErrorCode::kUnavailable,
                     "no_leader");
        expect_error(reader->begin_offset("many", dead), ErrorCode::kUnavailable, "no_leader");
        EXPECT_EQ(reader->end_offset("many", PartitionId(2)), Offset(10));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s) << "it waited for request_timeout";
    mock.lead("many", dead, 1);
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    base::Result<std::vector<streaming::StoredRecord>> rest =
        base::Error{ErrorCode::kInternal, "none", "none"};
    while (!rest && std::chrono::steady_clock::now() < deadline) {
        rest = reader->read("many", dead, Offset(5), 5);
        if (!rest) std::this_thread::sleep_for(20ms);
    }
    ASSERT_TRUE(rest) << rest.error().message;
    EXPECT_EQ(rest->front().offset, Offset(5));
}

TEST_F(KafkaReaderTest, ThreadsReadTheSameAndDifferentPartitions) {
    for (int32_t p = 0; p < 3; ++p) append(0, 500, "many", PartitionId(p));
    std::vector<std::jthread> threads;
    for (int t = 0; t < 6; ++t) {
        threads.emplace_back([&, p = PartitionId(t % 3)] {
            int64_t next = 0;
            while (next < 500) {
                const auto records = reader->read("many", p, Offset(next), 40);
                ASSERT_TRUE(records) << records.error().message;
                for (const auto& stored : *records) EXPECT_EQ(stored.offset, Offset(next++));
            }
        });
    }
    for (auto& thread : threads) thread.join();
}

TEST_F(KafkaReaderTest, SettingsAndSecretsAreCheckedWhenItIsOpened) {
    settings.bootstrap_servers = "nonsense";
    expect_error(KafkaReader::open(settings), ErrorCode::kInvalidArgument, "bad_kafka_settings");
}

TEST_F(KafkaReaderTest, WhatIsPrefetchedIsReadFromAnyPlaceAndABadPlaceIsLeftToTheRead) {
    for (int32_t p = 0; p < 3; ++p) append(0, 10, "many", PartitionId(p));
    const PartitionId first(0), second(1), third(2), none(7);
    const std::vector<streaming::Position> from{{first, Offset(4)},
                                                {second, Offset(0)},
                                                {none, Offset(0)},
                                                {third, Offset(99)},
                                                {third, Offset(-1)}};
    reader->prefetch("many", from);
    reader->prefetch("gone", from);
    EXPECT_EQ(read_on(4, 1000, "many", first), 10);
    EXPECT_EQ(read_on(3, 1000, "many", second), 10) << "elsewhere";
    EXPECT_EQ(read_on(0, 1000, "many", first), 10) << "before";
    expect_error(reader->read("many", third, Offset(99), 5), ErrorCode::kOutOfRange,
                 "offset_ahead");
    EXPECT_EQ(read_on(0, 1000, "many", third), 10);
    expect_error(reader->read("many", none, Offset(0), 5), ErrorCode::kOutOfRange, "bad_partition");
    // what is under way is not begun anew
    EXPECT_EQ(reader->read("many", first, Offset(0), 1)->size(), 1u);
    reader->prefetch("many", std::vector<streaming::Position>{{first, Offset(1)}});
    EXPECT_EQ(read_on(1, 2, "many", first), 10);
}

TEST_F(KafkaReaderTest, WhatWasPrefetchedIsThereWithoutTheBroker) {
    for (int32_t p = 0; p < 3; ++p) append(0, 10, "many", PartitionId(p));
    settings.request_timeout = Duration::seconds(2);
    const auto fetched = KafkaReader::open(settings).value(),
               idle = KafkaReader::open(settings).value();
    std::vector<streaming::Position> from;
    for (int32_t p = 0; p < 3; ++p) from.push_back({PartitionId(p), Offset(4)});
    fetched->prefetch("many", from);
    ASSERT_TRUE(idle->partitions("many"));
    std::this_thread::sleep_for(3s);
    mock.down(1);
    mock.down(2);
    for (int32_t p = 0; p < 3; ++p) {
        const auto records = fetched->read("many", PartitionId(p), Offset(4), 100);
        ASSERT_TRUE(records) << records.error().message;
        EXPECT_EQ(records->front().offset, Offset(4));
        EXPECT_EQ(records->size(), 6u);
    }
    EXPECT_FALSE(idle->read("many", kFirst, Offset(4), 100)) << "so the broker was needed";
}

TEST_F(KafkaReaderTest, ReadersAtDifferentPlacesDoNotStopEachOther) {
    append(0, 3000);
    settings.request_timeout = Duration::seconds(2);
    reader = KafkaReader::open(settings).value();
    // the joiner, the index of decisions, and who asks for one decision
    std::vector<int64_t> next{0, 1000, 2000};
    static_assert(kPositions == 3);
    const auto read_one = [&](int64_t& from) {
        const auto records = reader->read("t", kFirst, Offset(from), 1);
        ASSERT_TRUE(records) << records.error().message;
        ASSERT_EQ(records->size(), 1u);
        EXPECT_EQ(records->front().offset, Offset(from));
        EXPECT_EQ(records->front().record.key, fmt::format("{}", from++));
    };
    for (int round = 0; round < 3; ++round)
        for (auto& from : next) read_one(from);
    mock.down(1);
    mock.down(2);
    for (int round = 0; round < 50 && !HasFailure(); ++round)
        for (auto& from : next) read_one(from);  // from what each has fetched
    int64_t fourth = 500;
    EXPECT_FALSE(reader->read("t", kFirst, Offset(fourth), 1)) << "so the broker was needed";
}

TEST_F(KafkaReaderTest, TheLeastRecentlyUsedPlaceGivesWay) {
    append(0, 100);
    settings.request_timeout = Duration::seconds(2);
    reader = KafkaReader::open(settings).value();
    for (const int64_t from : {0, 20, 40, 60, 80})
        EXPECT_EQ(reader->read("t", kFirst, Offset(from), 1)->front().offset, Offset(from));
    mock.down(1);
    mock.down(2);
    for (const int64_t from : {41, 61, 81})
        EXPECT_EQ(reader->read("t", kFirst, Offset(from), 1)->front().offset, Offset(from));
    EXPECT_FALSE(reader->read("t", kFirst, Offset(21), 1));
}

TEST_F(KafkaReaderTest, MoreReadersThanPlacesWaitForEachOtherAndMissNothing) {
    append(0, 400);
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < 2 * kPositions; ++t) {
        threads.emplace_back([&, from = static_cast<int64_t>(t) * 37] {
            for (int64_t next = from; next < 400;) {
                const auto records = reader->read("t", kFirst, Offset(next), 60);
                ASSERT_TRUE(records) << records.error().message;
                for (const auto& stored : *records) EXPECT_EQ(stored.offset, Offset(next++));
            }
        });
    }
    for (auto& thread : threads) thread.join();
}

TEST_F(KafkaReaderTest, TheEndsOfManyPartitionsAreThoseOfEachInTheirOrder) {
    for (int32_t p = 0; p < 3; ++p) append(0, 10 * (p + 1), "many", PartitionId(p));
    const std::vector<PartitionId> asked{PartitionId(2), PartitionId(0), PartitionId(7),
                                         PartitionId(1)};
    const auto ends = reader->end_offsets("many", asked);
    ASSERT_EQ(ends.size(), asked.size());
    EXPECT_EQ(ends[0], Offset(30));
    EXPECT_EQ(ends[1], Offset(10));
    expect_error(ends[2], ErrorCode::kOutOfRange, "bad_partition");
    EXPECT_EQ(ends[3], Offset(20));
    EXPECT_TRUE(reader->end_offsets("many", {}).empty());
}

}  // namespace
}  // namespace rampart::streaming_kafka
