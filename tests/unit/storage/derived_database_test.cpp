#include "rampart/storage/derived_database.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "rampart/storage/inspection.hpp"
#include "rampart/storage/writable.hpp"
#include "storage_folder.hpp"
#include "support/damage.hpp"

namespace rampart::storage {
namespace {

namespace fs = std::filesystem;
using test_support::Damage;

constexpr ColumnFamily kFirst{0};
const std::vector<FamilyRange> kWhole{{kFirst}};
constexpr int kKeys = 2000;

std::string key_of(int i) { return fmt::format("key {:06}", i); }

template <class AnyDatabase>
base::Status fill(AnyDatabase& db) {
    WriteBatch batch;
    for (int i = 0; i < kKeys; ++i) batch.put(kFirst, key_of(i), fmt::format("value {}", i * 7919));
    return db.write(batch, Sync::kAlways);
}

/// Reads all that there is.
base::Status read_all(const DerivedDatabase& db) {
    return db.scan(kFirst, KeyRange::all(), [](auto, auto) { return true; });
}

class DerivedDatabaseTest : public ::testing::Test {
  protected:
    void SetUp() override {
        fs::create_directories(root_);
        ASSERT_TRUE(fill(*Database::open(path_, {"first"}).value()));
    }
    void TearDown() override { fs::remove_all(root_); }

    std::unique_ptr<DerivedDatabase> open() const {
        auto opened = DerivedDatabase::open(path_, {"first"}, {});
        EXPECT_TRUE(opened) << opened.error().message;
        return *std::move(opened);
    }
    static base::Result<bool> renew(DerivedDatabase& db) {
        return db.renew([] { return base::ok(); },
                        [](Database& fresh) {
                            WriteBatch batch;
                            batch.put(kFirst, "begun", "");
                            return fresh.write(batch, Sync::kAlways);
                        });
    }
    static void expect_begun_anew(DerivedDatabase& db) {
        EXPECT_TRUE(db.damage());
        EXPECT_TRUE(read_all(db));
        EXPECT_TRUE(db.get(kFirst, "begun").value());
        EXPECT_FALSE(db.get(kFirst, key_of(3)).value());
        EXPECT_TRUE(fill(db));
        EXPECT_TRUE(all_writable());
    }

    const fs::path root_ = testing::fresh_folder();
    const fs::path path_ = root_ / "derived";
};

TEST_F(DerivedDatabaseTest, ABlockThatAReadFindsDamagedSetsItAsideUnderItsUsers) {
    test_support::damage_table(path_, Damage::kOneByte);
    const auto db = open();
    EXPECT_TRUE(db->damage()) << "nothing has read it yet";
    const auto read = read_all(*db);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().reason, "corrupt");
    EXPECT_EQ(db->damage().error().reason, "corrupt");
    EXPECT_TRUE(renew(*db).value());
    EXPECT_EQ(db->set_aside(), 1u);
    EXPECT_TRUE(db->has_set_aside());
    EXPECT_TRUE(fs::exists(path_.string() + ".damaged-1/CURRENT"));
    expect_begun_anew(*db);
    EXPECT_FALSE(renew(*db).value()) << "nothing is damaged any more";
}

TEST_F(DerivedDatabaseTest, DamageThatOpeningMeetsIsNoErrorButSetAsideLikeAnyOther) {
    test_support::compact_all(path_);
    for (const auto& entry : fs::directory_iterator(path_)) {
        if (entry.path().extension() == ".sst") fs::resize_file(entry.path(), 10);
    }
    EXPECT_FALSE(Database::open(path_, {"first"}));
    const auto db = open();
    EXPECT_EQ(db->damage().error().reason, "corrupt");
    EXPECT_EQ(db->get(kFirst, key_of(3)).error().reason, "corrupt");
    EXPECT_TRUE(renew(*db).value());
    expect_begun_anew(*db);
}

TEST_F(DerivedDatabaseTest, DamageThatCompactionMeetsStopsOnlyADatabaseThatCannotBeMadeAnew) {
    test_support::damage_table(path_, Damage::kMostOfATable);
    {
        const auto plain = Database::open(path_, {"first"}).value();
        ASSERT_TRUE(fill(*plain));
        EXPECT_FALSE(plain->compact(kFirst));
        EXPECT_EQ(plain->damage().error().reason, "corrupt");
        EXPECT_FALSE(all_writable()) << "the rule for any other database";
    }
    const auto db = open();
    if (db->damage()) {
        static_cast<void>(fill(*db));
        EXPECT_FALSE(db->compact(kWhole));
    }
    EXPECT_EQ(db->damage().error().reason, "corrupt");
    EXPECT_TRUE(all_writable());
    EXPECT_TRUE(renew(*db).value());
    expect_begun_anew(*db);
}

/// The line of what did not go as it should; 0: nothing.
int without_files_and_room(const fs::path& path) {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    const rlimit few{8, files.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
    const auto without = DerivedDatabase::open(path, {"first"}, {});
    ::setrlimit(RLIMIT_NOFILE, &files);
    if (without || without.error().reason == "corrupt") return __LINE__;

    const auto opened = DerivedDatabase::open(path, {"first"}, {});
    if (!opened) return __LINE__;
    DerivedDatabase& db = **opened;
    const auto never = [] {
        return base::Error{base::ErrorCode::kInternal, "asked", "nothing is damaged"};
    };
    const auto renewed = [&] {
        return db.renew(never, [&](Database&) { return never(); }).value_or(true);
    };
    if (!read_all(db) || !db.damage()) return __LINE__;
    rlimit size{};
    ::getrlimit(RLIMIT_FSIZE, &size);
    const rlimit nothing{0, size.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &nothing);
    const auto filled = fill(db);
    ::setrlimit(RLIMIT_FSIZE, &size);
    if (filled || filled.error().reason == "corrupt") return __LINE__;
    if (!db.damage() || renewed()) return __LINE__;
    // it has stopped, and nothing makes it anew: the program ends, as it does for any other
    if (all_writable()) return __LINE__;
    return 0;
}

TEST_F(DerivedDatabaseTest, AFullDiskAndALimitOfFilesAreNoDamage) {
    const pid_t child = ::fork();  // the limits are those of the process
    if (child == 0) ::_exit(without_files_and_room(path_) % 256);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << "the line that failed";

    const auto full = DerivedDatabase::open(path_, {"first"}, {.min_free_bytes = 1ull << 62});
    EXPECT_EQ(fill(**full).error().reason, "disk_full");
    EXPECT_TRUE((*full)->damage());
    EXPECT_FALSE(renew(**full).value());
    EXPECT_FALSE((*full)->has_set_aside());
}

TEST_F(DerivedDatabaseTest, ItIsSetAsideWhenNobodyReadsItAnyMore) {
    test_support::damage_table(path_, Damage::kOneByte);
    const auto db = open();
    std::optional<DerivedSnapshot> reading(db->snapshot());
    ASSERT_FALSE(read_all(*db));
    const auto early = renew(*db);
    ASSERT_FALSE(early);
    EXPECT_EQ(early.error().reason, "in_use");
    EXPECT_EQ(db->get(kFirst, key_of(3)).error().reason, "corrupt") << "there is none to read";
    EXPECT_TRUE(db->get(kFirst, key_of(kKeys - 1), &*reading).value()) << "but for who has it";
    EXPECT_FALSE(db->has_set_aside());
    reading.reset();
    EXPECT_TRUE(renew(*db).value());
    expect_begun_anew(*db);
}

TEST_F(DerivedDatabaseTest, WhatTheLogDoesNotHaveIsNeverSetAside) {
    test_support::damage_table(path_, Damage::kOneByte);
    const auto db = open();
    ASSERT_FALSE(read_all(*db));
    const auto refused = db->renew(
        [] {
            return base::Error{base::ErrorCode::kUnavailable, "log_away", "nobody knows"};
        },
        [](Database&) { return base::ok(); });
    EXPECT_EQ(refused.error().reason, "log_away");
    ASSERT_TRUE(db->mark_beyond_log());
    EXPECT_EQ(renew(*db).error().reason, "state_damaged");
    EXPECT_TRUE(db->get(kFirst, key_of(kKeys - 1)).value()) << "and what can be read stays";
    EXPECT_FALSE(db->has_set_aside());
}

TEST_F(DerivedDatabaseTest, ARenamingThatFailsAndASecondDamageFailClosed) {
    test_support::damage_table(path_, Damage::kOneByte);
    const auto db = open();
    ASSERT_FALSE(read_all(*db));
    const fs::path elsewhere = root_ / "elsewhere";
    const auto vanishes = [&] {
        fs::rename(path_, elsewhere);
        return base::ok();
    };
    EXPECT_FALSE(db->renew(vanishes, [](Database&) { return base::ok(); }));
    EXPECT_FALSE(db->damage());
    EXPECT_FALSE(db->get(kFirst, key_of(3)));
    EXPECT_FALSE(fill(*db));
    fs::rename(elsewhere, path_);
    // what a new one begins with cannot be written at first
    const auto full = [](Database&) {
        return base::Error{base::ErrorCode::kResourceExhausted, "disk_full", "no room"};
    };
    EXPECT_EQ(db->renew([] { return base::ok(); }, full).error().reason, "disk_full");
    EXPECT_FALSE(db->get(kFirst, key_of(3)));
    EXPECT_TRUE(renew(*db).value());
    EXPECT_EQ(db->set_aside(), 1u);
    expect_begun_anew(*db);

    ASSERT_TRUE(db->compact(kWhole));
    fs::resize_file(test_support::largest_table(path_), 10);
    ASSERT_FALSE(read_all(*db));
    EXPECT_EQ(renew(*db).error().reason, "state_damaged");
    EXPECT_FALSE(fs::exists(path_.string() + ".damaged-2"));
}

TEST_F(DerivedDatabaseTest, DatabasesSetAsideAreNamedAndCountedAndAreNoDatabasesOfTheStore) {
    for (size_t i = 1; i <= DerivedDatabase::kMaxSetAside; ++i) {
        fs::create_directories(fmt::format("{}.damaged-{}", path_.string(), i));
    }
    fs::copy(path_, root_ / "derived.damaged-1", fs::copy_options::recursive);
    EXPECT_TRUE(is_set_aside(root_ / "derived.damaged-1"));
    EXPECT_FALSE(is_set_aside(path_));
    EXPECT_FALSE(is_set_aside(root_ / "derived.damaged-"));
    EXPECT_FALSE(is_set_aside(root_ / "derived.damaged-1x"));
    EXPECT_EQ(find_databases(root_).value(), std::vector<std::string>{"derived"});
    EXPECT_EQ(find_set_aside(root_).value().size(), DerivedDatabase::kMaxSetAside);
    EXPECT_EQ(find_set_aside(root_).value().front(), "derived.damaged-1");
    test_support::damage_table(path_, Damage::kOneByte);
    const auto db = open();
    ASSERT_FALSE(read_all(*db));
    EXPECT_EQ(renew(*db).error().reason, "state_damaged") << "a disk that fails fills it with them";
}

}  // namespace
}  // namespace rampart::storage
