#include "rampart/http/response.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rampart/access/reasons.hpp"
#include "rampart/http/reasons.hpp"

namespace rampart::http {
namespace {

using base::ErrorCode;

TEST(Response, EveryErrorCodeHasAStatus) {
    const std::vector<std::pair<ErrorCode, int>> expected{
        {ErrorCode::kInvalidArgument, 400},  {ErrorCode::kNotFound, 404},
        {ErrorCode::kAlreadyExists, 409},    {ErrorCode::kFailedPrecondition, 409},
        {ErrorCode::kOutOfRange, 422},       {ErrorCode::kResourceExhausted, 503},
        {ErrorCode::kPermissionDenied, 403}, {ErrorCode::kUnavailable, 503},
        {ErrorCode::kDataLoss, 500},         {ErrorCode::kInternal, 500}};
    for (const auto& [code, status] : expected) EXPECT_EQ(status_of(code), status);
}

TEST(Response, AnErrorIsADocument) {
    const auto response = error_response(base::Error{base::ErrorCode::kNotFound, "unknown_decision",
                                                     fmt::format("no '{}'\n", "d\"1")});
    EXPECT_EQ(response.status, 404);
    EXPECT_EQ(response.content_type, "application/json");
    EXPECT_EQ(response.body, R"({"error":{"code":"not_found","reason":"unknown_decision",)"
                             R"("message":"no 'd\"1'\u000a"}})");
    EXPECT_EQ(response.header("Retry-After"), "");
}

TEST(Response, WhoeverIsTurnedAwayLearnsWhenToRetry) {
    EXPECT_EQ(error_response(base::Error{base::ErrorCode::kResourceExhausted, "full", "full"})
                  .header("retry-after"),
              "1");
    EXPECT_EQ(error_response(base::Error{base::ErrorCode::kUnavailable, "down", "down"})
                  .header("retry-after"),
              "1");
    EXPECT_EQ(error_response(base::Error{base::ErrorCode::kUnavailable, "down", "down"}, 500)
                  .header("retry-after"),
              "");
}

TEST(Response, SomeReasonsHaveAStatusOfTheirOwn) {
    EXPECT_EQ(status_of(access::Reason::kUnauthenticated), 401);
    EXPECT_EQ(status_of(access::Reason::kMissingScope), 403);
    EXPECT_EQ(status_of(Reason::kTooManyRequests), 429);
    EXPECT_EQ(status_of(Reason::kMethodNotAllowed), 405);
    EXPECT_EQ(status_of(Reason::kBodyTooLarge), 413);
    EXPECT_EQ(status_of(Reason::kHeadersTooLarge), 431);
    EXPECT_EQ(status_of(Reason::kUnknownPath), 404);
}

TEST(Response, JsonTextIsAlwaysValid) {
    EXPECT_EQ(json_quoted("a\\b\x01"), R"("a\\b\u0001")");
    EXPECT_EQ(json_quoted("é€😀"), "\"é€😀\"");
    const std::string replaced = "\"\xEF\xBF\xBD\"";
    EXPECT_EQ(json_quoted("\xff"), replaced);
    EXPECT_EQ(json_quoted("\xc3"), replaced);                       // cut off
    EXPECT_EQ(json_quoted("\xc0\xaf").size(), 2 + 2 * 3u);          // overlong
    EXPECT_EQ(json_quoted("\xed\xa0\x80").size(), 2 + 3 * 3u);      // surrogate
    EXPECT_EQ(json_quoted("\xf4\x90\x80\x80").size(), 2 + 4 * 3u);  // past U+10FFFF
}

}  // namespace
}  // namespace rampart::http
