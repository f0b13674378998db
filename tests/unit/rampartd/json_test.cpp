#include "services/rampartd/api/json.hpp"

#include <gtest/gtest.h>

namespace rampart::rampartd {
namespace {

TEST(Json, WritesValues) {
    EXPECT_EQ(Json(nullptr).text(), "null");
    EXPECT_EQ(Json(true).text(), "true");
    EXPECT_EQ(Json(false).text(), "false");
    EXPECT_EQ(Json(int64_t{-5}).text(), "-5");
    EXPECT_EQ(Json(UINT64_MAX).text(), "18446744073709551615");
    EXPECT_EQ(Json("a \"b\"\\\n\x01/é").text(), "\"a \\\"b\\\"\\\\\\n\\u0001/é\"");
}

TEST(Json, WritesMembersAndElementsInTheirOrder) {
    EXPECT_EQ(Json::object({}).text(), "{}");
    EXPECT_EQ(Json::array({}).text(), "[]");
    const auto object = Json::object(
        {{"b", 1}, {"a", Json::array({Json(nullptr), "x", true})}, {"\"", Json::object({})}});
    EXPECT_EQ(object.text(), R"({"b":1,"a":[null,"x",true],"\"":{}})");
}

TEST(Json, TakesWhatALibraryWrote) {
    EXPECT_EQ(Json::parsed(R"( {"n": 1.5, "a": [ 1 ]} )").text(), R"({"n":1.5E0,"a":[1]})");
}

}  // namespace
}  // namespace rampart::rampartd
