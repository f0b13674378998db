#include "rampart/http/router.hpp"

#include <gtest/gtest.h>

#include "rampart/access/reasons.hpp"

namespace rampart::http {
namespace {

Request request(std::string method, std::string path, std::string token = {}) {
    Request r;
    r.method = std::move(method);
    r.path = std::move(path);
    if (!token.empty()) r.headers.push_back({"Authorization", std::move(token)});
    return r;
}

Handler says(std::string text) {
    return [text](const Request&) { return Response{200, text, "text/plain", {}}; };
}

Router sample() {
    Router router(access::one_token("secret"));
    router.add("GET", "/v1/decisions/{id}", kOpen, [](const Request& r) {
        return Response{200, r.path_values.at("id"), "text/plain", {}};
    });
    router.add("GET", "/v1/decisions/latest", kOpen, says("latest"));
    router.add("POST", "/v1/decisions", access::Scope::kRead, says("decided"));
    router.add("GET", "/", kOpen, says("root"));
    return router;
}

TEST(CallerOf, APageOfAnotherSiteHasNeitherCertificateNorSession) {
    auto head = request("POST", "/v1/rollback");
    head.client = "dns:anna";
    head.headers = {{"Cookie", "rampart_session=s"}, {"Host", "node:8080"}};
    const auto given = [&](std::vector<Header> more) {
        auto asked = head;
        for (auto& one : more) asked.headers.push_back(std::move(one));
        const auto caller = caller_of(asked);
        EXPECT_EQ(caller.certificate.empty(), caller.session.empty());
        return !caller.session.empty();
    };
    EXPECT_TRUE(given({}));
    for (const char* site : {"same-origin", "none"}) EXPECT_TRUE(given({{"Sec-Fetch-Site", site}}));
    for (const char* site : {"cross-site", "same-site", "?"})
        EXPECT_FALSE(given({{"Sec-Fetch-Site", site}})) << site;
    EXPECT_TRUE(given({{"Origin", "https://node:8080"}}));
    for (const char* origin : {"https://node:8081", "https://node", "null", "https://evil"})
        EXPECT_FALSE(given({{"Origin", origin}})) << origin;
    head.headers.push_back({"Authorization", "Bearer t"});
    head.headers.push_back({"Sec-Fetch-Site", "cross-site"});
    EXPECT_EQ(caller_of(head).token, "t") << "who has the token asks on purpose";
}

TEST(Router, FindsTheHandlerAndTheValuesInThePath) {
    const Router router = sample();
    EXPECT_EQ(router.handle(request("GET", "/v1/decisions/d1")).body, "d1");
    EXPECT_EQ(router.handle(request("GET", "/")).body, "root");
}

TEST(Router, ALiteralSegmentGoesBeforeAName) {
    EXPECT_EQ(sample().handle(request("GET", "/v1/decisions/latest")).body, "latest");
}

TEST(Router, AnUnknownPathIsNotFound) {
    const Router router = sample();
    for (const char* path : {"/v2", "/v1/decisions/", "/v1/decisions/a/b", "/v1", ""}) {
        const int status = router.handle(request("GET", path)).status;
        EXPECT_EQ(status, *path == 0 ? 400 : 404) << path;
    }
}

TEST(Router, AnotherMethodIsToldWhichAreAllowed) {
    const auto response = sample().handle(request("DELETE", "/v1/decisions"));
    EXPECT_EQ(response.status, 405);
    EXPECT_EQ(response.header("Allow"), "POST");
}

TEST(Router, AProtectedRouteWantsTheToken) {
    const Router router = sample();
    EXPECT_EQ(router.handle(request("POST", "/v1/decisions", "Bearer secret")).body, "decided");
    for (const char* token : {"", "Bearer", "Bearer ", "Bearer secre", "Bearer secrets",
                              "bearer secret", "secret", "Basic secret"}) {
        const auto response = router.handle(request("POST", "/v1/decisions", token));
        EXPECT_EQ(response.status, 401) << token;
        EXPECT_EQ(response.header("WWW-Authenticate"), "Bearer");
    }
}

TEST(Router, WithoutATokenProtectedRoutesRefuseEverybody) {
    Router router;
    router.add("POST", "/x", access::Scope::kRead, says("done"));
    EXPECT_EQ(router.handle(request("POST", "/x", "Bearer ")).status, 401);
    EXPECT_EQ(router.handle(request("POST", "/x")).status, 401);
}

TEST(Router, ARouteWantsItsScopeAndItsHandlerKnowsWhoCalls) {
    Router router(access::one_token("t", {"anna", {access::Scope::kRead}}));
    const auto names = [](const Request& r) {
        return Response{200, r.principal, "text/plain", {}};
    };
    router.add("GET", "/x", access::Scope::kRead, names);
    router.add("POST", "/x", access::Scope::kErase, names);
    router.add("GET", "/open", kOpen, names);
    EXPECT_EQ(router.handle(request("GET", "/x", "Bearer t")).body, "anna");
    const auto refused = router.handle(request("POST", "/x", "Bearer t"));
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(refused.reason, "missing_scope");
    EXPECT_EQ(refused.header("WWW-Authenticate"),
              "Bearer error=\"insufficient_scope\", scope=\"erase\"");
    EXPECT_EQ(router.handle(request("GET", "/open", "Bearer t")).body, "");
}

/// Knows the one who shows the certificate, from one address.
class ByCertificate final : public access::Authenticator {
  public:
    base::Result<access::Principal> identify(const access::Caller& caller) const override {
        if (caller.certificate == "DNS:a" && caller.address == "10.0.0.1")
            return access::Principal{"machine", access::Scopes::all()};
        return base::make_error(access::Reason::kUnauthenticated, "token '{}'", caller.token);
    }
};

TEST(Router, ACertificateCountsUnlessATokenIsSent) {
    Router router(std::make_shared<ByCertificate>());
    router.add("GET", "/x", access::Scope::kRead, says("done"));
    const auto status = [&](std::string authorization) {
        auto asked = request("GET", "/x", std::move(authorization));
        asked.client = "DNS:a";
        asked.address = "10.0.0.1";
        return router.handle(asked).status;
    };
    EXPECT_EQ(status(""), 200);
    EXPECT_EQ(status("Basic abc"), 401) << "credentials of another kind are not overlooked";
}

TEST(Router, TheCookieOfASessionSaysWhoCallsUnlessATokenIsSent) {
    const auto caller = [](const std::string& cookies, const char* method = "GET",
                           const std::string& authorization = "") {
        static Request asked;  // the views of a caller are its
        asked = request(method, "/x", authorization);
        asked.headers.push_back({"Cookie", cookies});
        asked.headers.push_back({"X-Rampart-Write-Key", "key"});
        return caller_of(asked);
    };
    EXPECT_EQ(caller("a=b; rampart_session=abc; c=d").session, "abc");
    EXPECT_EQ(caller("rampart_session=abc; __Host-rampart_session=def").session, "def");
    for (const char* none : {"", "rampart_session", "xrampart_session=a", "rampart_sessions=a", ";",
                             "a=rampart_session=b"})
        EXPECT_EQ(caller(none).session, "") << none;
    EXPECT_EQ(caller("rampart_session=abc").write_key, "key");
    EXPECT_FALSE(caller("rampart_session=abc").writes);
    for (const char* method : {"POST", "DELETE", "PUT"}) EXPECT_TRUE(caller("", method).writes);
    EXPECT_EQ(caller("rampart_session=abc", "GET", "Bearer t").session, "");
    EXPECT_EQ(caller("rampart_session=abc", "GET", "Bearer t").token, "t");
}

TEST(Router, APlanIsMadeFromTheHeadAlone) {
    Router router(access::one_token("secret"));
    router.add("GET", "/healthz", kOpen, says("ok"), Lane::kInline);
    router.add("POST", "/v1/x/{id}", access::Scope::kRead, says("done"), Lane::kAdministrative);
    auto probe = request("GET", "/healthz");
    const auto open = router.plan(probe);
    EXPECT_FALSE(open.refusal);
    EXPECT_EQ(open.lane, Lane::kInline);
    EXPECT_EQ(open.max_body_bytes, kMaxOpenBody);
    auto known = request("POST", "/v1/x/7", "Bearer secret");
    const auto plan = router.plan(known);
    EXPECT_EQ(plan.lane, Lane::kAdministrative);
    EXPECT_EQ(plan.max_body_bytes, SIZE_MAX);
    EXPECT_EQ((*plan.handler)(known).body, "done");
    EXPECT_EQ(known.path_values.at("id"), "7");
    auto stranger = request("POST", "/v1/x/7");
    EXPECT_EQ(router.plan(stranger).refusal->status, 401);
    EXPECT_EQ(router.plan(stranger).handler, nullptr);
}

TEST(Router, AHandlerThatThrowsIsAnInternalError) {
    Router router;
    router.add("GET", "/x", kOpen,
               [](const Request&) -> Response { throw std::runtime_error("secret detail"); });
    const auto response = router.handle(request("GET", "/x"));
    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(response.body.find("secret detail"), std::string::npos);
}

TEST(Router, ListsItsRoutesInOrder) {
    const auto routes = sample().routes();
    ASSERT_EQ(routes.size(), 4u);
    EXPECT_EQ(routes[2], (Router::Route{"POST", "/v1/decisions", access::Scope::kRead}));
}

TEST(RouterDeathTest, TheSameRouteTwiceIsADefect) {
    Router router = sample();
    EXPECT_DEATH(router.add("GET", "/v1/decisions/{other}", kOpen, says("x")), "twice");
}

}  // namespace
}  // namespace rampart::http
