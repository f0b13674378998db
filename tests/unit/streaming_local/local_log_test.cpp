#include "rampart/streaming_local/local_log.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>
#include <latch>
#include <optional>
#include <set>
#include <thread>

#include "rampart/base/limits.hpp"
#include "rampart/base/random.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "support/set_clock.hpp"

namespace rampart::streaming_local {
namespace {

namespace fs = std::filesystem;
using base::Duration;
using base::ErrorCode;
using base::TimePoint;
using streaming::Offset;
using streaming::PartitionId;
using streaming::Record;

fs::path fresh_folder() {
    static int counter = 0;
    const auto name = fmt::format("local_log_{}_{}", ::getpid(), counter++);
    const fs::path path = fs::path(testing::TempDir()) / name;
    fs::remove_all(path);
    return path;
}

std::unique_ptr<LocalLog> open(const fs::path& folder) {
    auto log = LocalLog::open(folder);
    EXPECT_TRUE(log) << log.error().message;
    return std::move(*log);
}

Record record(std::string key, std::string value = "v", int64_t seconds = 0) {
    return {std::move(key), std::move(value), TimePoint::from_micros(seconds * 1'000'000), {}};
}

void append_one(LocalLog& log, std::string_view topic, const Record& record) {
    const auto positions = log.append(topic, std::span(&record, 1));
    ASSERT_TRUE(positions) << positions.error().message;
}

template <class T>
void expect_error(const base::Result<T>& result, ErrorCode code, std::string_view reason) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, code);
    EXPECT_EQ(result.error().reason, reason);
}

TEST(LocalLog, ReturnsWhatWasAppendedAfterReopening) {
    const auto folder = fresh_folder();
    const Record full{"key",
                      std::string("val\0ue", 6),
                      TimePoint::from_micros(-5),
                      {{"schema", "s/1"}, {"", "x"}}};
    {
        const auto log = open(folder);
        ASSERT_TRUE(log->create_topic("t", {}));
        append_one(*log, "t", full);
        append_one(*log, "t", record("b"));
    }
    const auto log = open(folder);
    const auto records = log->read("t", PartitionId(0), Offset(0), 10);
    ASSERT_TRUE(records);
    ASSERT_EQ(records->size(), 2u);
    EXPECT_EQ((*records)[0].record, full);
    EXPECT_EQ((*records)[1].offset, Offset(1));
    EXPECT_EQ(log->read("t", PartitionId(0), Offset(1), 10)->size(), 1u);
    EXPECT_EQ(log->read("t", PartitionId(0), Offset(0), 1)->size(), 1u);
    EXPECT_TRUE(log->read("t", PartitionId(0), Offset(2), 10)->empty());
}

TEST(LocalLog, KeysGoWhereKafkasJavaClientPutsThemWithDenseOffsets) {
    const auto log = open(fresh_folder());
    ASSERT_TRUE(log->create_topic("t", {.partitions = 7}));
    std::vector<Record> batch;
    for (int i = 0; i < 50; ++i) batch.push_back(record(fmt::format("key{}", i)));
    const auto positions = log->append("t", batch);
    ASSERT_TRUE(positions);
    std::map<int32_t, int64_t> next;
    for (size_t i = 0; i < batch.size(); ++i) {
        const auto [partition, offset] = (*positions)[i];
        EXPECT_EQ(partition, streaming::partition_of(batch[i].key, 7));
        EXPECT_EQ(offset.value(), next[partition.value()]++);
        EXPECT_EQ(log->read("t", partition, offset, 1)->at(0).record, batch[i]);
    }
}

TEST(LocalLog, CreatingATopicAgainKeepsItAndAnotherPartitionCountIsRefused) {
    const auto log = open(fresh_folder());
    ASSERT_TRUE(log->create_topic("t", {.partitions = 3}));
    const auto id = log->identity("t").value();
    append_one(*log, "t", record("a"));
    ASSERT_TRUE(log->create_topic("t", {.partitions = 3, .fsync = Fsync::kNever}));
    EXPECT_EQ(log->identity("t").value(), id);
    EXPECT_EQ(log->topics().at(0).options.fsync, Fsync::kNever);
    EXPECT_EQ(log->end_offset("t", streaming::partition_of("a", 3)).value(), Offset(1));
    expect_error(log->create_topic("t", {.partitions = 4}), ErrorCode::kAlreadyExists,
                 "partitions_differ");
}

TEST(LocalLog, ATopicMadeAnewHasAnotherIdentityAndNoRecords) {
    const auto folder = fresh_folder();
    std::string first, second;
    {
        const auto log = open(folder);
        ASSERT_TRUE(log->create_topic("t", {}));
        first = log->identity("t").value();
        append_one(*log, "t", record("a"));
        ASSERT_TRUE(log->delete_topic("t"));
        expect_error(log->identity("t"), ErrorCode::kNotFound, "no_topic");
        ASSERT_TRUE(log->create_topic("t", {}));
        second = log->identity("t").value();
    }
    EXPECT_NE(first, second);
    const auto log = open(folder);
    EXPECT_EQ(log->identity("t").value(), second);
    EXPECT_EQ(log->end_offset("t", PartitionId(0)).value(), Offset(0));
    expect_error(log->read("t", PartitionId(0), Offset(1), 1), ErrorCode::kOutOfRange,
                 "offset_ahead");
}

TEST(LocalLog, RefusesWhatIsOutOfBoundsByName) {
    const auto log = open(fresh_folder());
    for (const auto* name : {"", "a b", "a/b", "ä"}) {
        expect_error(log->create_topic(name, {}), ErrorCode::kInvalidArgument, "bad_topic");
    }
    EXPECT_TRUE(log->create_topic(std::string(base::limits::kMaxNameBytes, 'a'), {}));
    expect_error(log->create_topic(std::string(base::limits::kMaxNameBytes + 1, 'a'), {}),
                 ErrorCode::kInvalidArgument, "bad_topic");
    expect_error(log->create_topic("p", {.partitions = 0}), ErrorCode::kOutOfRange,
                 "bad_partitions");
    expect_error(log->create_topic("p", {.partitions = kMaxPartitions + 1}), ErrorCode::kOutOfRange,
                 "bad_partitions");
    EXPECT_TRUE(log->create_topic("p", {.partitions = kMaxPartitions}));
    ASSERT_TRUE(log->create_topic("t", {}));
    expect_error(log->read("t", PartitionId(1), Offset(0), 1), ErrorCode::kOutOfRange,
                 "bad_partition");
    expect_error(log->read("t", PartitionId(-1), Offset(0), 1), ErrorCode::kOutOfRange,
                 "bad_partition");
    expect_error(log->partitions("none"), ErrorCode::kNotFound, "no_topic");
    const auto one = record("k");
    expect_error(log->append("none", std::span(&one, 1)), ErrorCode::kNotFound, "no_topic");
    EXPECT_TRUE(log->append("t", {})->empty());
}

TEST(LocalLog, RecordsAndBatchesHaveALimit) {
    const auto log = open(fresh_folder());
    ASSERT_TRUE(log->create_topic("t", {.partitions = 1, .fsync = Fsync::kNever}));
    append_one(*log, "t", record("k", std::string(base::limits::kMaxRecordBytes - 1, 'x')));
    const auto large = record("k", std::string(base::limits::kMaxRecordBytes, 'x'));
    expect_error(log->append("t", std::span(&large, 1)), ErrorCode::kOutOfRange,
                 "record_too_large");
    Record headers = record("k");
    headers.headers.resize(kMaxHeaders);
    append_one(*log, "t", headers);
    headers.headers.resize(kMaxHeaders + 1);
    expect_error(log->append("t", std::span(&headers, 1)), ErrorCode::kOutOfRange,
                 "too_many_headers");
    const std::vector<Record> many(
        65, record("k", std::string(base::limits::kMaxRecordBytes - 1, 'x')));
    expect_error(log->append("t", many), ErrorCode::kOutOfRange, "batch_too_large");
    EXPECT_EQ(log->end_offset("t", PartitionId(0)).value(), Offset(2));
}

TEST(LocalLog, ABigPartitionIsReadInPiecesThatFitInMemory) {
    const auto log = open(fresh_folder());
    ASSERT_TRUE(log->create_topic("t", {.partitions = 1, .fsync = Fsync::kNever}));
    const std::vector<Record> batch(20, record("k", std::string(1'000'000, 'x')));
    ASSERT_TRUE(log->append("t", batch));
    ASSERT_TRUE(log->append("t", batch));
    const auto first = log->read("t", PartitionId(0), Offset(0), 100);
    ASSERT_TRUE(first);
    EXPECT_GT(first->size(), 30u);
    EXPECT_LT(first->size(), 40u);
    const Offset next(static_cast<int64_t>(first->size()));
    EXPECT_EQ(first->size() + log->read("t", PartitionId(0), next, 100)->size(), 40u);
}

TEST(LocalLog, RetentionByTimeDropsFromTheFrontUpToTheFirstRecordThatStays) {
    const auto folder = fresh_folder();
    {
        const auto log = open(folder);
        ASSERT_TRUE(log->create_topic(
            "t", {.retention = {.max_age = Duration::seconds(100), .max_bytes = {}}}));
        for (const int64_t seconds : {10, 20, 500, 30, 600})
            append_one(*log, "t", record("k", "v", seconds));
        EXPECT_EQ(log->drop(TimePoint::from_micros(115'000'000)).value(), 1u);
        EXPECT_EQ(log->drop(TimePoint::from_micros(120'000'000)).value(),
                  0u);  // exactly as old as allowed
        EXPECT_EQ(log->drop(TimePoint::from_micros(599'000'000)).value(), 1u);
        EXPECT_EQ(log->begin_offset("t", PartitionId(0)).value(), Offset(2));
    }
    const auto log = open(folder);
    EXPECT_EQ(log->begin_offset("t", PartitionId(0)).value(), Offset(2));
    EXPECT_EQ(log->end_offset("t", PartitionId(0)).value(), Offset(5));
    expect_error(log->read("t", PartitionId(0), Offset(1), 1), ErrorCode::kDataLoss,
                 "retention_gap");
    EXPECT_EQ(log->read("t", PartitionId(0), Offset(2), 9)->size(), 3u);
}

TEST(LocalLog, RetentionBySizeKeepsTheNewestAndAnEmptiedPartitionKeepsItsOffsets) {
    const auto folder = fresh_folder();
    {
        const auto log = open(folder);
        ASSERT_TRUE(log->create_topic("t", {.retention = {.max_age = {}, .max_bytes = 3500}}));
        for (int i = 0; i < 10; ++i) append_one(*log, "t", record("k", std::string(1000, 'x')));
        EXPECT_EQ(log->drop(TimePoint()).value(), 7u);
        EXPECT_EQ(log->drop(TimePoint()).value(), 0u);
        ASSERT_TRUE(log->create_topic("t", {.retention = {.max_age = {}, .max_bytes = 0}}));
        EXPECT_EQ(log->drop(TimePoint()).value(), 3u);
    }
    const auto log = open(folder);
    append_one(*log, "t", record("k"));
    EXPECT_EQ(log->read("t", PartitionId(0), Offset(10), 9)->at(0).offset, Offset(10));
}

TEST(LocalLog, WhatSomebodyHasYetToReadStaysHoweverOldItIs) {
    const auto log = open(fresh_folder());
    const TopicOptions aged{.partitions = 2, .retention = {.max_age = Duration::seconds(1)}};
    for (const char* topic : {"read", "unread", "free"})
        ASSERT_TRUE(log->create_topic(topic, aged));
    ASSERT_TRUE(log->create_topic("kept", {.partitions = 2}));
    for (const auto& info : log->topics()) {
        for (const int p : {0, 1}) {
            const std::vector<Record> five(5, record("k", "v", 10));
            ASSERT_TRUE(log->append_to(info.name, PartitionId(p), five));
        }
    }
    std::set<std::string> asked;
    const auto needed = [&](std::string_view topic,
                            PartitionId partition) -> base::Result<std::optional<Offset>> {
        asked.emplace(topic);
        // who answers may append, and look at the log
        const auto one = record("k");
        if (!log->append_to("kept", partition, std::span(&one, 1))) ADD_FAILURE();
        if (topic == "free") return std::optional<Offset>();
        if (topic == "unread")
            return base::Error{base::ErrorCode::kUnavailable, "not_now", "ask again"};
        return std::optional(Offset(partition.value() == 0 ? 3 : 100));
    };
    const auto later = TimePoint::from_micros(1'000'000'000);
    expect_error(log->drop(later, needed), ErrorCode::kUnavailable, "not_now");
    EXPECT_EQ(asked, (std::set<std::string>{"free", "read", "unread"}));
    const auto begins = [&](const char* topic) {
        return std::pair(log->begin_offset(topic, PartitionId(0)).value().value(),
                         log->begin_offset(topic, PartitionId(1)).value().value());
    };
    EXPECT_EQ(begins("read"), std::pair(int64_t{3}, int64_t{5}));
    EXPECT_EQ(begins("free"), std::pair(int64_t{5}, int64_t{5}));
    EXPECT_EQ(begins("unread"), std::pair(int64_t{0}, int64_t{0}));
    EXPECT_EQ(begins("kept"), std::pair(int64_t{0}, int64_t{0}));
    EXPECT_TRUE(log->check()->empty());
}

TEST(LocalLog, MoreThanOneTurnsWorthIsDroppedInOneCall) {
    const auto log = open(fresh_folder());
    ASSERT_TRUE(log->create_topic("t", {.fsync = Fsync::kNever, .retention = {.max_bytes = 0}}));
    const std::vector<Record> many(12'345, record("k", "v"));
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(log->append("t", many));
    EXPECT_EQ(log->drop(TimePoint()).value(), 24'690u);
    EXPECT_EQ(log->begin_offset("t", PartitionId(0)).value(), Offset(24'690));
}

TEST(LocalLog, ACheckFindsWhatDoesNotFit) {
    const auto folder = fresh_folder();
    {
        const auto log = open(folder);
        ASSERT_TRUE(log->create_topic("t", {}));
        for (const char* key : {"a", "b", "c"}) append_one(*log, "t", record(key));
        EXPECT_TRUE(log->check()->empty());
    }
    const auto change =
        [&](const std::function<void(storage::WriteBatch&, storage::Database&)>& with) {
            const auto db = *storage::Database::open(folder, {"topics", "partitions", "records"});
            storage::WriteBatch batch;
            with(batch, *db);
            ASSERT_TRUE(db->write(batch, storage::Sync::kAlways));
        };
    const auto problem = [&] {
        const auto problems = LocalLog::open_read_only(folder).value()->check().value();
        return problems.size() == 1 ? problems.front()
                                    : fmt::format("{} problems", problems.size());
    };
    constexpr storage::ColumnFamily kPartitions{1}, kRecords{2};
    std::string second, value, partition, end;
    change([&](auto& batch, auto& db) {
        const auto last = db.last(kRecords, storage::KeyRange::all()).value().value();
        second = last.first;
        second.back() = '\x01';
        value = db.get(kRecords, second).value().value();
        batch.put(kRecords, second, value + "x");
    });
    EXPECT_NE(LocalLog::open_read_only(folder).value()->check()->at(0).find("offset 1"),
              std::string::npos);
    change([&](auto& batch, auto&) {
        batch.put(kRecords, second, value);
        batch.put(kRecords, std::string(20, 'z') + std::string(8, '\0'), value);
    });
    EXPECT_NE(problem().find("belongs to no topic"), std::string::npos) << problem();
    change([&](auto& batch, auto& db) {
        batch.erase(kRecords, std::string(20, 'z') + std::string(8, '\0'));
        const auto stored = db.last(kPartitions, storage::KeyRange::all()).value().value();
        partition = stored.first;
        end = stored.second;
        auto other = end;
        other.back() = static_cast<char>(other.back() + 1);  // the last of the bytes
        batch.put(kPartitions, partition, other);
    });
    EXPECT_NE(problem().find("bytes, not"), std::string::npos) << problem();
    change([&](auto& batch, auto&) {
        batch.put(kPartitions, partition, end);
        batch.erase(kRecords, second);
    });
    const auto problems = LocalLog::open_read_only(folder).value()->check().value();
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_NE(problems[0].find("offset 2 comes where 1 should"), std::string::npos) << problems[0];
}

TEST(LocalLog, AKeyThatNobodyWroteIsDataLoss) {
    const auto folder = fresh_folder();
    {
        const auto log = open(folder);
        ASSERT_TRUE(log->create_topic("t", {}));
        append_one(*log, "t", record("a"));
    }
    {
        const auto db = *storage::Database::open(folder, {"topics", "partitions", "records"});
        constexpr storage::ColumnFamily kRecords{2};
        const auto last = db->last(kRecords, storage::KeyRange::all()).value().value();
        storage::WriteBatch batch;
        batch.put(kRecords, last.first + "x", last.second);
        ASSERT_TRUE(db->write(batch, storage::Sync::kAlways));
    }
    expect_error(LocalLog::open(folder), ErrorCode::kDataLoss, "bad_record_key");
}

TEST(LocalLog, ALogThatIsOnlyLookedAtTakesNoChanges) {
    const auto folder = fresh_folder();
    const auto log = open(folder);
    ASSERT_TRUE(log->create_topic("t", {}));
    append_one(*log, "t", record("k"));
    const auto reader = LocalLog::open_read_only(folder);
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ((*reader)->read("t", PartitionId(0), Offset(0), 9)->size(), 1u);
    const auto one = record("k");
    expect_error((*reader)->append("t", std::span(&one, 1)), ErrorCode::kFailedPrecondition,
                 "read_only");
    expect_error((*reader)->create_topic("u", {}), ErrorCode::kFailedPrecondition, "read_only");
    expect_error((*reader)->drop(TimePoint()), ErrorCode::kFailedPrecondition, "read_only");
    expect_error(LocalLog::open_read_only(fresh_folder()), ErrorCode::kNotFound, "no_database");
}

TEST(LocalLog, AppendsFromManyThreadsWithReadersAndRetentionStayDense) {
    const auto log = open(fresh_folder());
    ASSERT_TRUE(log->create_topic("t", {.partitions = 2,
                                        .fsync = Fsync::kNever,
                                        .retention = {.max_age = {}, .max_bytes = 2000}}));
    constexpr int kThreads = 4, kAppends = 200;
    std::vector<std::thread> threads;
    std::atomic<int> failures{0}, running{kThreads};
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < kAppends; ++i) {
                const std::vector<Record> pair{record(fmt::format("{}-{}", t, i)), record("same")};
                if (!log->append("t", pair)) ++failures;
            }
            --running;
        });
    }
    threads.emplace_back([&] {
        while (running > 0) {
            if (!log->drop(TimePoint())) ++failures;
            for (const int p : {0, 1}) {
                const auto begin = log->begin_offset("t", PartitionId(p)).value();
                const auto records = log->read("t", PartitionId(p), begin, 50);
                if (!records && records.error().reason != "retention_gap") ++failures;
                for (size_t i = 0; records && i < records->size(); ++i) {
                    if ((*records)[i].offset.value() != begin.value() + static_cast<int64_t>(i))
                        ++failures;
                }
            }
        }
    });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(failures, 0);
    const auto total = log->end_offset("t", PartitionId(0))->value() +
                       log->end_offset("t", PartitionId(1))->value();
    EXPECT_EQ(total, 2 * kThreads * kAppends);
}

/// Appends batches of 1 to 5 and acknowledges each record's text through the pipe, until it is
/// killed.
[[noreturn]] void append_until_killed(const fs::path& folder, uint64_t seed, int pipe) {
    auto log = LocalLog::open(folder);
    if (!log) ::_exit(1);
    base::Random random(seed);
    while (true) {
        std::vector<Record> batch;
        for (uint64_t n = 1 + random.below(5); n > 0; --n) {
            batch.push_back(record(fmt::format("{:016x}", random.next())));
        }
        if (!(*log)->append("t", batch)) ::_exit(2);
        std::string acks;
        for (const auto& r : batch) acks += r.key;
        if (::write(pipe, acks.data(), acks.size()) < 0) ::_exit(3);
    }
}

std::set<std::string> all_keys(const LocalLog& log, size_t* count) {
    std::set<std::string> keys;
    *count = 0;
    for (int32_t p = 0; p < log.partitions("t").value(); ++p) {
        const auto end = log.end_offset("t", PartitionId(p)).value();
        const auto records = log.read("t", PartitionId(p), Offset(0), 1'000'000);
        EXPECT_TRUE(records);
        EXPECT_EQ(static_cast<int64_t>(records->size()), end.value());
        for (const auto& stored : *records) keys.insert(stored.record.key);
        *count += records->size();
    }
    return keys;
}

TEST(LocalLog, WhatWasAcknowledgedSurvivesKillNineAtAnyMoment) {
    const auto folder = fresh_folder();
    ASSERT_TRUE(open(folder)->create_topic("t", {.partitions = 3}));
    base::Random random(7);
    std::set<std::string> acknowledged;
    for (uint64_t round = 0; round < 12; ++round) {
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        const pid_t child = ::fork();
        if (child == 0) append_until_killed(folder, 1000 + round, ends[1]);
        ::close(ends[1]);
        const uint64_t wanted = random.below(60);
        std::string acks;
        char buffer[4096];
        ssize_t n = 0;
        while (acks.size() < wanted * 16 && (n = ::read(ends[0], buffer, sizeof buffer)) > 0) {
            acks.append(buffer, static_cast<size_t>(n));
        }
        ::kill(child, SIGKILL);
        while ((n = ::read(ends[0], buffer, sizeof buffer)) > 0)
            acks.append(buffer, static_cast<size_t>(n));
        ::close(ends[0]);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << "exit " << WEXITSTATUS(status);
        for (size_t i = 0; i + 16 <= acks.size(); i += 16) acknowledged.insert(acks.substr(i, 16));
        size_t count = 0;
        const auto keys = all_keys(*open(folder), &count);
        EXPECT_EQ(keys.size(), count) << "a record was written twice";
        for (const auto& key : acknowledged) EXPECT_TRUE(keys.contains(key)) << key << " lost";
    }
    EXPECT_GT(acknowledged.size(), 100u);
}

/// Until files may not grow any more; 0 if the refusal left the log as it was.
int append_until_the_disk_is_full(const fs::path& folder) {
    ::signal(SIGXFSZ, SIG_IGN);
    auto log = LocalLog::open(folder);
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 512 << 10;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto total = [&] {
        return (*log)->end_offset("t", PartitionId(0))->value() +
               (*log)->end_offset("t", PartitionId(1))->value();
    };
    for (int64_t written = 0; written < 10'000; written += 10) {
        std::vector<Record> batch;
        for (int i = 0; i < 10; ++i)
            batch.push_back(record(fmt::format("{}", i), std::string(1000, 'x')));
        const auto positions = (*log)->append("t", batch);
        if (positions) continue;
        if (positions.error().code != ErrorCode::kResourceExhausted) return 1;
        return written > 0 && total() == written ? 0 : 2;
    }
    return 3;
}

TEST(LocalLog, AFullDiskRefusesTheWholeBatchAndLeavesNothingHalfWritten) {
    const auto folder = fresh_folder();
    ASSERT_TRUE(open(folder)->create_topic("t", {.partitions = 2}));
    const pid_t child = ::fork();
    if (child == 0) ::_exit(append_until_the_disk_is_full(folder));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), 0);
    const auto log = open(folder);
    const auto total = log->end_offset("t", PartitionId(0))->value() +
                       log->end_offset("t", PartitionId(1))->value();
    EXPECT_GT(total, 0);
    EXPECT_EQ(total % 10, 0) << "half a batch";
    append_one(*log, "t", record("after"));
}

TEST(LocalLog, WithAClockEachRecordHasTheTimeOfItsAppendWhichNeverGoesBack) {
    const auto folder = fresh_folder();
    const auto at = [](int64_t seconds) { return TimePoint::from_micros(seconds * 1'000'000); };
    support::SetClock clock(at(500));
    const auto appended = [](const LocalLog& log, int32_t partition) {
        std::vector<std::optional<TimePoint>> times;
        const auto records = log.read("t", PartitionId(partition), Offset(0), 10).value();
        for (const auto& stored : records) times.push_back(stored.appended_at);
        return times;
    };
    const auto append_to = [](LocalLog& log, int32_t partition) {
        const Record one = record("k", "v", 7);
        ASSERT_TRUE(log.append_to("t", PartitionId(partition), std::span(&one, 1)));
    };
    {
        const auto log = open(folder);
        ASSERT_TRUE(log->create_topic("t", {.partitions = 2}));
        append_to(*log, 0);  // as an earlier release stored it
        log->stamp_with(clock);
        append_to(*log, 0);
        clock.move(Duration::seconds(5));
        append_to(*log, 1);
        clock.move(Duration::seconds(-300));
        append_to(*log, 0);
    }
    const auto log = open(folder);
    log->stamp_with(clock);
    append_to(*log, 0);
    clock.move(Duration::seconds(301));
    append_to(*log, 0);
    EXPECT_EQ(appended(*log, 0), (std::vector<std::optional<TimePoint>>{
                                     std::nullopt, at(500), at(505), at(505), at(506)}));
    EXPECT_EQ(appended(*log, 1), (std::vector<std::optional<TimePoint>>{at(505)}));
    EXPECT_EQ(log->read("t", PartitionId(1), Offset(0), 1)->at(0).record, record("k", "v", 7));
    EXPECT_EQ(log->check().value(), std::vector<std::string>());
}

/// A clock that keeps those who ask waiting until it is let go.
class HeldClock final : public base::Clock {
  public:
    TimePoint now() const override {
        asked.count_down();
        go.wait();
        return TimePoint::from_micros(1);
    }
    mutable std::latch asked{1}, go{1};
};

TEST(LocalLog, SettleWaitsForWhatIsBeingAppended) {
    const auto log = open(fresh_folder());
    ASSERT_TRUE(log->create_topic("t", {}));
    log->settle();  // nothing is
    const HeldClock clock;
    log->stamp_with(clock);
    std::thread writer([&] { append_one(*log, "t", record("k")); });
    clock.asked.wait();  // in the middle of the append
    std::atomic<bool> settled = false;
    std::thread waiting([&] {
        log->settle();
        settled = true;
        EXPECT_EQ(log->end_offset("t", PartitionId(0)).value(), Offset(1));
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(settled);
    clock.go.count_down();
    writer.join();
    waiting.join();
    EXPECT_TRUE(settled);
}

}  // namespace
}  // namespace rampart::streaming_local
