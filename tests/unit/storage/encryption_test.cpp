#include "rampart/storage/encryption.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

#include "rampart/storage/backup.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/storage/folder.hpp"
#include "rampart/storage/inspection.hpp"
#include "rampart/storage/live_copy.hpp"
#include "rampart/storage/reasons.hpp"
#include "rampart/storage/scrub.hpp"
#include "storage_folder.hpp"

namespace rampart::storage {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using testing::content_of;
using testing::files_with;
using testing::fresh_folder;
using Kind = BackupItem::Kind;

constexpr ColumnFamily kPeople{0};
constexpr std::string_view kPerson = "person-4711-Musterfrau";
const FileKey kFirst{"00000000000000a1", std::string(32, '1')};
const FileKey kSecond{"00000000000000b2", std::string(32, '2')};
const auto kNow = base::TimePoint::from_micros(1'700'000'000'000'000);

/// Keys of all databases, as long as it lives.
struct Keys {
    explicit Keys(FileKeys keys) {
        set_file_key_source([keys](const fs::path&) -> base::Result<FileKeys> { return keys; });
    }
    ~Keys() { set_file_key_source({}); }
};

base::Result<std::unique_ptr<Database>> open(const fs::path& folder, bool read_only = false) {
    OpenOptions options;
    options.read_only = read_only;
    options.memtable_bytes = 64u << 10;
    return Database::open(folder, {"people"}, options);
}

std::string person(int i) { return fmt::format("{}-{:05}", kPerson, i); }

base::Status write(Database& database, int from, int to) {
    for (int i = from; i < to; ++i) {
        WriteBatch batch;
        batch.put(kPeople, person(i), fmt::format("value of {}", person(i)));
        RAMPART_RETURN_IF_ERROR(database.write(batch, Sync::kNever));
    }
    return base::ok();
}

/// Writes persons, so that some are in tables and some in the log.
void fill(const fs::path& folder, int from, int to) {
    const auto database = open(folder);
    ASSERT_TRUE(database) << database.error().message;
    ASSERT_TRUE(write(**database, from, (from + to) / 2));
    ASSERT_TRUE((*database)->compact(kPeople));
    ASSERT_TRUE(write(**database, (from + to) / 2, to));
}

int persons_in(const fs::path& folder) {
    const auto database = open(folder, true);
    if (!database) return -1;
    int n = 0;
    const auto status = (*database)->scan(
        kPeople, KeyRange::all(), [&](auto key, auto value) -> base::Result<bool> {
            if (key == person(n) && value == fmt::format("value of {}", key)) ++n;
            return true;
        });
    return status ? n : -2;
}

TEST(Encryption, NothingOfTheContentIsInAFile) {
    const auto plain = fresh_folder(), encrypted = fresh_folder();
    fill(plain, 0, 2000);
    EXPECT_NE(files_with(plain, kPerson), "");
    const Keys keys({kFirst, {}});
    fill(encrypted, 0, 2000);
    EXPECT_EQ(files_with(encrypted, kPerson), "");
    EXPECT_EQ(files_with(encrypted, "Musterfrau"), "");
    EXPECT_EQ(persons_in(encrypted), 2000);
    const auto files = files_at_rest(encrypted).value();
    EXPECT_EQ(files.plain, 0u);
    EXPECT_GE(files.by_key.at(kFirst.id), 3u);  // log, table, manifest
    EXPECT_EQ(families_in(encrypted).value().size(), 2u);
    EXPECT_TRUE(verify(encrypted));
}

TEST(Encryption, SurvivesAKill) {
    const auto folder = fresh_folder();
    const Keys keys({kFirst, {}});
    int done[2];
    ASSERT_EQ(::pipe(done), 0);
    const auto child = ::fork();
    if (child == 0) {
        // nothing is flushed: threads of earlier databases are not in a forked process
        const auto database = Database::open(folder, {"people"});
        if (!database || !write(**database, 0, 3000)) ::_exit(1);
        const char byte = 1;
        if (::write(done[1], &byte, 1) != 1) ::_exit(1);
        for (int i = 3000;; ++i) (void)write(**database, i, i + 1);
    }
    char byte = 0;
    ASSERT_EQ(::read(done[0], &byte, 1), 1);
    ::usleep(20'000);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const auto before = persons_in(folder);
    EXPECT_GE(before, 3000);
    ASSERT_TRUE(open(folder));
    EXPECT_EQ(persons_in(folder), before);
    EXPECT_EQ(files_with(folder, kPerson), "");
    ::close(done[0]);
    ::close(done[1]);
}

TEST(Encryption, AMissingOrOtherKeyIsRefusedByItsId) {
    const auto folder = fresh_folder();
    {
        const Keys keys({kFirst, {}});
        fill(folder, 0, 500);
    }
    FileKeys none;
    none.where = "/store/keys/store";
    for (const auto& keys : {none, FileKeys{kSecond, {}}}) {
        const Keys scope(keys);
        for (const bool read_only : {true, false}) {
            const auto refused = open(folder, read_only);
            ASSERT_FALSE(refused);
            EXPECT_TRUE(refused.error().is(Reason::kNoFileKey)) << refused.error().message;
            EXPECT_NE(refused.error().message.find(kFirst.id), std::string::npos);
            if (!keys.current && !read_only) {
                EXPECT_NE(refused.error().message.find("/store/keys/store"), std::string::npos);
            }
        }
        EXPECT_TRUE(verify(folder).error().is(Reason::kNoFileKey));
        EXPECT_TRUE(families_in(folder).error().is(Reason::kNoFileKey));
    }
    {
        // a key that reads, and none to write with: what is written must not become plain
        const Keys scope({std::nullopt, {kFirst}});
        EXPECT_EQ(persons_in(folder), 500);
        EXPECT_TRUE(open(folder).error().is(Reason::kNoFileKey));
    }
    const Keys keys({kFirst, {}});
    EXPECT_EQ(persons_in(folder), 500);
    EXPECT_TRUE(open(folder));
}

TEST(Encryption, PlainAndEncryptedFilesMixUntilAllAreRewritten) {
    const auto folder = fresh_folder();
    fill(folder, 0, 1000);
    const Keys keys({kFirst, {}});
    EXPECT_EQ(persons_in(folder), 1000);
    fill(folder, 1000, 1200);
    {
        const auto database = open(folder);
        ASSERT_TRUE(write(**database, 1200, 1500));
    }
    EXPECT_EQ(persons_in(folder), 1500);
    ASSERT_TRUE(rewrite_files(folder));
    const auto files = files_at_rest(folder).value();
    EXPECT_EQ(files.plain, 0u);
    EXPECT_EQ(files.by_key.size(), 1u);
    EXPECT_EQ(files_with(folder, kPerson), "");
    EXPECT_EQ(persons_in(folder), 1500);
    EXPECT_TRUE(open(folder));
}

TEST(Encryption, MixesWithoutACompaction) {
    const auto folder = fresh_folder();
    fill(folder, 0, 1000);
    {
        const Keys keys({kFirst, {}});
        const auto database = open(folder);
        ASSERT_TRUE(write(**database, 1000, 1100));
    }
    const auto files = files_at_rest(folder).value();
    EXPECT_GE(files.plain, 1u);
    EXPECT_GE(files.by_key.at(kFirst.id), 1u);
    const Keys keys({kFirst, {}});
    EXPECT_EQ(persons_in(folder), 1100);
}

TEST(Encryption, ANewKeyTakesOverWithTheRewriting) {
    const auto folder = fresh_folder();
    {
        const Keys keys({kFirst, {}});
        fill(folder, 0, 1000);
    }
    {
        const Keys keys({kSecond, {kFirst}});
        {
            const auto database = open(folder);
            ASSERT_TRUE(write(**database, 1000, 1200));
        }
        EXPECT_EQ(files_at_rest(folder).value().by_key.size(), 2u);
        EXPECT_EQ(persons_in(folder), 1200);
        ASSERT_TRUE(rewrite_files(folder));
    }
    const Keys keys({kSecond, {}});
    EXPECT_EQ(persons_in(folder), 1200);
    EXPECT_EQ(files_at_rest(folder).value().by_key.size(), 1u);
}

TEST(Encryption, ADamagedHeaderIsDamage) {
    const Keys keys({kFirst, {}});
    for (const std::string kind : {".sst", ".log", "MANIFEST"}) {
        for (const size_t at : {0u, 20u, 40u, 100u, 2000u, 4090u}) {
            const auto folder = fresh_folder();
            fill(folder, 0, 300);
            for (const auto& entry : fs::directory_iterator(folder)) {
                const auto name = entry.path().filename().string();
                if (name.find(kind) == std::string::npos) continue;
                auto content = content_of(entry.path());
                content[at] = static_cast<char>(content[at] ^ 4);
                std::ofstream(entry.path(), std::ios::binary) << content;
            }
            const auto opened = open(folder);
            ASSERT_FALSE(opened) << kind << " at " << at;
            EXPECT_EQ(opened.error().code, ErrorCode::kDataLoss) << opened.error().message;
        }
    }
}

TEST(Encryption, DamageInTheContentIsFoundByScrubbing) {
    const Keys keys({kFirst, {}});
    const auto folder = fresh_folder();
    fill(folder, 0, 2000);
    const auto database = open(folder);
    ASSERT_TRUE(database);
    EXPECT_TRUE(scrub({}).damaged.empty());
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() != ".sst") continue;
        std::fstream file(entry.path(), std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(4096 + 100);
        file << "damage";
    }
    EXPECT_FALSE(scrub({}).damaged.empty());
}

TEST(Encryption, ACopyFromUnderAWriterReads) {
    const Keys keys({kFirst, {}});
    const auto folder = fresh_folder(), copy = fresh_folder();
    const auto database = open(folder);
    ASSERT_TRUE(write(**database, 0, 1500));
    ASSERT_TRUE(copy_live(folder, copy));
    EXPECT_EQ(persons_in(copy), 1500);
    EXPECT_EQ(files_with(copy, kPerson), "");
}

TEST(Encryption, ACopyToOtherKeysHasThem) {
    const auto from = fresh_folder(), to = fresh_folder();
    const auto by_folder = [&](const fs::path& folder) -> base::Result<FileKeys> {
        if (folder == from) return FileKeys{kFirst, {}};
        return FileKeys{kSecond, {}};
    };
    set_file_key_source(by_folder);
    fill(from, 0, 800);
    ASSERT_TRUE(copy_database_files(from, to));
    EXPECT_EQ(persons_in(to), 800);
    const auto files = files_at_rest(to).value();
    EXPECT_EQ(files.plain, 0u);
    EXPECT_EQ(files.by_key.size(), 1u);
    EXPECT_TRUE(files.by_key.contains(kSecond.id));
    std::string read;
    for (const auto& entry : fs::directory_iterator(from)) {
        ASSERT_TRUE(read_file_at_rest(entry.path(), [&](std::string_view piece) {
            read += piece;
            return base::ok();
        }));
    }
    EXPECT_NE(read.find(kPerson), std::string::npos);
    set_file_key_source({});
}

struct Backups : ::testing::Test {
    fs::path store = fresh_folder(), folder = fresh_folder(), restored = fresh_folder();
    std::vector<BackupItem> items{{Kind::kDatabase, "joins"}};

    void back_up() {
        const auto backups = BackupFolder::open(folder, BackupFolder::Mode::kChange);
        ASSERT_TRUE(backups);
        const auto made = (*backups)->create(store, items, kNow);
        ASSERT_TRUE(made) << made.error().message;
        const auto verified = (*backups)->verify(made->id);
        ASSERT_TRUE(verified) << verified.error().message;
    }
    base::Status restore(uint64_t id) {
        RAMPART_TRY(const auto backups, BackupFolder::open(folder, BackupFolder::Mode::kRead));
        return backups->restore(id, restored).map([](const auto&) {});
    }
};
using EncryptedBackups = Backups;

TEST_F(EncryptedBackups, StayEncryptedAndNeedTheKey) {
    {
        const Keys keys({kFirst, {}});
        fill(store / "joins", 0, 1500);
        back_up();
        fill(store / "joins", 1500, 1800);
        back_up();
    }
    EXPECT_EQ(files_with(folder, kPerson), "");
    const auto refused = restore(2);
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().is(Reason::kNoFileKey)) << refused.error().message;
    EXPECT_FALSE(fs::exists(restored));
    // the key opens them wherever they are restored to, and what is restored stays encrypted
    const Keys keys({std::nullopt, {kFirst}});
    ASSERT_TRUE(restore(1)) << restore(1).error().message;
    EXPECT_EQ(persons_in(restored / "joins"), 1500);
    EXPECT_EQ(files_with(restored, kPerson), "");
    fs::remove_all(restored);
    ASSERT_TRUE(restore(2));
    EXPECT_EQ(persons_in(restored / "joins"), 1800);
    EXPECT_EQ(files_at_rest(restored / "joins").value().plain, 0u);
}

TEST_F(EncryptedBackups, AreNotSweptForWantOfTheirKey) {
    {
        const Keys keys({kFirst, {}});
        fill(store / "joins", 0, 500);
        back_up();
        back_up();
    }
    {
        const auto backups = BackupFolder::open(folder, BackupFolder::Mode::kChange);
        const auto dropped = (*backups)->keep_newest(1);
        EXPECT_TRUE(!dropped && dropped.error().is(Reason::kNoFileKey));
    }
    const Keys keys({kFirst, {}});
    ASSERT_TRUE(restore(2));
    EXPECT_EQ(persons_in(restored / "joins"), 500);
}

TEST_F(EncryptedBackups, OfSeveralKeysAndPlainOnesLieInOneFolder) {
    fill(store / "joins", 0, 300);
    back_up();
    {
        const Keys keys({kFirst, {}});
        fill(store / "joins", 300, 600);
        ASSERT_TRUE(rewrite_files(store / "joins"));
        back_up();
    }
    {
        const Keys keys({kSecond, {kFirst}});
        fill(store / "joins", 600, 900);
        ASSERT_TRUE(rewrite_files(store / "joins"));
        back_up();
        for (uint64_t id = 1; id <= 3; ++id) {
            ASSERT_TRUE(restore(id)) << restore(id).error().message;
            EXPECT_EQ(persons_in(restored / "joins"), 300 * static_cast<int>(id));
            fs::remove_all(restored);
        }
    }
    const Keys keys({kSecond, {}});
    EXPECT_TRUE(restore(2).error().is(Reason::kNoFileKey));
}

}  // namespace
}  // namespace rampart::storage
