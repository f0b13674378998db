#include "rampart/runtime/store_keys.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/runtime/reasons.hpp"
#include "rampart/runtime/secrets.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/storage/reasons.hpp"

namespace rampart::runtime {
namespace {

namespace fs = std::filesystem;

class StoreKeys : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) / fmt::format("store_keys.{}", ::getpid());
        fs::remove_all(folder_);
        fs::create_directories(store() / "keys" / "retired");
        fs::create_directories(store() / "registry");
    }
    void TearDown() override {
        storage::set_file_key_source({});
        fs::remove_all(folder_);
    }
    fs::path store() const { return folder_ / "a"; }
    /// Writes a new secret and returns its id.
    static std::string make(const fs::path& file) {
        const auto secret = base::random_bytes(32);
        EXPECT_TRUE(base::write_file_atomically(file, base::to_hex(secret) + "\n", 0600));
        return secret_id(secret);
    }
    static bool has(const storage::FileKeys& keys, const std::string& id) {
        return std::any_of(keys.others.begin(), keys.others.end(),
                           [&](const auto& key) { return key.id == id; });
    }

    fs::path folder_;
};

TEST_F(StoreKeys, AreThoseOfTheNearestStoreAbove) {
    const auto id = make(store_key_file(store()));
    const auto retired = make(store() / "keys" / "retired" / "0011223344556677");
    fs::create_directories(store() / ".take-over" / "keys");
    make(store() / ".take-over" / "keys" / "split");
    for (const char* database : {"log", "registry/registry", "partitions/7/joins", ".backup/copy",
                                 ".take-over/registry", "not/yet/there"}) {
        const auto keys = keys_of_database(store() / database).value();
        ASSERT_TRUE(keys.current) << database;
        EXPECT_EQ(keys.current->id, id) << database;
        EXPECT_EQ(keys.where, store_key_file(store()));
        EXPECT_TRUE(has(keys, retired));
    }
    EXPECT_FALSE(keys_of_database(folder_ / "b" / "log").value().current);
    EXPECT_FALSE(keys_of_database(store()).value().current) << "a store is no database of itself";
}

TEST_F(StoreKeys, OfFoldersThatAreNoStoreAreNotLookedAt) {
    const auto id = make(store_key_file(store()));
    // another program's, above: neither its content nor its rights matter
    fs::create_directories(folder_ / "keys");
    ASSERT_TRUE(base::write_file_atomically(store_key_file(folder_), "no key", 0644));
    const auto keys = keys_of_database(folder_ / "b" / "log");
    ASSERT_TRUE(keys) << keys.error().message;
    EXPECT_FALSE(keys->current);
    // a first start: there is a key, and no database yet
    fs::remove(store() / "registry");
    EXPECT_EQ(keys_of_database(store() / "registry" / "registry").value().current->id, id);
}

TEST_F(StoreKeys, ThatOthersMayReadAreRefused) {
    make(store_key_file(store()));
    fs::permissions(store_key_file(store()), fs::perms::group_read, fs::perm_options::add);
    EXPECT_FALSE(keys_of_database(store() / "log"));
}

TEST_F(StoreKeys, FromAFileReadWhatIsInNoStore) {
    use_store_keys();
    const auto file = folder_ / "kept";
    const auto id = make(file);
    ASSERT_TRUE(read_with_key(file));
    const auto keys = keys_of_database(folder_ / "backup" / "databases").value();
    EXPECT_FALSE(keys.current);
    EXPECT_TRUE(has(keys, id));
    EXPECT_TRUE(read_with_key(folder_ / "none").error().is(Reason::kNoSecret));
}

TEST_F(StoreKeys, AreThoseThatDatabasesAreWrittenWith) {
    use_store_keys();
    const auto id = make(store_key_file(store()));
    ASSERT_TRUE(storage::Database::open(store() / "log", {"first"}));
    const auto files = storage::files_at_rest(store() / "log");
    ASSERT_TRUE(files);
    EXPECT_EQ(files->plain, 0u);
    EXPECT_TRUE(files->by_key.contains(id));
    // a process that has met the key still does not write plainly beside encrypted files
    fs::remove(store_key_file(store()));
    const auto refused = storage::Database::open(store() / "log", {"first"});
    EXPECT_TRUE(!refused && refused.error().is(storage::Reason::kNoFileKey));
}

}  // namespace
}  // namespace rampart::runtime
