#include "rampart/storage/backup.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <map>

#include "rampart/base/digest.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/storage/inspection.hpp"
#include "storage_folder.hpp"

namespace rampart::storage {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using testing::content_of;
using testing::fresh_folder;
using Kind = BackupItem::Kind;
using Mode = BackupFolder::Mode;

constexpr ColumnFamily kFirst{0};
const auto kNow = base::TimePoint::from_micros(1'700'000'000'000'000);
const std::vector<BackupItem> kItems{{Kind::kDatabase, "partitions/0/joins"},
                                     {Kind::kDatabase, "log"},
                                     {Kind::kFile, "registry/audit.head"},
                                     {Kind::kFile, "gate.pub.pem"},
                                     {Kind::kSecret, "keys/draw"}};

void write_file(const fs::path& file, std::string_view content) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
}

std::unique_ptr<Database> open(const fs::path& folder) {
    auto db = Database::open(folder, {"first"});
    EXPECT_TRUE(db) << db.error().message;
    return std::move(*db);
}

void put(const fs::path& database, const std::string& prefix, int n) {
    const auto db = open(database);
    WriteBatch batch;
    for (int i = 0; i < n; ++i) {
        const auto key = fmt::format("{}{:05}", prefix, i);
        batch.put(kFirst, key, base::sha256(key).hex());
    }
    ASSERT_TRUE(db->write(batch, Sync::kAlways));
    ASSERT_TRUE(db->compact(kFirst, KeyRange::with_prefix(prefix)));
}

fs::path make_store() {
    const auto store = fresh_folder();
    put(store / "log", "a", 5000);
    put(store / "partitions/0/joins", "a", 5000);
    write_file(store / "registry/audit.head", "head 1");
    write_file(store / "gate.pub.pem", "public");
    write_file(store / "keys/draw", "very secret");
    return store;
}

/// Everything in a store, by name.
std::map<std::string, std::string> content(const fs::path& store) {
    std::map<std::string, std::string> all;
    const auto names = find_databases(store).value();
    for (const auto& name : names) {
        const auto db = open(store / name);
        EXPECT_TRUE(db->scan(kFirst, KeyRange::all(), [&](auto k, auto v) -> base::Result<bool> {
            all[name + "/" + std::string(k)] = v;
            return true;
        }));
    }
    for (const auto& item : kItems) {
        if (item.kind != Kind::kDatabase) all[item.path] = content_of(store / item.path);
    }
    return all;
}

std::unique_ptr<BackupFolder> open_backups(const fs::path& folder, Mode mode) {
    auto backups = BackupFolder::open(folder, mode);
    EXPECT_TRUE(backups) << backups.error().message;
    return std::move(*backups);
}

uint64_t bytes_under(const fs::path& folder) {
    uint64_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) bytes += entry.file_size();
    }
    return bytes;
}

unsigned mode_of(const fs::path& path) {
    return static_cast<unsigned>(fs::status(path).permissions());
}

TEST(Backup, IsRestoredAsItWasTakenWhateverTheStoreHasBecome) {
    const auto store = make_store(), folder = fresh_folder(), restored = fresh_folder();
    const auto before = content(store);
    const auto first = open_backups(folder, Mode::kChange)->create(store, kItems, kNow);
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(first->id, 1u);
    EXPECT_EQ(first->created, kNow);
    EXPECT_EQ(first->items, kItems);
    EXPECT_TRUE(first->with_secrets());
    EXPECT_FALSE(fs::exists(store / ".backup/copy"));

    put(store / "log", "b", 10);
    write_file(store / "registry/audit.head", "head 2");
    const auto later = content(store);
    ASSERT_TRUE(open_backups(folder, Mode::kChange)->create(store, kItems, kNow));

    const auto backups = open_backups(folder, Mode::kRead);
    const auto list = backups->list().value();
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0].items, kItems);
    EXPECT_EQ(list[0].bytes, first->bytes);
    EXPECT_EQ(list[1].id, 2u);
    EXPECT_TRUE(backups->verify(1));
    EXPECT_TRUE(backups->verify(2));
    ASSERT_TRUE(backups->restore(1, restored));
    EXPECT_EQ(content(restored), before);
    fs::create_directories(restored.string() + ".empty");
    ASSERT_TRUE(backups->restore(2, restored.string() + ".empty/"));
    EXPECT_EQ(content(restored.string() + ".empty"), later);
    EXPECT_EQ(content(store), later);
}

TEST(Backup, TheSecondTakesOnlyWhatIsNew) {
    const auto store = make_store(), folder = fresh_folder();
    const auto backups = open_backups(folder, Mode::kChange);
    ASSERT_TRUE(backups->create(store, kItems, kNow));
    const auto first = bytes_under(folder);
    put(store / "log", "b", 50);
    const auto second = backups->create(store, kItems, kNow).value();
    EXPECT_GT(second.bytes, 400'000u);
    EXPECT_LT(bytes_under(folder) - first, second.bytes / 10);
}

TEST(Backup, AsksForTheRestWhenAllElseIsTaken) {
    const auto store = make_store(), folder = fresh_folder(), restored = fresh_folder();
    const auto backups = open_backups(folder, Mode::kChange);
    const std::vector<BackupItem> databases{kItems[0], kItems[1]};
    const auto rest = [&]() -> base::Result<std::vector<BackupItem>> {
        put(store / "log", "b", 5);  // too late for this backup
        write_file(store / "late", "in time");
        return std::vector<BackupItem>{{Kind::kFile, "late"}};
    };
    const auto made = backups->create(store, databases, kNow, rest);
    ASSERT_TRUE(made) << made.error().message;
    const std::map<std::string, base::Digest> digests{{"late", base::sha256("in time")}};
    EXPECT_EQ(made->digests, digests);
    EXPECT_EQ(backups->info(1)->items, made->items);
    EXPECT_EQ(backups->info(2).error().reason, "no_backup");
    ASSERT_TRUE(backups->extract(1, {"late", "log", "not there"}, restored));
    EXPECT_EQ(content_of(restored / "late"), "in time");
    EXPECT_EQ(find_databases(restored).value(), std::vector<std::string>{"log"});
    EXPECT_EQ(verify(restored / "log")->keys, 5000u);
    const auto twice = [&]() -> base::Result<std::vector<BackupItem>> { return databases; };
    EXPECT_EQ(backups->create(store, databases, kNow, twice).error().reason, "bad_backup_item");
}

TEST(Backup, AFileThatWasReadBeforeIsTakenAsItWasThen) {
    const auto store = make_store(), folder = fresh_folder(), restored = fresh_folder();
    const auto backups = open_backups(folder, Mode::kChange);
    const BackupItem gone{Kind::kFile, "jobs/1.job", "as it was"};
    for (int n = 1; n <= 2; ++n) {
        const auto info = backups->create(store, {gone}, kNow);
        ASSERT_TRUE(info) << info.error().message;
        EXPECT_EQ(info->items, (std::vector<BackupItem>{{Kind::kFile, "jobs/1.job"}}));
        EXPECT_EQ(info->bytes, 9u);
    }
    ASSERT_TRUE(backups->verify(2));
    ASSERT_TRUE(backups->restore(2, restored));
    EXPECT_EQ(content_of(restored / "jobs/1.job"), "as it was");
    EXPECT_EQ(mode_of(restored / "jobs/1.job"), 0600u);
    EXPECT_EQ(mode_of(restored / "jobs"), 0700u);
    ASSERT_EQ(backups->keep_newest(1).value(), 1u);
    EXPECT_TRUE(backups->verify(2));
}

TEST(Backup, OfAStoreThatIsInUseDoesNotDisturbIt) {
    const auto store = make_store(), folder = fresh_folder(), restored = fresh_folder();
    const auto db = open(store / "log");
    WriteBatch batch;
    batch.put(kFirst, "just written", "1");
    ASSERT_TRUE(db->write(batch, Sync::kNever));
    const auto backups = open_backups(folder, Mode::kChange);
    ASSERT_TRUE(backups->create(store, kItems, kNow));
    ASSERT_TRUE(db->compact(kFirst));
    ASSERT_TRUE(backups->restore(1, restored));
    EXPECT_EQ(open(restored / "log")->get(kFirst, "just written").value(), "1");
    EXPECT_EQ(db->get(kFirst, "just written").value(), "1");
}

TEST(Backup, SecretsStayWithTheirOwner) {
    const auto store = make_store(), folder = fresh_folder(), restored = fresh_folder();
    const auto backups = open_backups(folder, Mode::kChange);
    const auto created = backups->create(store, kItems, kNow);
    ASSERT_TRUE(created);
    EXPECT_EQ(mode_of(folder), 0700u);
    for (const auto& entry : fs::directory_iterator(folder / "secrets")) {
        EXPECT_EQ(mode_of(entry.path()), 0600u);
    }
    ASSERT_TRUE(backups->restore(1, restored));
    EXPECT_EQ(mode_of(restored / "keys/draw"), 0600u);
    EXPECT_EQ(mode_of(restored / "gate.pub.pem"), mode_of(store / "gate.pub.pem"));
    const auto without = backups->create(store, {kItems.begin(), kItems.end() - 1}, kNow).value();
    EXPECT_FALSE(without.with_secrets());
    ASSERT_TRUE(backups->keep_newest(1));
    EXPECT_TRUE(fs::is_empty(folder / "secrets"));
}

TEST(Backup, TheNewestAreKeptAndWhatOnlyOlderOnesNeededGoes) {
    const auto store = make_store(), folder = fresh_folder(), restored = fresh_folder();
    const auto backups = open_backups(folder, Mode::kChange);
    for (int i = 0; i < 4; ++i) {
        write_file(store / "registry/audit.head", fmt::format("head {}", i));
        ASSERT_TRUE(backups->create(store, kItems, kNow));
    }
    EXPECT_EQ(backups->keep_newest(2).value(), 2u);
    EXPECT_EQ(backups->keep_newest(2).value(), 0u);
    EXPECT_EQ(backups->keep_newest(0).error().code, ErrorCode::kInvalidArgument);
    const auto list = backups->list().value();
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0].id, 3u);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder / "files"), {}), 3);
    EXPECT_EQ(backups->verify(1).error().reason, "no_backup");
    EXPECT_TRUE(backups->verify(3));
    ASSERT_TRUE(backups->restore(3, restored));
    EXPECT_EQ(content_of(restored / "registry/audit.head"), "head 2");
    EXPECT_EQ(backups->create(store, kItems, kNow)->id, 5u);
}

void damage(const fs::path& file) {
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(static_cast<std::streamoff>(fs::file_size(file) / 2));
    out << "X";
}

TEST(Backup, DamageIsFoundByVerificationAndByRestoring) {
    const auto store = make_store();
    const std::map<std::string, std::string> places{
        {"table", "databases/log/shared_checksum"}, {"file", "files"}, {"secret", "secrets"}};
    for (const auto& [what, place] : places) {
        const auto folder = fresh_folder(), restored = fresh_folder();
        const auto backups = open_backups(folder, Mode::kChange);
        ASSERT_TRUE(backups->create(store, kItems, kNow));
        for (const auto& entry : fs::directory_iterator(folder / place)) damage(entry.path());
        const auto verified = backups->verify(1);
        ASSERT_FALSE(verified) << what;
        EXPECT_EQ(verified.error().reason, "backup_damaged") << what;
        const auto done = backups->restore(1, restored);
        ASSERT_FALSE(done) << what;
        EXPECT_EQ(done.error().reason, "backup_damaged") << what;
        EXPECT_FALSE(fs::exists(restored)) << what << ": half a store is none";
    }
}

TEST(Backup, AListThatIsDamagedIsSaidAndLeavesTheOthersAlone) {
    const auto store = make_store(), folder = fresh_folder(), restored = fresh_folder();
    const auto backups = open_backups(folder, Mode::kChange);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(backups->create(store, kItems, kNow));
    damage(folder / "backups/2");
    const auto list = backups->list().value();
    ASSERT_EQ(list.size(), 3u);
    EXPECT_EQ(list[0].damage, "");
    EXPECT_NE(list[1].damage, "");
    EXPECT_EQ(backups->verify(2).error().reason, "backup_damaged");
    EXPECT_EQ(backups->keep_newest(1).error().reason, "backup_damaged");
    EXPECT_TRUE(backups->verify(1));
    EXPECT_TRUE(backups->restore(3, restored));
    EXPECT_EQ(backups->create(store, kItems, kNow)->id, 4u);
}

TEST(Backup, WhatDoesNotFitIsRefused) {
    const auto store = make_store(), folder = fresh_folder(), other = fresh_folder();
    EXPECT_EQ(BackupFolder::open(folder, Mode::kRead).error().reason, "no_backups");
    write_file(other / "letters", "mine");
    EXPECT_EQ(BackupFolder::open(other, Mode::kChange).error().reason, "not_a_backup");
    const auto backups = open_backups(folder, Mode::kChange);
    EXPECT_EQ(BackupFolder::open(folder, Mode::kRead).error().reason, "backup_in_use");
    for (const auto* bad : {"/etc/passwd", "../x", "a/../../x", "a/./b", ".", "", "a\nb"}) {
        const auto created = backups->create(store, {{Kind::kFile, bad}}, kNow);
        ASSERT_FALSE(created) << bad;
        EXPECT_EQ(created.error().reason, "bad_backup_item") << bad;
    }
    EXPECT_EQ(backups->create(store, {kItems[2], kItems[2]}, kNow).error().reason,
              "bad_backup_item");
    EXPECT_EQ(backups->create(store, {{Kind::kFile, "nowhere"}}, kNow).error().code,
              ErrorCode::kNotFound);
    EXPECT_EQ(backups->create(store, {{Kind::kDatabase, "nowhere"}}, kNow).error().code,
              ErrorCode::kNotFound);
    EXPECT_TRUE(backups->list()->empty());
    EXPECT_EQ(
        open_backups(store / "backups", Mode::kChange)->create(store, kItems, kNow).error().reason,
        "backup_inside_store");
    ASSERT_TRUE(backups->create(store, kItems, kNow));
    EXPECT_EQ(backups->restore(1, store).error().reason, "store_not_empty");
    EXPECT_EQ(backups->restore(7, other).error().reason, "no_backup");
}

TEST(Backup, OfALaterFormatIsRefused) {
    const auto folder = fresh_folder();
    write_file(folder / "format", "rampart-backup 2\n");
    EXPECT_EQ(BackupFolder::open(folder, Mode::kRead).error().reason, "newer_version");
}

/// A process that backs up and drops old backups until it is killed after `micros`.
void back_up_and_die(const fs::path& store, const fs::path& folder, useconds_t micros) {
    const pid_t child = ::fork();
    if (child == 0) {
        while (true) {
            const auto backups = BackupFolder::open(folder, Mode::kChange);
            if (!backups || !(*backups)->create(store, kItems, kNow)) ::_exit(1);
            if (!(*backups)->keep_newest(3)) ::_exit(2);
        }
    }
    ::usleep(micros);
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it gave up by itself: " << WEXITSTATUS(status);
}

TEST(Backup, ACrashAtAnyMomentLeavesEarlierBackupsWhole) {
    const auto store = make_store(), folder = fresh_folder();
    { ASSERT_TRUE(open_backups(folder, Mode::kChange)->create(store, kItems, kNow)); }
    const auto expected = content(store);
    for (useconds_t i = 0; i < 12; ++i) {
        back_up_and_die(store, folder, 20'000 + 37'000 * i);
        const auto backups = open_backups(folder, Mode::kRead);
        const auto list = backups->list().value();
        ASSERT_FALSE(list.empty());
        for (const auto& info : list) {
            const auto verified = backups->verify(info.id);
            EXPECT_TRUE(verified) << verified.error().message;
        }
    }
    const auto restored = fresh_folder();
    const auto backups = open_backups(folder, Mode::kChange);
    ASSERT_TRUE(backups->create(store, kItems, kNow));
    ASSERT_TRUE(backups->restore(backups->list()->back().id, restored));
    EXPECT_EQ(content(restored), expected);
    // What the dead left is swept away: one backup's files and no more.
    ASSERT_TRUE(backups->keep_newest(1));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder / "files"), {}), 2);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder / "databases/log/private"), {}), 1);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder / "databases/log/meta"), {}), 1);
}

}  // namespace
}  // namespace rampart::storage
