// What erasure relies on: no byte of what was erased stays in a file.
#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <chrono>
#include <set>
#include <thread>

#include "rampart/storage/database.hpp"
#include "storage_folder.hpp"

namespace rampart::storage {
namespace {

using testing::files_with;
using testing::fresh_folder;
using testing::fs::path;
constexpr ColumnFamily kFirst{0}, kSecond{1};

std::unique_ptr<Database> open(const path& folder, OpenOptions options = {}) {
    auto db = Database::open(folder, {"first", "second"}, options);
    EXPECT_TRUE(db) << db.error().message;
    return std::move(*db);
}

void put(Database& db, std::string_view key, std::string_view value) {
    WriteBatch batch;
    batch.put(kFirst, key, value);
    ASSERT_TRUE(db.write(batch, Sync::kNever));
}

size_t count(const Database& db) {
    size_t pairs = 0;
    EXPECT_TRUE(db.scan(kFirst, KeyRange::all(), [&](auto, auto) -> base::Result<bool> {
        ++pairs;
        return true;
    }));
    return pairs;
}

/// A person's bytes in table files of several levels, in the log, overwritten and erased.
void spread_a_person(Database& db) {
    const std::string person = "person-0815";
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 500; ++i) put(db, fmt::format("{:04}", i * 3 + round), "others");
        put(db, person, fmt::format("secret-{}", round));
        WriteBatch batch;
        batch.put(kSecond, person, "secret-second");
        ASSERT_TRUE(db.write(batch, Sync::kAlways));
        if (round == 2) break;
        ASSERT_TRUE(db.compact(kSecond));  // flushes the first, too
    }
    WriteBatch batch;
    batch.erase(kFirst, person);
    batch.erase_range(kSecond, person, person + '\0');
    ASSERT_TRUE(db.write(batch, Sync::kAlways));
}

TEST(Compaction, TakesErasedBytesOutOfEveryFile) {
    const auto path = fresh_folder();
    const auto db = open(path);
    spread_a_person(*db);
    EXPECT_NE(files_with(path, "secret"), "");
    EXPECT_NE(files_with(path, "person-0815"), "");
    ASSERT_TRUE(db->compact(kFirst));
    ASSERT_TRUE(db->compact(kSecond));
    EXPECT_EQ(files_with(path, "secret"), "");
    EXPECT_EQ(files_with(path, "person-0815"), "");
    EXPECT_EQ(count(*db), 1500u);
}

TEST(Compaction, OfAShortRangeTakesErasedBytesOutOfEveryFile) {
    const auto path = fresh_folder();
    const auto db = open(path);
    spread_a_person(*db);
    ASSERT_TRUE(db->compact(kFirst, KeyRange::with_prefix("person-")));
    ASSERT_TRUE(db->compact(kSecond, KeyRange::with_prefix("person-")));
    EXPECT_EQ(files_with(path, "secret"), "");
    EXPECT_EQ(files_with(path, "person-0815"), "");
}

TEST(Compaction, OfWhatWasWrittenAndErasedAtOnceLeavesNothing) {
    const auto path = fresh_folder();
    const auto db = open(path);
    put(*db, "person-0815", "secret");
    WriteBatch batch;
    batch.erase(kFirst, "person-0815");
    ASSERT_TRUE(db->write(batch, Sync::kAlways));
    ASSERT_TRUE(db->compact(kFirst));
    EXPECT_EQ(files_with(path, "secret"), "");
    EXPECT_EQ(files_with(path, "person-0815"), "");
}

std::set<std::string> tables(const path& folder) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".sst") names.insert(entry.path().filename());
    return names;
}

void erase(Database& db, ColumnFamily family, std::string_view key) {
    WriteBatch batch;
    batch.erase(family, key);
    ASSERT_TRUE(db.write(batch, Sync::kAlways));
}

TEST(Compaction, OfWhatWasErasedLeavesAFamilyAloneThatNothingWasErasedFrom) {
    const auto folder = fresh_folder();
    auto db = open(folder);
    put(*db, "person-0815", "secret");
    put(*db, "other", "other");
    ASSERT_TRUE(db->compact(kFirst));
    const auto before = tables(folder);
    ASSERT_FALSE(before.empty());
    put(*db, "third", "third");
    ASSERT_TRUE(db->compact_erased(kFirst)) << "it is new";
    EXPECT_EQ(tables(folder), before) << "not even flushed";
    put(*db, "more", "more");
    erase(*db, kSecond, "person-0815");
    ASSERT_TRUE(db->compact_erased(kFirst));
    EXPECT_EQ(tables(folder), before) << "not even flushed";
    erase(*db, kFirst, "person-0815");
    db.reset();
    db = open(folder);  // it is known after a restart
    EXPECT_NE(files_with(folder, "secret"), "");
    ASSERT_TRUE(db->compact_erased(kFirst));
    EXPECT_EQ(files_with(folder, "secret"), "");
    EXPECT_EQ(db->get(kFirst, "more").value(), "more");
}

TEST(Compaction, OfWhatWasErasedSeesWhatIsErasedMeanwhile) {
    const auto folder = fresh_folder();
    const auto db = open(folder);
    for (int round = 0; round < 60; ++round) {
        const auto person = fmt::format("person-{}-", round);
        put(*db, person, "secret");
        erase(*db, kFirst, "of the round before");
        std::thread compacting([&] { EXPECT_TRUE(db->compact_erased(kFirst)); });
        std::this_thread::sleep_for(std::chrono::milliseconds(3 * (round % 20)));
        erase(*db, kFirst, person);
        compacting.join();
        ASSERT_TRUE(db->compact_erased(kFirst));
        ASSERT_EQ(files_with(folder, person), "") << round;
    }
}

TEST(Compaction, SaysSoWhenASnapshotKeepsOldContent) {
    const auto db = open(fresh_folder());
    put(*db, "k", "old");
    {
        const auto before = db->snapshot();
        EXPECT_TRUE(db->compact(kFirst)) << "nothing is older than this snapshot";
        put(*db, "k", "new");
        const auto held = db->compact(kFirst);
        ASSERT_FALSE(held);
        EXPECT_EQ(held.error().reason, "snapshot_held");
    }
    EXPECT_TRUE(db->compact(kFirst));
    EXPECT_EQ(db->get(kFirst, "k").value(), "new");
}

/// The machine's file system under a clock that runs ahead.
class LaterClock final : public rocksdb::EnvWrapper {
  public:
    explicit LaterClock(int64_t seconds) : EnvWrapper(Env::Default()), seconds_(seconds) {}
    const char* Name() const override { return "LaterClock"; }
    rocksdb::Status GetCurrentTime(int64_t* time) override {
        const auto status = target()->GetCurrentTime(time);
        *time += seconds_;
        return status;
    }

  private:
    int64_t seconds_;
};

TEST(Compaction, HappensByItselfWithinAWeekSoThatErasedBytesGoWithoutBeingAskedTo) {
    const auto folder = fresh_folder();
    {
        const auto db = open(folder);
        for (int i = 0; i < 100; ++i) put(*db, fmt::format("{:03}", i), "others");
        put(*db, "050-person", "secret");
        ASSERT_TRUE(db->compact(kFirst));
        WriteBatch batch;
        batch.erase(kFirst, "050-person");
        ASSERT_TRUE(db->write(batch, Sync::kAlways));
        ASSERT_TRUE(db->compact(kSecond));  // writes the tombstone of the first to a file
    }
    constexpr int64_t kDay = 24 * 3600;
    for (const int64_t days : {6, 8}) {
        OpenOptions options;
        options.environment = std::make_shared<LaterClock>(days * kDay);
        const auto db = open(folder, options);
        const auto deadline =
            std::chrono::steady_clock::now() +
            (days < 7 ? std::chrono::milliseconds(300) : std::chrono::milliseconds(60000));
        while (files_with(folder, "secret") != "" && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        EXPECT_EQ(files_with(folder, "secret") == "", days > 7) << days << " days later";
        EXPECT_EQ(count(*db), 100u);
    }
}

}  // namespace
}  // namespace rampart::storage
