#include "rampart/access/directory.hpp"

#include <gtest/gtest.h>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"

namespace rampart::access {
namespace {

namespace fs = std::filesystem;
using base::Duration;
using base::TimePoint;

class FixedClock final : public base::Clock {
  public:
    TimePoint now() const override { return time; }
    TimePoint time = base::parse_iso8601("2026-11-26T10:00:00Z").value();
};

class DirectoryTest : public testing::Test {
  protected:
    DirectoryTest()
        : folder_(fs::path(testing::TempDir()) /
                  ("directory" + base::to_hex(base::random_bytes(8)))) {
        fs::create_directories(folder_);
    }
    ~DirectoryTest() override { fs::remove_all(folder_); }

    Files files() const { return {folder_ / "principals.toml", folder_ / "token"}; }
    std::shared_ptr<Directory> open() { return Directory::open(files(), clock_).value(); }
    std::string add(Entry entry) {
        entry.created = clock_.time;
        return create(files().principals, entry).value();
    }
    /// Returns the name of the principal, or the reason of the refusal.
    static std::string said(const Directory& directory, const Caller& caller) {
        const auto known = directory.identify(caller);
        return known ? known->name : known.error().reason;
    }
    std::string token_file() const {
        auto text = base::read_file(files().token, 1000).value();
        text.pop_back();
        return text;
    }

    FixedClock clock_;
    fs::path folder_;
};

TEST_F(DirectoryTest, TheFirstTokenCanMakeTokensForOneDay) {
    const auto directory = open();
    const auto first = directory->identify({.token = token_file()}).value();
    EXPECT_EQ(first.name, "first");
    EXPECT_EQ(first.scopes, Scopes{Scope::kGrant});
    EXPECT_EQ(fs::status(files().token).permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
    clock_.time = clock_.time + Duration::days(1);
    EXPECT_EQ(said(*directory, {.token = token_file()}), "token_expired");
    EXPECT_EQ(said(*open(), {.token = token_file()}), "token_expired") << "no new one comes";
}

TEST_F(DirectoryTest, TheTokenOfAnEarlierReleaseWorksForSomeTimeAndMakesNoOther) {
    ASSERT_TRUE(base::write_file_atomically(files().token, "old token\n", 0600));
    const auto directory = open();
    const auto earlier = directory->identify({.token = "old token"}).value();
    EXPECT_EQ(earlier.name, "earlier");
    EXPECT_TRUE(earlier.scopes.has(Scope::kDecide));
    EXPECT_FALSE(earlier.scopes.has(Scope::kGrant));
    EXPECT_EQ(token_file(), "old token");
    clock_.time = clock_.time + Duration::days(30);
    EXPECT_EQ(said(*directory, {.token = "old token"}), "token_expired");
}

TEST_F(DirectoryTest, KnowsByTokenAndByCertificate) {
    const auto token = add({.name = "anna", .scopes = {Scope::kRead}});
    const auto bound = add({.name = "bound", .scopes = {Scope::kRead}, .certificate = "DNS:bound"});
    ASSERT_TRUE(add_principal(files().principals, {.name = "machine",
                                                   .scopes = {Scope::kDecide},
                                                   .certificate = "DNS:machine",
                                                   .created = clock_.time}));
    const auto directory = open();
    EXPECT_EQ(said(*directory, {.token = token}), "anna");
    EXPECT_EQ(said(*directory, {.certificate = "DNS:machine"}), "machine");
    EXPECT_EQ(said(*directory, {.token = token, .certificate = "DNS:machine"}), "anna");
    EXPECT_EQ(said(*directory, {.token = bound, .certificate = "DNS:bound"}), "bound");
    for (const Caller& stranger :
         {Caller{}, Caller{.token = token.substr(1)}, Caller{.token = token + " "},
          Caller{.token = bound}, Caller{.token = bound, .certificate = "DNS:machine"},
          Caller{.certificate = "DNS:bound"}, Caller{.certificate = "DNS:machin"},
          Caller{.token = base::sha256(token).hex()}})
        EXPECT_EQ(said(*directory, stranger), "unauthenticated")
            << stranger.token << ' ' << stranger.certificate;
    const std::string long_one(10'000, 'a');
    EXPECT_EQ(said(*directory, {.token = long_one}), "unauthenticated");
    EXPECT_EQ(said(*directory, {.token = "wrong", .certificate = "DNS:machine"}), "unauthenticated")
        << "a wrong token is not made good by a certificate";
}

TEST_F(DirectoryTest, EndsAndNetworksHold) {
    const auto token = add({.name = "anna",
                            .scopes = {Scope::kRead},
                            .addresses = {"10.0.0.0/8"},
                            .expires = clock_.time + Duration::hours(1)});
    const auto directory = open();
    EXPECT_EQ(said(*directory, {.token = token, .address = "10.1.2.3"}), "anna");
    EXPECT_EQ(said(*directory, {.token = token, .address = "127.0.0.1"}), "address_not_allowed");
    EXPECT_EQ(said(*directory, {.token = token}), "address_not_allowed");
    clock_.time = clock_.time + Duration::hours(1);
    EXPECT_EQ(said(*directory, {.token = token, .address = "10.1.2.3"}), "token_expired");
}

TEST_F(DirectoryTest, FollowsTheFile) {
    const auto first = add({.name = "anna", .scopes = {Scope::kRead}});
    const auto directory = open();
    EXPECT_FALSE(directory->refresh().value());
    const auto second = rotate(files().principals, "anna", clock_.time, Duration::hours(1)).value();
    EXPECT_EQ(said(*directory, {.token = second}), "unauthenticated");
    EXPECT_TRUE(directory->refresh().value());
    EXPECT_EQ(said(*directory, {.token = second}), "anna");
    EXPECT_EQ(said(*directory, {.token = first}), "anna");
    clock_.time = clock_.time + Duration::hours(1);
    EXPECT_EQ(said(*directory, {.token = first}), "unauthenticated");
    ASSERT_TRUE(revoke(files().principals, "anna"));
    EXPECT_TRUE(directory->refresh().value());
    EXPECT_EQ(said(*directory, {.token = second}), "unauthenticated");
    EXPECT_TRUE(directory->entries().empty());
}

TEST_F(DirectoryTest, AFileThatCannotBeReadChangesNothingAndIsToldOnce) {
    const auto token = add({.name = "anna", .scopes = {Scope::kRead}});
    const auto directory = open();
    ASSERT_TRUE(base::write_file_atomically(files().principals, "damaged", 0600));
    EXPECT_FALSE(directory->refresh());
    EXPECT_EQ(said(*directory, {.token = token}), "anna");
    EXPECT_FALSE(directory->refresh().value());
    EXPECT_FALSE(Directory::open(files(), clock_)) << "a start is refused";
}

TEST_F(DirectoryTest, WithoutItsFileNoOneIsKnown) {
    const auto token = add({.name = "anna", .scopes = {Scope::kRead}});
    const auto directory = open();
    fs::remove(files().principals);
    EXPECT_TRUE(directory->refresh().value());
    EXPECT_EQ(said(*directory, {.token = token}), "unauthenticated");
}

}  // namespace
}  // namespace rampart::access
