#include "rampart/access/principals.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <thread>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"

namespace rampart::access {
namespace {

namespace fs = std::filesystem;
using base::Duration;
using base::TimePoint;

const TimePoint kNow = base::parse_iso8601("2026-11-26T10:00:00Z").value();

class Principals : public testing::Test {
  protected:
    Principals()
        : folder_(fs::path(testing::TempDir()) /
                  ("principals" + base::to_hex(base::random_bytes(8)))) {
        fs::create_directories(folder_);
    }
    ~Principals() override { fs::remove_all(folder_); }

    static Entry anna() {
        return {.name = "anna", .scopes = {Scope::kRead, Scope::kErase}, .created = kNow};
    }
    std::string text() const { return base::read_file(file(), 1 << 20).value(); }
    void write(const std::string& text) {
        ASSERT_TRUE(base::write_file_atomically(file(), text, 0600));
    }
    fs::path file() const { return folder_ / "principals.toml"; }
    fs::path folder_;
};

TEST_F(Principals, AreReadAsTheyWereWritten) {
    auto full = anna();
    full.token_sha256 = base::sha256("t").hex();
    full.previous_sha256 = base::sha256("u").hex();
    full.previous_until = kNow + Duration::hours(3);
    full.certificate = "DNS:scoring.example";
    full.addresses = {"10.0.0.0/8", "2001:db8::/32"};
    full.expires = kNow + Duration::days(90);
    Entry bare{.name = "b.2-c_d",
               .scopes = {Scope::kDecide},
               .certificate = "subject:CN=b",
               .created = kNow};
    ASSERT_TRUE(add_principal(file(), full));
    ASSERT_TRUE(add_principal(file(), bare));
    EXPECT_EQ(read_principals(file()).value(), (std::vector<Entry>{full, bare}));
    EXPECT_EQ(fs::status(file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Principals, AFileThatIsNotThereHasNone) {
    EXPECT_TRUE(read_principals(file()).value().empty());
}

TEST_F(Principals, ATokenIsRandomAndTheFileHoldsItsDigestOnly) {
    const auto token = create(file(), anna()).value();
    EXPECT_EQ(token.size(), std::string("rampart_").size() + 64);
    EXPECT_EQ(text().find(token), std::string::npos);
    EXPECT_EQ(text().find(token.substr(8)), std::string::npos);
    EXPECT_EQ(read_principals(file()).value().front().token_sha256, base::sha256(token).hex());
    auto other = anna();
    other.name = "bert";
    EXPECT_NE(create(file(), other).value(), token);
}

TEST_F(Principals, ANameIsTakenOnce) {
    ASSERT_TRUE(create(file(), anna()));
    const auto before = text();
    EXPECT_EQ(create(file(), anna()).error().reason, "principal_exists");
    EXPECT_EQ(text(), before);
}

TEST_F(Principals, RevokedOnesAreGone) {
    ASSERT_TRUE(create(file(), anna()));
    ASSERT_TRUE(revoke(file(), "anna"));
    EXPECT_TRUE(read_principals(file()).value().empty());
    EXPECT_EQ(revoke(file(), "anna").error().reason, "no_principal");
}

TEST_F(Principals, RotationKeepsTheTokenBeforeForTheGraceOnly) {
    const auto first = create(file(), anna()).value();
    const auto second = rotate(file(), "anna", kNow, Duration::hours(2)).value();
    auto entry = read_principals(file()).value().front();
    EXPECT_EQ(entry.token_sha256, base::sha256(second).hex());
    EXPECT_EQ(entry.previous_sha256, base::sha256(first).hex());
    EXPECT_EQ(entry.previous_until, kNow + Duration::hours(2));
    ASSERT_TRUE(rotate(file(), "anna", kNow, Duration()));
    entry = read_principals(file()).value().front();
    EXPECT_TRUE(entry.previous_sha256.empty());
    EXPECT_FALSE(entry.previous_until);
    EXPECT_EQ(rotate(file(), "bert", kNow, Duration()).error().reason, "no_principal");
}

TEST_F(Principals, ManyAtOnceLoseNone) {
    constexpr int kThreads = 8, kEach = 5;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < kEach; ++i) {
                auto entry = anna();
                entry.name = fmt::format("p{}-{}", t, i);
                EXPECT_TRUE(create(file(), entry));
            }
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(read_principals(file()).value().size(), size_t{kThreads * kEach});
}

TEST_F(Principals, WhatIsWrongIsNamed) {
    const auto refused = [&](auto change) {
        auto entry = anna();
        entry.token_sha256 = base::sha256("t").hex();
        change(entry);
        const auto status = add_principal(file(), entry);
        return status ? std::string() : status.error().reason + " " + status.error().message;
    };
    EXPECT_EQ(refused([](Entry&) {}), "");
    ASSERT_TRUE(revoke(file(), "anna"));
    const std::pair<std::string, std::function<void(Entry&)>> cases[] = {
        {"name ''", [](Entry& e) { e.name = ""; }},
        {"name 'a b'", [](Entry& e) { e.name = "a b"; }},
        {"name 'a\"", [](Entry& e) { e.name = "a\"\nscopes"; }},
        {"name '-a'", [](Entry& e) { e.name = "-a"; }},
        {"1 to 64", [](Entry& e) { e.name = std::string(65, 'a'); }},
        {"no scope", [](Entry& e) { e.scopes = {}; }},
        {"neither", [](Entry& e) { e.token_sha256 = ""; }},
        {"no SHA-256", [](Entry& e) { e.token_sha256 = "abc"; }},
        {"go together", [](Entry& e) { e.previous_sha256 = base::sha256("u").hex(); }},
        {"'10.0.0.0/33'", [](Entry& e) { e.addresses = {"10.0.0.0/33"}; }},
        {"'host'", [](Entry& e) { e.addresses = {"host"}; }},
        {"51 networks", [](Entry& e) { e.addresses.assign(51, "10.0.0.0/8"); }},
        {"'CN=x'", [](Entry& e) { e.certificate = "CN=x"; }},
        {"DNS:\"", [](Entry& e) { e.certificate = "DNS:\""; }},
    };
    for (const auto& [named, change] : cases) {
        const auto said = refused(change);
        EXPECT_TRUE(said.starts_with("bad_principal ")) << said;
        EXPECT_NE(said.find(named), std::string::npos) << said << " without " << named;
    }
    EXPECT_TRUE(read_principals(file()).value().empty());
}

TEST_F(Principals, AFileThatOthersCanReadIsRefused) {
    ASSERT_TRUE(create(file(), anna()));
    fs::permissions(file(), fs::perms::group_read, fs::perm_options::add);
    EXPECT_EQ(read_principals(file()).error().reason, "secret_exposed");
}

TEST_F(Principals, ADamagedFileIsAnErrorAndStaysAsItIs) {
    for (const char* bad :
         {"[[principal]]\nname = \"a\"\n", "[[principal]]\nname = \"a\"\nscopes = [\"all\"]\n",
          "[[principal]]\nname = \"a\"\nscopes = [\"read\"]\nadmin = true\n", "x",
          "[[principal]]\nname = \"a\"\nscopes = [\"read\"]\nexpires = \"soon\"\n"}) {
        write(bad);
        EXPECT_FALSE(read_principals(file())) << bad;
        EXPECT_FALSE(create(file(), anna())) << bad;
        EXPECT_EQ(text(), bad);
    }
}

TEST_F(Principals, TwoOfOneNameAreRefused) {
    ASSERT_TRUE(create(file(), anna()));
    const auto one = text();
    write(one + one.substr(one.find("[[")));
    EXPECT_NE(read_principals(file()).error().message.find("twice"), std::string::npos);
}

TEST(Allows, ByNetwork) {
    EXPECT_TRUE(allows({}, "203.0.113.9"));
    const std::vector<std::string> networks{"10.0.0.0/8", "192.0.2.7/32", "2001:db8::/32"};
    for (const char* inside :
         {"10.0.0.0", "10.255.255.255", "192.0.2.7", "2001:db8::1", "::ffff:10.1.2.3"})
        EXPECT_TRUE(allows(networks, inside)) << inside;
    for (const char* outside : {"11.0.0.0", "9.255.255.255", "192.0.2.8", "2001:db9::1", "::1",
                                "::ffff:11.0.0.0", "", "x", "10.0.0.1 "})
        EXPECT_FALSE(allows(networks, outside)) << outside;
    EXPECT_TRUE(allows({"0.0.0.0/0"}, "203.0.113.9"));
    EXPECT_FALSE(allows({"0.0.0.0/0"}, "::1"));
}

}  // namespace
}  // namespace rampart::access
