#include "rampart/wire/json_value.hpp"

#include <gtest/gtest.h>

namespace rampart::wire {
namespace {

std::string refusal(const std::string& text) {
    const auto value = parse_json(text);
    return value ? "" : value.error().reason;
}

TEST(JsonValue, KeepsOrderAndTheTextOfNumbers) {
    const auto value = parse_json(R"({"b":1.50,"a":[true,null,"x"]})").value();
    ASSERT_EQ(value.kind, JsonValue::Kind::kObject);
    ASSERT_EQ(value.members.size(), 2u);
    EXPECT_EQ(value.members[0].key, "b");
    EXPECT_EQ(value.members[0].value.text, "1.50");
    const auto& list = value.members[1].value.elements;
    ASSERT_EQ(list.size(), 3u);
    EXPECT_TRUE(list[0].boolean);
    EXPECT_EQ(list[1].kind, JsonValue::Kind::kNull);
    EXPECT_EQ(list[2].text, "x");
}

TEST(JsonValue, IsOneDocumentWithoutRepeatedMembersAndWithinLimits) {
    for (const char* bad : {"", "{", "{} {}", "nan", R"({"a":1,})", "\"\xff\""}) {
        EXPECT_EQ(refusal(bad), "bad_json") << bad;
    }
    EXPECT_EQ(refusal(R"({"a":1,"a":1})"), "duplicate_member");
    EXPECT_EQ(refusal(R"({"x":{"a":1,"b":2,"a":3}})"), "duplicate_member");
    EXPECT_EQ(refusal(std::string(17, '[') + std::string(17, ']')), "json_limit");
    EXPECT_EQ(refusal('"' + std::string(5000, 'x') + '"'), "json_limit");
}

}  // namespace
}  // namespace rampart::wire
