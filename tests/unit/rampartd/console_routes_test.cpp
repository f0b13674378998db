#include "services/rampartd/api/console_routes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <regex>

namespace rampart::rampartd {
namespace {

using testing::HasSubstr;
using testing::Not;

http::Response get(const std::string& target, const std::string& codings = "") {
    http::Router router;
    ConsoleRoutes(console_bundle()).add_to(router);
    http::Request request;
    request.method = "GET";
    if (const auto parsed = http::parse_target(target, request); !parsed)
        return http::error_response(parsed.error());
    if (!codings.empty()) request.headers = {{"Accept-Encoding", codings}};
    return router.handle(std::move(request));
}

/// Returns what the page asks for.
std::vector<std::string> asked_for() {
    const std::string page = get("/console/").body;
    const std::regex link(R"((?:src|href)="([^"]+)\")");
    std::vector<std::string> targets;
    for (std::sregex_iterator at(page.begin(), page.end(), link), end; at != end; ++at)
        targets.push_back((*at)[1]);
    return targets;
}

TEST(ConsoleRoutes, ThePageIsThereWithoutAToken) {
    const auto page = get("/console/");
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
    EXPECT_EQ(page.header("Cache-Control"), "no-cache");
    EXPECT_EQ(get("/console").body, page.body);
    EXPECT_EQ(get("/console/index.html").body, page.body);
    EXPECT_THAT(page.body, Not(HasSubstr("<style")));
    EXPECT_THAT(page.body, Not(HasSubstr("style=")));
    EXPECT_THAT(page.body, Not(testing::ContainsRegex("<script[^>]*>[^<]"))) << "inline script";
}

TEST(ConsoleRoutes, AllThatThePageAsksForIsThereAndNothingElsewhere) {
    const auto targets = asked_for();
    EXPECT_GE(targets.size(), 3u);
    for (const auto& target : targets) {
        EXPECT_TRUE(target.starts_with("/console/")) << target;
        const auto file = get(target);
        EXPECT_EQ(file.status, 200) << target;
        EXPECT_EQ(file.header("Cache-Control"), "public, max-age=31536000, immutable");
        EXPECT_THAT(target, testing::ContainsRegex("-[A-Za-z0-9_-]{8}[.]")) << "has no digest";
    }
}

TEST(ConsoleRoutes, APolicyAllowsNothingFromElsewhere) {
    auto targets = asked_for();
    targets.push_back("/console/");
    for (const auto& target : targets) {
        const auto file = get(target);
        const std::string policy(file.header("Content-Security-Policy"));
        EXPECT_THAT(policy, HasSubstr("default-src 'self'"));
        EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
        EXPECT_THAT(policy, HasSubstr("base-uri 'none'"));
        EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
        EXPECT_EQ(file.header("Referrer-Policy"), "no-referrer");
        EXPECT_EQ(file.header("Cross-Origin-Opener-Policy"), "same-origin");
        EXPECT_EQ(file.header("Vary"), "Accept-Encoding");
    }
}

TEST(ConsoleRoutes, IsCompressedForWhoTakesIt) {
    const auto plain = get("/console/");
    EXPECT_EQ(plain.header("Content-Encoding"), "");
    for (const char* codings : {"gzip", "deflate, gzip;q=0.5", "br, gzip"}) {
        const auto packed = get("/console/", codings);
        EXPECT_EQ(packed.header("Content-Encoding"), "gzip") << codings;
        EXPECT_EQ(packed.body.substr(0, 2), "\x1f\x8b");
    }
    for (const char* codings : {"br", "gzip;q=0", "gzip; q=0.0"})
        EXPECT_EQ(get("/console/", codings).body, plain.body) << codings;
}

TEST(ConsoleRoutes, TheScriptIsFarBelowItsBound) {
    size_t script = 0;
    for (const auto& file : console_bundle()) {
        EXPECT_FALSE(file.bytes.empty()) << file.name;
        EXPECT_FALSE(file.gzip.empty()) << file.name;
        if (file.name.ends_with(".js")) script += file.gzip.size();
    }
    EXPECT_GT(script, 10'000u);
    EXPECT_LT(script, 100'000u);
}

TEST(ConsoleRoutes, WhatIsNotThereIsSaidInWords) {
    for (const char* target : {"/console/none.js", "/console/..", "/console/%2e%2e",
                               "/console/console_bundle.cpp", "/console/index.html%20"}) {
        const auto none = get(target);
        EXPECT_EQ(none.status, 404) << target;
        EXPECT_THAT(none.body, HasSubstr("unknown_console_file")) << target;
    }
    for (const char* target : {"/console/..%2f..%2fetc%2fpasswd", "/console/a%00"})
        EXPECT_EQ(get(target).status, 400) << target;
    EXPECT_EQ(get("/console/../etc/passwd").status, 404);
}

}  // namespace
}  // namespace rampart::rampartd
