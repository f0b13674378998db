#include "rampart/http/response.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>

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
    EXPECT_EQ(response.content_type, "application/problem+json");
    EXPECT_EQ(response.body,
              R"({"type":"urn:rampart:reason:unknown_decision",)"
              R"("title":"Unknown decision","status":404,"detail":"no 'd\"1'\u000a",)"
              R"("code":"not_found","reason":"unknown_decision",)"
              R"("error":{"code":"not_found","reason":"unknown_decision",)"
              R"("message":"no 'd\"1'\u000a"}})");
    EXPECT_EQ(response.header("Retry-After"), "");
}

TEST(Response, AnErrorSaysWhatToDoWhereItsListIsKnown) {
    const auto has = [](std::string_view reason, std::string_view remedy) {
        const auto body =
            error_response(base::Error{ErrorCode::kNotFound, std::string(reason), "x"}).body;
        return body.find(fmt::format(R"("remedy":"{}")", remedy)) != std::string::npos;
    };
    EXPECT_TRUE(has("unknown_path", "Correct the path; schemas/http/openapi.yaml lists all."));
    EXPECT_FALSE(has("of_a_test", "Do it."));
    static constexpr base::ReasonInfo kInfo[] = {
        {"test", "kOfATest", ErrorCode::kNotFound, "of_a_test", "Do it."}};
    static constexpr std::span<const base::ReasonInfo> kLists[] = {kInfo};
    know_reasons(kLists);
    EXPECT_TRUE(has("of_a_test", "Do it."));
}

TEST(Response, AnErrorOfInputNamesItsField) {
    const auto field = [](std::string message, ErrorCode code = ErrorCode::kInvalidArgument) {
        return field_of(base::Error{code, "x", std::move(message)});
    };
    EXPECT_EQ(field("$.now: 'x' is not a time"), "now");
    EXPECT_EQ(field("features.Income_2: must be a number"), "features.Income_2");
    EXPECT_EQ(field("applications[3]: person_id: is empty"), "applications[3].person_id");
    EXPECT_EQ(field("applications[3]: feature 'x' is given twice"), "applications[3]");
    EXPECT_EQ(field("line 12: person_id: is missing"), "person_id");
    EXPECT_EQ(field("event_time: too old", ErrorCode::kOutOfRange), "event_time");
    for (const char* other : {"now", "", ": x", "line 2: no JSON", "not JSON: x", "JSON: too deep",
                              "line x: y: z", "measure 'm': value 3 is outside"}) {
        EXPECT_EQ(field(other), "") << other;
    }
    EXPECT_EQ(field("starting: the log", ErrorCode::kUnavailable), "");
    EXPECT_NE(error_response(base::Error{ErrorCode::kInvalidArgument, "x", "$.a: b"})
                  .body.find(R"("field":"a")"),
              std::string::npos);
}

TEST(Response, AnErrorMayHaveMoreMembers) {
    const std::vector<ProblemMember> more{{"owner", "https://n:1"}, {"a", "\"b\n"}};
    const base::Error error{ErrorCode::kNotFound, "x", "y"};
    const auto plain = error_response(error, 421).body;
    const auto body = error_response(error, 421, more).body;
    const auto at = plain.find(R"(,"error":)");
    ASSERT_NE(at, std::string::npos);
    EXPECT_EQ(body,
              plain.substr(0, at) + R"(,"owner":"https://n:1","a":"\"b\u000a")" + plain.substr(at));
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
