#include "rampart/runtime/secrets.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"

namespace rampart::runtime {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;

/// A folder of this test's own, gone afterwards.
class Secrets : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) / ("secrets" + base::to_hex(base::random_bytes(8)));
    }
    void TearDown() override { fs::remove_all(folder_); }
    fs::path folder_;
};

TEST_F(Secrets, AreMadeOnceAndReadAgain) {
    const auto path = folder_ / "sub" / "draw.key";
    const auto made = load_or_create_secret(path);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->size(), 32u);
    EXPECT_EQ(load_or_create_secret(path).value(), *made);
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_NE(load_or_create_secret(folder_ / "other.key").value(), *made);
}

TEST_F(Secrets, LoadingMakesNone) {
    const auto path = folder_ / "key";
    const auto secret = load_secret(path);
    ASSERT_FALSE(secret);
    EXPECT_EQ(secret.error().code, ErrorCode::kNotFound);
    EXPECT_FALSE(fs::exists(folder_));
    const auto made = load_or_create_secret(path);
    EXPECT_EQ(load_secret(path).value(), made.value());
}

TEST_F(Secrets, AFileThatOthersCanReadIsRefused) {
    const auto path = folder_ / "key";
    ASSERT_TRUE(load_or_create_secret(path));
    for (const auto perm :
         {fs::perms::group_read, fs::perms::others_read, fs::perms::others_write}) {
        fs::permissions(path, fs::perms::owner_read | perm);
        const auto secret = load_or_create_secret(path);
        ASSERT_FALSE(secret);
        EXPECT_EQ(secret.error().code, ErrorCode::kPermissionDenied);
        EXPECT_NE(secret.error().message.find(path.string()), std::string::npos);
        EXPECT_NE(secret.error().message.find("chmod 600"), std::string::npos);
    }
}

TEST_F(Secrets, ADamagedFileIsNotReplaced) {
    const auto path = folder_ / "key";
    fs::create_directories(folder_);
    for (const char* content : {"", "\n", "abcd\n", "zz"}) {
        ASSERT_TRUE(base::write_file_atomically(path, content, 0600));
        const auto secret = load_or_create_secret(path);
        ASSERT_FALSE(secret) << content;
        EXPECT_EQ(secret.error().code, ErrorCode::kDataLoss);
        EXPECT_EQ(base::read_file(path, 100).value(), content);
    }
}

TEST_F(Secrets, AFolderThatCannotBeMadeIsNamed) {
    const auto secret = load_or_create_secret("/proc/rampart/key");
    ASSERT_FALSE(secret);
    EXPECT_NE(secret.error().message.find("/proc/rampart"), std::string::npos);
}

TEST_F(Secrets, WhatOthersCanReachIsNamedWithTheRemedy) {
    const auto store = folder_ / "store";
    fs::create_directories(store / "registry");
    fs::create_directories(store / "shut");
    for (const char* name : {"log", "own", "registry/model", "shut/inside"}) {
        ASSERT_TRUE(base::write_file_atomically(store / name, "x"));
        fs::permissions(store / name, fs::perms(0644));
    }
    for (const char* name : {"", "registry"}) fs::permissions(store / name, fs::perms(0755));
    fs::permissions(store / "own", fs::perms(0600));
    fs::permissions(store / "shut", fs::perms(0700));
    fs::create_symlink("own", store / "link");  // its own mode is 0777 and opens nothing
    EXPECT_EQ(exposed_in(store), (std::vector<fs::path>{store, store / "log", store / "registry",
                                                        store / "registry" / "model"}));
    testing::internal::CaptureStderr();
    warn_of_exposed(store);
    const auto logged = testing::internal::GetCapturedStderr();
    EXPECT_NE(logged.find("4 files and folders"), std::string::npos) << logged;
    EXPECT_NE(logged.find("chmod -R go= " + store.string()), std::string::npos) << logged;

    fs::permissions(store, fs::perms(0700));
    EXPECT_TRUE(exposed_in(store).empty()) << "nothing can be reached through it";
    testing::internal::CaptureStderr();
    warn_of_exposed(store);
    warn_of_exposed(store / "none");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(Secrets, TheIdOfASecretDoesNotHoldIt) {
    const std::string secret(32, 'k');
    EXPECT_EQ(secret_id(secret).size(), 16u);
    EXPECT_EQ(secret_id(secret), secret_id(secret));
    EXPECT_NE(secret_id(secret), secret_id(std::string(32, 'l')));
    EXPECT_EQ(base::to_hex(secret).find(secret_id(secret)), std::string::npos);
}

}  // namespace
}  // namespace rampart::runtime
