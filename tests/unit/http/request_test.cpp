#include "rampart/http/request.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rampart::http {
namespace {

TEST(Request, HeadersAreFoundWhateverTheirCase) {
    Request request;
    request.headers = {{"Content-TYPE", "text/plain"}, {"X-A", "1"}, {"x-a", "2"}};
    EXPECT_EQ(request.header("content-type"), "text/plain");
    EXPECT_EQ(request.header("X-a"), "1");
    EXPECT_EQ(request.header("X-"), "");
}

TEST(Request, ATargetIsSplitAndDecoded) {
    Request request;
    ASSERT_TRUE(parse_target("/v1/a%20b?x=1&y=%2F+z&flag", request));
    EXPECT_EQ(request.path, "/v1/a b");
    EXPECT_EQ(request.query,
              (std::map<std::string, std::string>{{"x", "1"}, {"y", "/ z"}, {"flag", ""}}));
}

TEST(Request, APlusInThePathIsAPlus) {
    Request request;
    ASSERT_TRUE(parse_target("/a+b", request));
    EXPECT_EQ(request.path, "/a+b");
}

TEST(Request, ABadTargetIsRefused) {
    Request request;
    for (const char* target : {"", "x", "*", "http://h/", "/a%2Fb", "/a%00", "/%", "/%4", "/%zz",
                               "/?a=%", "/?a=1&a=2"}) {
        const auto status = parse_target(target, request);
        ASSERT_FALSE(status) << target;
        EXPECT_EQ(status.error().reason, "bad_target");
    }
}

RC_GTEST_PROP(Request, AnyTargetEndsInAPathOrAnError, (const std::string& tail)) {
    Request request;
    if (parse_target("/" + tail, request)) RC_ASSERT(request.path.front() == '/');
}

}  // namespace
}  // namespace rampart::http
