#include "services/rampartd/api/session_routes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "rampart/registry/reasons.hpp"

namespace rampart::rampartd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace json = boost::json;

class FixedClock final : public base::Clock {
  public:
    base::TimePoint now() const override {
        return base::parse_iso8601("2026-11-28T10:00:00Z").value();
    }
};

class SessionRoutesTest : public testing::Test {
  protected:
    explicit SessionRoutesTest(bool tls = false) {
        SessionRoutes({sessions_,
                       [this](auto actor, auto operation) -> base::Status {
                           if (!records_)
                               return base::make_error(registry::Reason::kAuditEntry, "full");
                           recorded_.push_back(fmt::format("{} {}", actor, operation));
                           return base::ok();
                       },
                       tls})
            .add_to(router_);
        router_.add("POST", "/v1/change", access::Scope::kOperate, [](const auto& request) {
            return http::Response{200, request.principal, "text/plain", {}};
        });
    }
    http::Response ask(const std::string& method, const std::string& path,
                       std::vector<http::Header> headers) {
        http::Request request;
        request.method = method;
        request.path = path;
        request.headers = std::move(headers);
        return router_.handle(std::move(request));
    }
    http::Response open() {
        return ask("POST", "/v1/session", {{"Authorization", "Bearer secret"}});
    }
    static std::string text(const http::Response& response, const char* member) {
        return std::string(json::parse(response.body).at(member).as_string());
    }
    /// Returns the pair of a Set-Cookie header, as a browser sends it back.
    static std::string cookie_of(const http::Response& response) {
        const std::string set(response.header("Set-Cookie"));
        return set.substr(0, set.find(';'));
    }

    FixedClock clock_;
    bool records_ = true;
    std::vector<std::string> recorded_;
    std::shared_ptr<access::Sessions> sessions_shared_ = std::make_shared<access::Sessions>(
        access::one_token("secret", {"anna", {access::Scope::kOperate}}), clock_);
    access::Sessions& sessions_ = *sessions_shared_;
    http::Router router_{sessions_shared_};
};

class SessionRoutesOverTls : public SessionRoutesTest {
  protected:
    SessionRoutesOverTls() : SessionRoutesTest(true) {}
};

TEST_F(SessionRoutesTest, ATokenIsExchangedForACookieOfScriptsReach) {
    const auto opened = open();
    EXPECT_EQ(opened.status, 200) << opened.body;
    EXPECT_THAT(std::string(opened.header("Set-Cookie")),
                testing::MatchesRegex(
                    "rampart_session=[0-9a-f]+; Path=/; Max-Age=28800; HttpOnly; SameSite=Strict"));
    EXPECT_EQ(opened.body.find(cookie_of(opened).substr(16)), std::string::npos);
    EXPECT_EQ(opened.body.find("secret"), std::string::npos);
    EXPECT_EQ(text(opened, "principal"), "anna");
    EXPECT_EQ(text(opened, "ends"), "2026-11-28T18:00:00Z");
    EXPECT_THAT(opened.body, HasSubstr(R"("scopes":["operate"])"));
    const auto asked = ask("GET", "/v1/session", {{"Cookie", "a=b; " + cookie_of(opened)}});
    EXPECT_EQ(asked.body, opened.body);
    EXPECT_THAT(recorded_, ElementsAre("anna sign_in"));
}

TEST_F(SessionRoutesOverTls, TheCookieIsForThisHostOverTlsOnly) {
    EXPECT_THAT(std::string(open().header("Set-Cookie")),
                testing::MatchesRegex("__Host-rampart_session=[0-9a-f]+; Path=/; .*; Secure"));
    const auto opened = open();
    EXPECT_EQ(ask("GET", "/v1/session", {{"Cookie", cookie_of(opened)}}).status, 200);
}

TEST_F(SessionRoutesTest, NoOtherCallerGetsOne) {
    for (const auto& headers : std::vector<std::vector<http::Header>>{
             {}, {{"Authorization", "Bearer wrong"}}, {{"Authorization", "Basic secret"}}}) {
        const auto refused = ask("POST", "/v1/session", headers);
        EXPECT_EQ(refused.status, 401);
        EXPECT_EQ(refused.header("WWW-Authenticate"), "Bearer");
        EXPECT_EQ(refused.header("Set-Cookie"), "");
    }
    const auto none = ask("GET", "/v1/session", {{"Authorization", "Bearer secret"}});
    EXPECT_EQ(none.status, 401) << "a token is no session";
    EXPECT_EQ(text(none, "reason"), "session_ended");
    EXPECT_TRUE(recorded_.empty());
}

TEST_F(SessionRoutesTest, WhatChangesSomethingNeedsTheWriteKey) {
    const auto opened = open();
    const http::Header cookie{"Cookie", cookie_of(opened)};
    const http::Header key{"X-Rampart-Write-Key", text(opened, "write_key")};
    const auto refused = ask("POST", "/v1/change", {cookie});
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(text(refused, "reason"), "write_key_missing");
    EXPECT_EQ(ask("POST", "/v1/change", {cookie, {"X-Rampart-Write-Key", "x"}}).status, 403);
    EXPECT_EQ(ask("POST", "/v1/change", {key}).status, 401);
    EXPECT_EQ(ask("POST", "/v1/change", {cookie, key}).body, "anna");
    EXPECT_EQ(ask("POST", "/v1/change", {{"Authorization", "Bearer wrong"}, cookie, key}).status,
              401)
        << "where a token is sent, it counts";
}

TEST_F(SessionRoutesTest, SigningOutEndsIt) {
    const auto opened = open();
    const http::Header cookie{"Cookie", cookie_of(opened)};
    EXPECT_EQ(ask("DELETE", "/v1/session", {cookie}).status, 403);
    EXPECT_EQ(ask("GET", "/v1/session", {cookie}).status, 200);
    const auto ended =
        ask("DELETE", "/v1/session", {cookie, {"X-Rampart-Write-Key", text(opened, "write_key")}});
    EXPECT_EQ(ended.status, 200);
    EXPECT_THAT(std::string(ended.header("Set-Cookie")),
                HasSubstr("rampart_session=; Path=/; Max-Age=0"));
    EXPECT_EQ(ask("GET", "/v1/session", {cookie}).status, 401);
    EXPECT_THAT(recorded_, ElementsAre("anna sign_in", "anna sign_out"));
}

TEST_F(SessionRoutesTest, WithoutARecordThereIsNoSession) {
    records_ = false;
    const auto refused = open();
    EXPECT_NE(refused.status, 200);
    EXPECT_EQ(refused.header("Set-Cookie"), "");
}

}  // namespace
}  // namespace rampart::rampartd
