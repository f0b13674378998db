#include "rampart/storage/schema_version.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <sys/wait.h>

#include <csignal>
#include <map>

#include "rampart/storage/database.hpp"
#include "rampart/storage/inspection.hpp"
#include "storage_folder.hpp"

namespace rampart::storage {
namespace {

using base::ErrorCode;
using base::Result;
using testing::fresh_folder;
using testing::fs::path;
using Cursor = std::optional<std::string>;

constexpr ColumnFamily kItems{0};
constexpr int kCount = 25, kPart = 4;

/// Puts `mark` behind every value, kPart keys at a time: not the same when done twice. Calls
/// `before_part` each time.
Migration appending(
    uint32_t to, std::string mark, std::function<void()> before_part = [] {}) {
    auto step = [mark, before_part](const Database& db, std::string_view cursor,
                                    WriteBatch& batch) -> Result<Cursor> {
        before_part();
        std::string next(cursor);
        int done = 0;
        RAMPART_RETURN_IF_ERROR(
            db.scan(kItems, {next, ""}, [&](auto key, auto value) -> Result<bool> {
                next = std::string(key);
                if (done++ == kPart) return false;
                batch.put(kItems, key, std::string(value) + mark);
                return true;
            }));
        return done > kPart ? Cursor(next) : std::nullopt;
    };
    return {to, "a mark behind every value", std::move(step)};
}

Result<std::unique_ptr<Database>> open(const path& folder, Schema schema, bool read_only = false) {
    OpenOptions options;
    options.schema = std::move(schema);
    options.read_only = read_only;
    return Database::open(folder, {"items"}, options);
}

void fill(Database& db) {
    WriteBatch batch;
    for (int i = 0; i < kCount; ++i) batch.put(kItems, fmt::format("{:03}", i), "v");
    ASSERT_TRUE(db.write(batch, Sync::kNever));
}

uint32_t version_of(const Database& db) { return verify(db.path()).value().version; }

/// How many items have each value.
std::map<std::string, int> values(const Database& db) {
    std::map<std::string, int> out;
    EXPECT_TRUE(db.scan(kItems, KeyRange::all(), [&](auto, auto value) -> Result<bool> {
        ++out[std::string(value)];
        return true;
    }));
    return out;
}

/// As the release before version numbers made it.
path unnumbered_database() {
    const auto folder = fresh_folder();
    rocksdb::Options options;
    options.create_if_missing = options.create_missing_column_families = true;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* db = nullptr;
    EXPECT_TRUE(
        rocksdb::DB::Open(options, folder, {{"default", {}}, {"items", {}}}, &handles, &db).ok());
    for (int i = 0; i < kCount; ++i) {
        EXPECT_TRUE(db->Put({}, handles[1], fmt::format("{:03}", i), "v").ok());
    }
    for (auto* handle : handles) delete handle;
    delete db;
    return folder;
}

TEST(SchemaVersion, ANewDatabaseHasTheVersionThatWasAskedForAndNeedsNoMigration) {
    const auto folder = fresh_folder();
    const auto never = [] { ADD_FAILURE() << "there is nothing to migrate"; };
    {
        const auto db = open(folder, {3, {appending(3, "x", never)}}).value();
        EXPECT_EQ(version_of(*db), 3u);
        fill(*db);
    }
    const auto db = open(folder, {3, {}}).value();
    EXPECT_EQ(version_of(*db), 3u);
    EXPECT_EQ(values(*db), (std::map<std::string, int>{{"v", kCount}}));
}

TEST(SchemaVersion, ADatabaseWithoutANumberIsVersionOne) {
    const auto folder = unnumbered_database();
    EXPECT_EQ(version_of(*open(folder, {1, {}}, true).value()), 1u);
    EXPECT_EQ(version_of(*open(folder, {1, {}}).value()), 1u);
    EXPECT_EQ(version_of(*open(folder, {1, {}}, true).value()), 1u);
    const auto db = open(folder, {2, {appending(2, "2")}}).value();
    EXPECT_EQ(version_of(*db), 2u);
    EXPECT_EQ(values(*db), (std::map<std::string, int>{{"v2", kCount}}));
}

TEST(SchemaVersion, MigrationsRunInTheirOrderFromWhereTheDatabaseStands) {
    const auto folder = unnumbered_database();
    { EXPECT_TRUE(open(folder, {2, {appending(2, "2")}})); }
    const auto db =
        open(folder, {4, {appending(2, "2"), appending(3, "3"), appending(4, "4")}}).value();
    EXPECT_EQ(version_of(*db), 4u);
    EXPECT_EQ(values(*db), (std::map<std::string, int>{{"v234", kCount}}));
}

TEST(SchemaVersion, ANewerDatabaseIsRefusedAndBothVersionsAreNamed) {
    const auto folder = fresh_folder();
    open(folder, {7, {}}).value().reset();
    for (const bool read_only : {false, true}) {
        const auto older = open(folder, {2, {appending(2, "2")}}, read_only);
        ASSERT_FALSE(older);
        EXPECT_EQ(older.error().code, ErrorCode::kFailedPrecondition);
        EXPECT_EQ(older.error().reason, "newer_version");
        EXPECT_NE(older.error().message.find("version 7"), std::string::npos);
        EXPECT_NE(older.error().message.find("up to 2"), std::string::npos);
    }
}

TEST(SchemaVersion, ADatabaseCanBeTakenAsItIs) {
    const auto folder = fresh_folder();
    open(folder, {7, {}}).value().reset();
    EXPECT_EQ(version_of(*open(folder, {Schema::kAnyVersion, {}}).value()), 7u);
    EXPECT_EQ(version_of(*open(unnumbered_database(), {Schema::kAnyVersion, {}}).value()), 1u);
    EXPECT_EQ(version_of(*open(fresh_folder(), {Schema::kAnyVersion, {}}).value()), 1u);
}

TEST(SchemaVersion, ANewerDatabaseIsCalledThatAlsoWhenItHasFurtherFamilies) {
    const auto folder = fresh_folder();
    OpenOptions options;
    options.schema.version = 2;
    Database::open(folder, {"items", "more"}, options).value().reset();
    const auto older = open(folder, {1, {}});
    ASSERT_FALSE(older);
    EXPECT_EQ(older.error().reason, "newer_version");
}

TEST(SchemaVersion, ADatabaseThatIsTooOldOrForReadingOnlyIsRefusedUntouched) {
    const auto folder = unnumbered_database();
    const auto reading = open(folder, {2, {appending(2, "2")}}, true);
    ASSERT_FALSE(reading);
    EXPECT_EQ(reading.error().reason, "older_version");
    const auto too_old = open(folder, {3, {appending(3, "3")}});
    ASSERT_FALSE(too_old);
    EXPECT_EQ(too_old.error().reason, "older_version");
    EXPECT_NE(too_old.error().message.find("version 1, not 3"), std::string::npos);
    EXPECT_EQ(values(*open(folder, {1, {}}).value()), (std::map<std::string, int>{{"v", kCount}}));
}

TEST(SchemaVersion, AReaderSaysWhichFamilyIsNotThereYet) {
    const auto folder = unnumbered_database();
    OpenOptions options;
    options.read_only = true;
    const auto reading = Database::open(folder, {"items", "more"}, options);
    ASSERT_FALSE(reading);
    EXPECT_EQ(reading.error().reason, "missing_column_family");
    EXPECT_NE(reading.error().message.find("'more'"), std::string::npos);
}

TEST(SchemaVersion, MigrationsHaveToLeadStepByStepToTheVersion) {
    const std::vector<Schema> bad{
        {0, {appending(1, "1")}},
        {3, {appending(2, "2")}},
        {3, {appending(3, "3"), appending(2, "2")}},
        {2, {appending(1, "1"), appending(2, "2")}},
        {2, {Migration{2, "nothing", nullptr}}},
    };
    for (const auto& schema : bad) {
        const auto db = open(fresh_folder(), schema);
        ASSERT_FALSE(db);
        EXPECT_EQ(db.error().reason, "bad_migrations");
    }
}

TEST(SchemaVersion, AMigrationThatFailsOrDoesNotMoveLeavesWhatIsDoneAndSaysWhich) {
    const auto folder = unnumbered_database();
    int parts = 0;
    auto failing = appending(2, "2", [&] { ++parts; });
    failing.step = [&parts, step = failing.step](const Database& db, std::string_view cursor,
                                                 WriteBatch& batch) -> Result<Cursor> {
        if (parts == 3)
            return base::Error{base::ErrorCode::kDataLoss, "broken", "a value makes no sense"};
        return step(db, cursor, batch);
    };
    const auto failed = open(folder, {2, {failing}});
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().reason, "broken");
    EXPECT_NE(failed.error().message.find("version 2 (a mark behind every value)"),
              std::string::npos);
    const Migration stuck{2, "stands still",
                          [](const Database&, std::string_view cursor,
                             WriteBatch&) -> Result<Cursor> { return Cursor(cursor); }};
    const auto standing = open(folder, {2, {stuck}});
    ASSERT_FALSE(standing);
    EXPECT_EQ(standing.error().reason, "migration_stuck");
    EXPECT_EQ(values(*open(folder, {2, {appending(2, "2")}}).value()),
              (std::map<std::string, int>{{"v2", kCount}}));
}

/// A process that migrates, and is killed at the `n`th part; false: it came to the end before.
bool killed_at_part(const path& folder, int n) {
    const pid_t child = ::fork();
    if (child == 0) {
        int part = 0;
        const auto die = [&] {
            if (++part == n) ::kill(::getpid(), SIGKILL);
        };
        const auto db = open(folder, {3, {appending(2, "2", die), appending(3, "3", die)}});
        ::_exit(db ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

TEST(SchemaVersion, AMigrationThatIsKilledAtAnyPartGoesOnBehindItAndDoesNothingTwice) {
    const auto folder = unnumbered_database();
    int kills = 0;
    // The second part each time: one more is done than the time before.
    while (killed_at_part(folder, 2)) ASSERT_LT(++kills, 100);
    const int parts = 2 * (kCount / kPart + 1);
    EXPECT_EQ(kills, parts - 1);
    const auto db = open(folder, {3, {}}).value();
    EXPECT_EQ(values(*db), (std::map<std::string, int>{{"v23", kCount}}));
}

// who goes back to the release before would else write what the migration has passed already
TEST(SchemaVersion, ADatabaseWhoseMigrationHasBegunIsRefusedByTheReleaseBefore) {
    const auto folder = unnumbered_database();
    ASSERT_TRUE(killed_at_part(folder, 2));  // one part of version 2 is done
    const auto before = open(folder, {1, {}});
    ASSERT_FALSE(before);
    EXPECT_EQ(before.error().reason, "newer_version");
    const auto reader = open(folder, {2, {appending(2, "2")}}, true);
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().reason, "older_version") << "it has not all of version 2";
    EXPECT_EQ(open(folder, {2, {}}).error().reason, "older_version");
    EXPECT_EQ(values(*open(folder, {2, {appending(2, "2")}}).value()),
              (std::map<std::string, int>{{"v2", kCount}}));
    EXPECT_TRUE(open(folder, {2, {appending(2, "2")}}, true));
}

}  // namespace
}  // namespace rampart::storage
