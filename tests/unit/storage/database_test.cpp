#include "rampart/storage/database.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>

#include "rampart/base/random.hpp"
#include "storage_folder.hpp"

namespace rampart::storage {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using testing::fresh_folder;
constexpr ColumnFamily kFirst{0}, kSecond{1};

std::unique_ptr<Database> open(const fs::path& path) {
    auto db = Database::open(path, {"first", "second"});
    EXPECT_TRUE(db) << db.error().message;
    return std::move(*db);
}

void put(Database& db, std::string_view key, std::string_view value) {
    WriteBatch batch;
    batch.put(kFirst, key, value);
    ASSERT_TRUE(db.write(batch, Sync::kNever));
}

std::map<std::string, std::string> content(const Database& db,
                                           const KeyRange& range = KeyRange::all(),
                                           const Snapshot* at = nullptr) {
    std::map<std::string, std::string> out;
    const auto status = db.scan(
        kFirst, range,
        [&](std::string_view key, std::string_view value) -> base::Result<bool> {
            out.emplace(key, value);
            return true;
        },
        at);
    EXPECT_TRUE(status);
    return out;
}

TEST(Database, ABatchChangesSeveralFamiliesTogetherAndSurvivesReopening) {
    const auto path = fresh_folder();
    {
        const auto db = open(path);
        WriteBatch batch;
        batch.put(kFirst, "k", "1");
        batch.put(kSecond, "k", "2");
        batch.put(kFirst, "gone", "x");
        batch.erase(kFirst, "gone");
        ASSERT_TRUE(db->write(batch, Sync::kAlways));
    }
    const auto db = open(path);
    EXPECT_EQ(db->get(kFirst, "k").value(), "1");
    EXPECT_EQ(db->get(kSecond, "k").value(), "2");
    EXPECT_EQ(db->get(kFirst, "gone").value(), std::nullopt);
}

TEST(Database, ScansVisitARangeInKeyOrderAndStopWhenTold) {
    const auto db = open(fresh_folder());
    for (const auto* key : {"a", "b1", "b2", "b3", "c"}) put(*db, key, key);
    EXPECT_EQ(content(*db, KeyRange::with_prefix("b")).size(), 3u);
    EXPECT_EQ(content(*db, {"b2", "c"}).size(), 2u);
    EXPECT_EQ(content(*db, {"b2", ""}).size(), 3u);
    std::vector<std::string> seen;
    ASSERT_TRUE(db->scan(kFirst, KeyRange::all(), [&](auto key, auto) -> base::Result<bool> {
        seen.emplace_back(key);
        return seen.size() < 2;
    }));
    EXPECT_EQ(seen, (std::vector<std::string>{"a", "b1"}));
    const auto failed = db->scan(kFirst, KeyRange::all(), [](auto, auto) -> base::Result<bool> {
        return base::Error{base::ErrorCode::kInternal, "mine", "stop"};
    });
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().reason, "mine");
}

TEST(Database, AScanBackVisitsTheSameRangeFromItsEnd) {
    using Keys = std::vector<std::string>;
    const auto db = open(fresh_folder());
    for (const auto* key : {"a", "b1", "b2", "b3", "c"}) put(*db, key, key);
    const auto before = db->snapshot();
    put(*db, "b4", "b4");
    const auto keys = [&](const KeyRange& range, size_t most, const Snapshot* at = nullptr) {
        Keys seen;
        EXPECT_TRUE(db->scan_back(
            kFirst, range,
            [&](std::string_view key, std::string_view value) -> base::Result<bool> {
                EXPECT_EQ(key, value);
                seen.emplace_back(key);
                return seen.size() < most;
            },
            at));
        return seen;
    };
    EXPECT_EQ(keys(KeyRange::all(), 100), (Keys{"c", "b4", "b3", "b2", "b1", "a"}));
    EXPECT_EQ(keys(KeyRange::all(), 100, &before), (Keys{"c", "b3", "b2", "b1", "a"}));
    EXPECT_EQ(keys({"b1", "b3"}, 100), (Keys{"b2", "b1"})) << "with its begin, without its end";
    EXPECT_EQ(keys({"b", ""}, 2), (Keys{"c", "b4"}));
    EXPECT_EQ(keys({"", "b"}, 100), Keys{"a"});
    EXPECT_EQ(keys({"d", ""}, 100), Keys{});
    const auto failed =
        db->scan_back(kFirst, KeyRange::all(), [](auto, auto) -> base::Result<bool> {
            return base::Error{base::ErrorCode::kInternal, "mine", "stop"};
        });
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().reason, "mine");
}

TEST(Database, TheLastPairOfARangeIsFoundWithoutAScan) {
    const auto db = open(fresh_folder());
    EXPECT_EQ(db->last(kFirst, KeyRange::all()).value(), std::nullopt);
    for (const auto* key : {"a1", "a2", "c"}) put(*db, key, "v");
    EXPECT_EQ(db->last(kFirst, KeyRange::with_prefix("a")).value()->first, "a2");
    EXPECT_EQ(db->last(kFirst, KeyRange::with_prefix("b")).value(), std::nullopt);
    EXPECT_EQ(db->last(kFirst, KeyRange::all()).value()->first, "c");
}

TEST(KeyRange, APrefixOfHighBytesHasNoUpperEnd) {
    EXPECT_EQ(KeyRange::with_prefix("a\xff").end, "b");
    EXPECT_EQ(KeyRange::with_prefix("\xff\xff").end, "");
}

TEST(Database, ASnapshotDoesNotSeeLaterWrites) {
    const auto db = open(fresh_folder());
    put(*db, "k", "old");
    const auto before = db->snapshot();
    put(*db, "k", "new");
    put(*db, "l", "new");
    EXPECT_EQ(db->get(kFirst, "k", &before).value(), "old");
    EXPECT_EQ(content(*db, KeyRange::all(), &before).size(), 1u);
    EXPECT_EQ(db->get(kFirst, "k").value(), "new");
}

TEST(Database, ARangeIsErasedInOneChange) {
    const auto db = open(fresh_folder());
    for (const auto* key : {"a", "b", "c", "d"}) put(*db, key, key);
    WriteBatch batch;
    batch.erase_range(kFirst, "b", "d");
    ASSERT_TRUE(db->write(batch, Sync::kNever));
    EXPECT_EQ(content(*db), (std::map<std::string, std::string>{{"a", "a"}, {"d", "d"}}));
}

TEST(Database, ACheckpointIsADatabaseOfItsOwn) {
    const auto path = fresh_folder(), copy = fresh_folder();
    const auto db = open(path);
    put(*db, "k", "then");
    ASSERT_TRUE(db->checkpoint(copy));
    put(*db, "k", "later");
    EXPECT_EQ(open(copy)->get(kFirst, "k").value(), "then");
    const auto again = db->checkpoint(copy);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::kAlreadyExists);
}

TEST(Database, ApproximateBytesGrowWithTheContent) {
    const auto db = open(fresh_folder());
    EXPECT_EQ(db->approximate_bytes(kFirst, KeyRange::all()).value(), 0u);
    for (int i = 0; i < 1000; ++i) put(*db, fmt::format("{:04}", i), std::string(1000, 'x'));
    const auto bytes = db->approximate_bytes(kFirst, KeyRange::all()).value();
    // what is in memory yet, RocksDB estimates by the chance heights of its skip list
    EXPECT_GT(bytes, 100'000u);
    EXPECT_LT(bytes, 10'000'000u);
}

TEST(Database, ASecondOpenerIsToldThatItIsInUse) {
    const auto path = fresh_folder();
    const auto db = open(path);
    const auto second = Database::open(path, {"first", "second"});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().reason, "database_in_use");
    EXPECT_NE(second.error().message.find(path.string()), std::string::npos);
}

TEST(Database, AnotherProcessIsToldThatItIsInUseButMayLook) {
    const auto path = fresh_folder();
    const auto db = open(path);
    put(*db, "k", "v");
    const pid_t child = ::fork();
    if (child == 0) {
        const auto second = Database::open(path, {"first", "second"});
        if (second || second.error().reason != "database_in_use") ::_exit(1);
        const auto reader = Database::open(path, {"first", "second"}, {.read_only = true});
        if (!reader || (*reader)->get(kFirst, "k").value() != "v") ::_exit(2);
        WriteBatch batch;
        batch.put(kFirst, "k", "w");
        const auto written = (*reader)->write(batch, Sync::kNever);
        ::_exit(!written && written.error().reason == "read_only" ? 0 : 3);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Database, OpeningWhatIsNotThereIsNotFoundUnlessItMayBeCreated) {
    const auto path = fresh_folder();
    for (const OpenOptions& options :
         {OpenOptions{.create = false}, OpenOptions{.read_only = true}}) {
        const auto db = Database::open(path, {"first"}, options);
        ASSERT_FALSE(db);
        EXPECT_EQ(db.error().code, ErrorCode::kNotFound);
        EXPECT_FALSE(fs::exists(path));
    }
}

TEST(Database, ColumnFamiliesOfAnotherVersionAreNotIgnored) {
    const auto path = fresh_folder();
    open(path).reset();
    const auto fewer = Database::open(path, {"first"});
    ASSERT_FALSE(fewer);
    EXPECT_EQ(fewer.error().reason, "unknown_column_family");
    EXPECT_NE(fewer.error().message.find("'second'"), std::string::npos);
    EXPECT_TRUE(Database::open(path, {"first", "second", "third"}));
    const auto twice = Database::open(fresh_folder(), {"a", "a"});
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().code, ErrorCode::kInvalidArgument);
}

TEST(Database, AFolderThatMayNotBeWrittenIsPermissionDenied) {
    const auto parent = fresh_folder();
    fs::create_directories(parent);
    fs::permissions(parent, fs::perms::owner_read | fs::perms::owner_exec);
    const pid_t child = ::fork();
    if (child == 0) {
        constexpr uid_t kNobody = 65534;  // root may write anywhere
        if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(1);
        const auto db = Database::open(parent / "db", {"first"});
        if (db) ::_exit(2);
        const bool names_path = db.error().message.find("/db'") != std::string::npos;
        ::_exit(db.error().code == ErrorCode::kPermissionDenied && names_path ? 0 : 3);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

std::vector<fs::path> wals_of(const fs::path& path) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(path)) {
        if (entry.path().extension() == ".log" && entry.file_size() > 0)
            found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

fs::path only_wal_of(const fs::path& path) {
    const auto found = wals_of(path);
    EXPECT_EQ(found.size(), 1u);
    return found.at(0);
}

/// Works on the database in a process that dies without closing it.
void work_and_die(const fs::path& path, const std::function<void(Database&)>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
        work(*Database::open(path, {"first", "second"}).value());
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
}

/// Writes so many records, from this number on, and dies if one is not acknowledged.
void write_records(Database& db, int from, int count, size_t bytes, ColumnFamily family = kFirst) {
    for (int i = from; i < from + count; ++i) {
        WriteBatch batch;
        batch.put(family, fmt::format("{:04}", i), std::string(bytes, 'v'));
        if (!db.write(batch, Sync::kAlways)) ::_exit(1);
    }
}

/// Leaves ten records in the log of a process that dies without closing.
void write_and_die(const fs::path& path) {
    work_and_die(path, [](Database& db) { write_records(db, 0, 10, 100); });
}

TEST(Database, ATornTailIsDroppedWithTheLastWriteAlone) {
    const auto path = fresh_folder();
    write_and_die(path);
    const auto wal = only_wal_of(path);
    fs::resize_file(wal, fs::file_size(wal) - 10);
    const auto db = open(path);
    EXPECT_EQ(content(*db).size(), 9u);
}

/// Overwrites `count` bytes that begin `before_end` bytes before the end of the file.
void overwrite(const fs::path& file, size_t before_end, size_t count, char with) {
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(static_cast<std::streamoff>(fs::file_size(file) - before_end));
    out << std::string(count, with);
}

TEST(Database, ALastWriteWithAHoleInItIsDroppedAlone) {
    for (const char with : {'\0', 'x'}) {
        const auto path = fresh_folder();
        write_and_die(path);
        overwrite(only_wal_of(path), 60, 30, with);
        EXPECT_EQ(content(*open(path)).size(), 9u);
        EXPECT_EQ(content(*open(path)).size(), 9u);
    }
}

TEST(Database, DamageToTheLastWriteButOneIsDataLossAndLeavesTheLogAsItIs) {
    const auto path = fresh_folder();
    write_and_die(path);
    const auto wal = only_wal_of(path);
    overwrite(wal, 60 + 150, 30, 'x');
    const auto before = testing::content_of(wal);
    for (int i = 0; i < 2; ++i) {
        const auto db = Database::open(path, {"first", "second"});
        ASSERT_FALSE(db);
        EXPECT_EQ(db.error().code, ErrorCode::kDataLoss);
    }
    EXPECT_EQ(testing::content_of(wal), before);
    OpenOptions options;
    options.recovery = Recovery::kPointInTime;
    const auto db = Database::open(path, {"first", "second"}, options).value();
    EXPECT_EQ(content(*db).size(), 8u);
}

TEST(Database, DamageInTheMiddleOfTheLogIsDataLossNotSilence) {
    const auto path = fresh_folder();
    write_and_die(path);
    const auto wal = only_wal_of(path);
    {
        std::fstream file(wal, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(fs::file_size(wal) / 2 + 60));  // inside a value
        file << "damage";
    }
    const auto db = Database::open(path, {"first", "second"});
    ASSERT_FALSE(db);
    EXPECT_EQ(db.error().code, ErrorCode::kDataLoss);
    EXPECT_NE(db.error().message.find(path.string()), std::string::npos);
}

/// Returns where the records of a log of one block begin: 7 bytes of header, two of them, from the
/// fifth, the length.
std::vector<size_t> records_of(const std::string& log) {
    std::vector<size_t> found;
    for (size_t at = 0; at + 7 < log.size();) {
        found.push_back(at);
        at += 7 + static_cast<uint8_t>(log[at + 4]) + 256 * static_cast<uint8_t>(log[at + 5]);
    }
    return found;
}

TEST(Database, ABitOfARecordsHeaderTakesNoOtherWriteWithIt) {
    const auto path = fresh_folder();
    write_and_die(path);
    const auto wal = only_wal_of(path);
    const auto log = testing::content_of(wal);
    const auto records = records_of(log);
    ASSERT_GE(records.size(), 10u);
    const fs::path copied = path.string() + ".copy";
    size_t dropped = 0;
    for (const size_t begin : records) {
        for (size_t bit = 0; bit < 7 * 8; ++bit) {
            fs::remove_all(copied);
            fs::copy(path, copied, fs::copy_options::recursive);
            auto flipped = log;
            flipped[begin + bit / 8] = static_cast<char>(flipped[begin + bit / 8] ^ (1 << bit % 8));
            std::ofstream(copied / wal.filename(), std::ios::binary) << flipped;
            const auto db = Database::open(copied, {"first", "second"});
            if (!db) {
                EXPECT_EQ(db.error().code, ErrorCode::kDataLoss);
                continue;
            }
            ++dropped;
            EXPECT_EQ(begin, records.back()) << "bit " << bit;
            EXPECT_EQ(content(**db).size(), 9u) << "bit " << bit;
        }
    }
    // the last write may be torn, but not where its checksum says that all of it is there
    EXPECT_EQ(dropped, 5u * 8);
}

TEST(Database, AHeaderOverwrittenInTheMiddleOfTheLogIsDataLossNotSilence) {
    for (const char with : {'\0', 'x', '\xff'}) {
        const auto path = fresh_folder();
        write_and_die(path);
        const auto wal = only_wal_of(path);
        const auto log = testing::content_of(wal);
        overwrite(wal, log.size() - records_of(log).at(5), 20, with);
        const auto db = Database::open(path, {"first", "second"});
        ASSERT_FALSE(db);
        EXPECT_EQ(db.error().code, ErrorCode::kDataLoss);
    }
}

TEST(Database, DamageInTheOlderOfTwoLogsIsDataLossNotSilence) {
    const auto path = fresh_folder();
    OpenOptions options;
    options.memtable_bytes = 64 << 10;
    {
        const auto db = Database::open(path, {"first", "second"}, options).value();
        write_records(*db, 0, 10, 100);
        write_records(*db, 0, 100, 2000, kSecond);  // is flushed, and so a new log begins
        write_records(*db, 10, 10, 100);
    }
    const auto logs = wals_of(path);
    ASSERT_GE(logs.size(), 2u);
    const auto log = testing::content_of(logs[0]);
    const fs::path copied = path.string() + ".copy";
    for (size_t bit = 0; bit < 7 * 8; ++bit) {
        fs::remove_all(copied);
        fs::copy(path, copied, fs::copy_options::recursive);
        auto flipped = log;
        const size_t at = records_of(log).at(3) + bit / 8;
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit % 8));
        std::ofstream(copied / logs[0].filename(), std::ios::binary) << flipped;
        const auto db = Database::open(copied, {"first", "second"});
        ASSERT_FALSE(db) << "bit " << bit;
        EXPECT_EQ(db.error().code, ErrorCode::kDataLoss) << "bit " << bit;
    }
    EXPECT_EQ(content(*Database::open(path, {"first", "second"}).value()).size(), 20u);
}

TEST(Database, APageOfZerosInALogIsDataLossNotSilence) {
    const auto path = fresh_folder();
    // pieces of 256 bytes: header 7, head of the batch 12, kind, family and lengths 7, key 4
    work_and_die(path, [](Database& db) { write_records(db, 0, 600, 256 - 7 - 12 - 5 - 4); });
    const auto wal = only_wal_of(path);
    auto log = testing::content_of(wal);
    const auto records = records_of(log.substr(0, 32 << 10));
    const auto at = *std::lower_bound(records.begin(), records.end(), size_t{8192});
    log.replace(at, 4096, 4096, '\0');
    std::ofstream(wal, std::ios::binary) << log;
    const auto db = Database::open(path, {"first", "second"});
    ASSERT_FALSE(db);
    EXPECT_EQ(db.error().code, ErrorCode::kDataLoss);
}

TEST(Database, TwoTornWritesInARowAreDroppedAlone) {
    for (const bool zeros : {false, true}) {
        const auto path = fresh_folder();
        write_and_die(path);
        const auto tear = [&] {
            const auto wal = wals_of(path).back();
            const auto size = fs::file_size(wal);
            fs::resize_file(wal, size - 20);
            if (zeros) fs::resize_file(wal, size);
        };
        tear();
        work_and_die(path, [](Database& db) { write_records(db, 20, 1, 100); });
        tear();
        EXPECT_EQ(content(*open(path)).size(), 9u);
        work_and_die(path, [](Database& db) { write_records(db, 30, 5, 100); });
        tear();
        EXPECT_EQ(content(*open(path)).size(), 13u);
    }
}

/// What was written before lies in tables, so that no log says which write came before the torn
/// one.
TEST(Database, TheOldestLogMayHaveATornWriteAlone) {
    const auto path = fresh_folder();
    write_and_die(path);
    open(path).reset();  // recovery turns the log into a table file
    work_and_die(path, [](Database& db) { write_records(db, 20, 1, 100); });
    const auto wal = wals_of(path).back();
    fs::resize_file(wal, fs::file_size(wal) - 20);
    work_and_die(path, [](Database& db) { write_records(db, 30, 5, 100); });
    EXPECT_EQ(wals_of(path).size(), 2u);
    const auto db = Database::open(path, {"first", "second"});
    ASSERT_TRUE(db) << db.error().message;
    EXPECT_EQ(content(**db).size(), 15u);
}

TEST(Database, DamageInATableFileIsDataLossWhenItIsRead) {
    const auto path = fresh_folder();
    open(path).reset();
    {
        const auto db = open(path);
        for (int i = 0; i < 100; ++i) put(*db, fmt::format("{:03}", i), std::string(1000, 'x'));
    }
    open(path).reset();  // recovery turns the log into a table file
    int damaged = 0;
    for (const auto& entry : fs::directory_iterator(path)) {
        if (entry.path().extension() != ".sst") continue;
        std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(20);
        file << "damage";
        ++damaged;
    }
    ASSERT_GT(damaged, 0);
    const auto db = Database::open(path, {"first", "second"});
    const auto read =
        db ? (*db)->get(kFirst, "000") : base::Result<std::optional<std::string>>(db.error());
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::kDataLoss);
}

TEST(Database, WritesThatWouldEatIntoTheReserveAreRefusedAndNothingIsWritten) {
    const auto path = fresh_folder();
    open(path).reset();
    {
        const auto full =
            Database::open(path, {"first", "second"}, {.min_free_bytes = uint64_t{1} << 62});
        ASSERT_TRUE(full);
        WriteBatch batch;
        batch.put(kFirst, "k", "v");
        const auto status = (*full)->write(batch, Sync::kAlways);
        ASSERT_FALSE(status);
        EXPECT_EQ(status.error().code, ErrorCode::kResourceExhausted);
        EXPECT_NE(status.error().message.find(path.string()), std::string::npos);
        EXPECT_EQ((*full)->get(kFirst, "k").value(), std::nullopt);
    }
    EXPECT_TRUE(content(*open(path)).empty());
}

/// Fills files up to a limit that gives no warning; 0 if all went as it should.
int fill_until_files_may_not_grow(const fs::path& path) {
    ::signal(SIGXFSZ, SIG_IGN);
    auto db = Database::open(path, {"first", "second"});
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 256 << 10;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int written = 0;
    base::Status status;
    while (status && written < 100) {
        WriteBatch batch;
        batch.put(kFirst, fmt::format("{:03}", written), std::string(5000, 'x'));
        batch.put(kSecond, fmt::format("{:03}", written), std::string(5000, 'x'));
        status = (*db)->write(batch, Sync::kAlways);
        if (status) ++written;
    }
    if (status || status.error().code != ErrorCode::kResourceExhausted || written < 10) return 1;
    if ((*db)->get(kFirst, fmt::format("{:03}", written)).value()) return 2;  // not even in memory
    if (!(*db)->get(kFirst, fmt::format("{:03}", written - 1)).value()) return 3;
    return 0;
}

TEST(Database, ADiskThatIsSuddenlyFullLeavesNoHalfABatchAndAWorkingDatabase) {
    const auto path = fresh_folder();
    const pid_t child = ::fork();
    if (child == 0) ::_exit(fill_until_files_may_not_grow(path));
    int child_status = 0;
    ASSERT_EQ(::waitpid(child, &child_status, 0), child);
    ASSERT_TRUE(WIFEXITED(child_status));
    ASSERT_EQ(WEXITSTATUS(child_status), 0);
    const auto db = open(path);
    size_t second = 0;
    ASSERT_TRUE(db->scan(kSecond, KeyRange::all(), [&](auto, auto) -> base::Result<bool> {
        ++second;
        return true;
    }));
    EXPECT_EQ(content(*db).size(), second);
    EXPECT_GT(second, 10u);
    put(*db, "after", "1");
    EXPECT_EQ(db->get(kFirst, "after").value(), "1");
}

TEST(Database, AnySequenceOfBatchesAndReopensEqualsAMap) {
    base::Random random(20);
    const auto path = fresh_folder();
    std::map<std::string, std::string> expected;
    auto db = open(path);
    for (int step = 0; step < 300; ++step) {
        WriteBatch batch;
        for (uint64_t n = random.below(6); n > 0; --n) {
            const auto key = fmt::format("{}", random.below(40)),
                       value = fmt::format("{}", random.next());
            if (random.bernoulli(0.3)) {
                batch.erase(kFirst, key);
                expected.erase(key);
            } else {
                batch.put(kFirst, key, value);
                expected[key] = value;
            }
        }
        ASSERT_TRUE(db->write(batch, Sync::kNever));
        if (step % 60 == 59) {
            db.reset();
            db = open(path);
        }
        ASSERT_EQ(content(*db), expected) << "after step " << step;
    }
}

}  // namespace
}  // namespace rampart::storage
