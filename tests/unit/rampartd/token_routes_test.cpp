#include "services/rampartd/api/token_routes.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "rampart/base/digest.hpp"
#include "support/asking.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

class FixedClock final : public base::Clock {
  public:
    base::TimePoint now() const override {
        return base::parse_iso8601("2026-11-26T10:00:00Z").value();
    }
};

class TokenRoutesTest : public testing::Test {
  protected:
    TokenRoutesTest()
        : folder_(fs::path(testing::TempDir()) / ("tokens" + base::to_hex(base::random_bytes(8)))) {
        fs::create_directories(folder_);
    }
    ~TokenRoutesTest() override { fs::remove_all(folder_); }

    std::string create(const std::string& body) { return api_.said("POST", "/v1/tokens", body); }
    std::vector<access::Entry> entries() { return access::read_principals(file()).value(); }
    fs::path file() const { return folder_ / "principals.toml"; }

    fs::path folder_;
    FixedClock clock_;
    std::vector<std::string> recorded_;
    int refreshed_ = 0;
    support::Asking api_{TokenRoutes({file(), clock_,
                                      [this](auto actor, auto operation, const auto& details) {
                                          recorded_.push_back(fmt::format("{} {} {}", actor,
                                                                          operation,
                                                                          details.at("principal")));
                                          return base::ok();
                                      },
                                      [this] {
                                          ++refreshed_;
                                          return base::ok();
                                      }})};
};

const std::string kAnna = R"({"name":"scoring","scopes":["decide","read"],)"
                          R"("expires":"2027-01-01","addresses":["10.0.0.0/8"]})";

TEST_F(TokenRoutesTest, ATokenIsMadeShownOnceAndRecorded) {
    const auto answer = api_.post("/v1/tokens", kAnna);
    EXPECT_EQ(answer.status, 201) << answer.body;
    const auto token = std::string(json::parse(answer.body).at("token").as_string());
    ASSERT_EQ(entries().size(), 1u);
    const auto one = entries().front();
    EXPECT_EQ(one.token_sha256, base::sha256(token).hex());
    EXPECT_EQ(one.scopes, (access::Scopes{access::Scope::kDecide, access::Scope::kRead}));
    EXPECT_EQ(one.expires, base::parse_iso8601("2027-01-01").value());
    EXPECT_EQ(recorded_, std::vector<std::string>{"anna token_create scoring"});
    EXPECT_EQ(refreshed_, 1);
    const auto listed = api_.get("/v1/tokens");
    EXPECT_EQ(listed.body.find(token), std::string::npos);
    EXPECT_EQ(listed.body.find(one.token_sha256), std::string::npos);
    EXPECT_NE(listed.body.find(R"("name":"scoring")"), std::string::npos) << listed.body;
}

TEST_F(TokenRoutesTest, WhatIsWrongIsRefusedAndLeavesNothing) {
    EXPECT_EQ(create("[]"), "400 bad_json");
    EXPECT_EQ(create(R"({"name":"a","scopes":["read"]})"), "400 missing_field");
    EXPECT_EQ(create(R"({"name":"a","scopes":[],"expires":null})"), "400 bad_principal");
    EXPECT_EQ(create(R"({"name":"a","scopes":"read","expires":null})"), "400 missing_field");
    EXPECT_EQ(create(R"({"name":"a","scopes":["root"],"expires":null})"), "400 unknown_scope");
    EXPECT_EQ(create(R"({"name":"A","scopes":["read"],"expires":null})"), "400 bad_principal");
    EXPECT_EQ(create(R"({"name":"a","scopes":["read"],"expires":"2026-01-01"})"), "400 bad_time");
    EXPECT_EQ(create(R"({"name":"a","scopes":["read"],"expires":null,"token":"x"})"),
              "400 unknown_field");
    EXPECT_EQ(create(R"({"name":"a","scopes":["read"],"expires":null,"addresses":["everywhere"]})"),
              "400 bad_principal");
    EXPECT_TRUE(recorded_.empty());
    EXPECT_FALSE(fs::exists(file()));
    EXPECT_EQ(api_.post("/v1/tokens", kAnna).status, 201);
    EXPECT_EQ(create(kAnna), "409 principal_exists");
}

TEST_F(TokenRoutesTest, TokensAreReplacedAndEnd) {
    ASSERT_EQ(api_.post("/v1/tokens", kAnna).status, 201);
    const auto before = entries().front();
    EXPECT_EQ(api_.post("/v1/tokens/scoring/rotate", R"({"grace_seconds":60})").status, 200);
    EXPECT_EQ(entries().front().previous_sha256, before.token_sha256);
    EXPECT_EQ(api_.said("POST", "/v1/tokens/scoring/rotate", R"({"grace_seconds":-1})"),
              "400 bad_number");
    EXPECT_EQ(api_.said("POST", "/v1/tokens/other/rotate", "{}"), "404 no_principal");
    EXPECT_EQ(api_.said("DELETE", "/v1/tokens/scoring"), R"(200 {"revoked":"scoring"})");
    EXPECT_TRUE(entries().empty());
    EXPECT_EQ(api_.said("DELETE", "/v1/tokens/scoring"), "404 no_principal");
}

}  // namespace
}  // namespace rampart::rampartd
