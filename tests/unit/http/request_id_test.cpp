#include "rampart/http/request_id.hpp"

#include <gtest/gtest.h>

#include <set>

namespace rampart::http {
namespace {

const std::string kTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(RequestId, OfTheClientIsTakenIfItIsSafe) {
    EXPECT_EQ(given_request_id({}), std::nullopt);
    EXPECT_EQ(given_request_id({{"x-request-id", "Root=1-5f/a_b.c:d+e"}}), "Root=1-5f/a_b.c:d+e");
    EXPECT_EQ(given_request_id({{"X-Request-Id", std::string(kMaxRequestId, 'a')}}),
              std::string(kMaxRequestId, 'a'));
    for (const auto& bad : {std::string(), std::string(kMaxRequestId + 1, 'a'), std::string("a b"),
                            std::string("a\"b"), std::string("a\nb"), std::string("ä")}) {
        EXPECT_EQ(given_request_id({{"X-Request-Id", bad}}), std::nullopt) << bad;
    }
}

TEST(RequestId, ElseItIsTheTraceId) {
    const std::string id = "4bf92f3577b34da6a3ce929d0e0e4736";
    EXPECT_EQ(given_request_id({{"traceparent", kTrace}}), id);
    EXPECT_EQ(given_request_id({{"traceparent", kTrace}, {"X-Request-Id", "mine"}}), "mine");
    EXPECT_EQ(given_request_id({{"traceparent", kTrace}, {"X-Request-Id", "not mine"}}), id);
    EXPECT_EQ(given_request_id({{"traceparent", "01" + kTrace.substr(2) + "-more"}}), id);
    const auto with = [](size_t at, const std::string& text) {
        return std::string(kTrace).replace(at, text.size(), text);
    };
    for (const auto& bad : {kTrace + "-more", kTrace + "0", kTrace.substr(1), with(0, "ff"),
                            with(3, std::string(32, '0')), with(3, "X"), with(3, "A"),
                            with(35, "_"), with(36, "g"), with(53, "z"), std::string("x")}) {
        EXPECT_EQ(given_request_id({{"traceparent", bad}}), std::nullopt) << bad;
    }
}

TEST(RequestId, NewOnesAreAllDifferent) {
    RequestIds one, other;
    std::set<std::string> ids;
    for (int i = 0; i < 100; ++i) {
        for (auto* maker : {&one, &other}) {
            const auto id = maker->next();
            EXPECT_TRUE(ids.insert(id).second);
            EXPECT_EQ(given_request_id({{"X-Request-Id", id}}), id);  // as another service takes it
        }
    }
}

}  // namespace
}  // namespace rampart::http
