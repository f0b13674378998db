#include "rampart/runtime/store_start.hpp"

#include <gtest/gtest.h>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/runtime/secrets.hpp"

namespace rampart::runtime {
namespace {

namespace fs = std::filesystem;

/// A store is what has a file `data`.
class StoreStartTest : public testing::Test {
  protected:
    void SetUp() override {
        store_ = fs::path(testing::TempDir()) / ("start" + base::to_hex(base::random_bytes(8)));
    }
    void TearDown() override { fs::remove_all(store_); }

    base::Result<std::unique_ptr<StoreStart>> begin() {
        return StoreStart::begin(store_, {"data", "more"},
                                 [&] { return base::Result<bool>(fs::exists(store_ / "data")); });
    }
    std::vector<fs::path> keys() const { return {store_ / "keys" / "a", store_ / "keys" / "b"}; }
    void write(const char* name) const {
        ASSERT_TRUE(base::write_file_atomically(store_ / name, "x"));
    }
    /// A store with its secrets.
    std::vector<std::string> make() {
        const auto start = begin().value();
        const auto secrets = start->secrets(keys()).value();
        write("data");
        start->succeed();
        return secrets;
    }

    fs::path store_;
};

TEST_F(StoreStartTest, AFirstStartMakesWhatIsMissingAndKeepsWhatIsThere) {
    const auto given = load_or_create_secret(store_ / "keys" / "b").value();
    const auto secrets = make();
    ASSERT_EQ(secrets.size(), 2u);
    EXPECT_NE(secrets[0], given);
    EXPECT_EQ(secrets[1], given);
    const auto again = begin().value();
    EXPECT_FALSE(again->first());
    EXPECT_EQ(again->secrets(keys()).value(), secrets);
}

TEST_F(StoreStartTest, OfAStoreThatExistsNoSecretIsMadeAndAllThatAreMissingAreNamed) {
    make();
    fs::remove_all(store_ / "keys");
    const auto start = begin().value();
    const auto refused = start->secrets(keys());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "key_missing");
    for (const auto& key : keys()) {
        EXPECT_NE(refused.error().message.find(key.string()), std::string::npos);
    }
    EXPECT_NE(refused.error().message.find("ops/runbooks/backup.md"), std::string::npos);
    EXPECT_FALSE(fs::exists(store_ / "keys"));
}

TEST_F(StoreStartTest, AFirstStartThatFailsLeavesNothing) {
    {
        const auto start = begin().value();
        ASSERT_TRUE(start->secrets(keys()));
        fs::create_directories(store_ / "data" / "deep");
        write("more");
    }
    EXPECT_FALSE(fs::exists(store_));
}

TEST_F(StoreStartTest, AFirstStartThatFailsLeavesWhatWasThereBefore) {
    const auto given = load_or_create_secret(store_ / "keys" / "b").value();
    write("more");
    write("notes");
    {
        const auto start = begin().value();
        ASSERT_TRUE(start->secrets(keys()));
        write("data");
        write("other");  // not one of its entries
    }
    EXPECT_EQ(load_secret(store_ / "keys" / "b").value(), given);
    EXPECT_FALSE(fs::exists(store_ / "keys" / "a"));
    EXPECT_FALSE(fs::exists(store_ / "data"));
    for (const char* name : {"more", "notes", "other"}) EXPECT_TRUE(fs::exists(store_ / name));
}

TEST_F(StoreStartTest, ALaterStartThatFailsTakesNothingBack) {
    const auto secrets = make();
    {
        const auto start = begin().value();
        ASSERT_TRUE(start->secrets(keys()));
        write("more");
    }
    EXPECT_TRUE(fs::exists(store_ / "more"));
    EXPECT_EQ(begin().value()->secrets(keys()).value(), secrets);
}

TEST_F(StoreStartTest, NoTwoProcessesStartOnOneFolder) {
    auto first = begin().value();
    ASSERT_TRUE(first->secrets(keys()));
    const auto second = begin();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().reason, "database_in_use");
    EXPECT_TRUE(fs::exists(store_ / "keys" / "a"));
    first.reset();
    EXPECT_TRUE(begin());
}

TEST_F(StoreStartTest, WhatAKilledOneHadPutAsideIsSweptAway) {
    fs::create_directories(store_ / ".unmade" / "data");
    const auto start = begin().value();
    EXPECT_TRUE(start->first());
    EXPECT_FALSE(fs::exists(store_ / ".unmade"));
}

TEST_F(StoreStartTest, AFolderThatCannotBeMadeIsNamed) {
    const auto start =
        StoreStart::begin("/proc/rampart/store", {}, [] { return base::Result<bool>(false); });
    ASSERT_FALSE(start);
    EXPECT_EQ(start.error().reason, "no_store");
    EXPECT_NE(start.error().message.find("/proc/rampart/store"), std::string::npos);
}

}  // namespace
}  // namespace rampart::runtime
