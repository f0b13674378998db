#include "services/rampartd/api/bodies.hpp"

#include <gtest/gtest.h>

#include "services/rampartd/api/places.hpp"

namespace rampart::rampartd {
namespace {

std::string refusal(const std::string& body) {
    const auto members = text_members(body, {"a", "b"});
    return members ? "" : members.error().reason;
}

TEST(Bodies, AreAnObjectWithExactlyTheNamedTexts) {
    const auto members = text_members(R"({"b":"2","a":""})", {"a", "b"});
    EXPECT_EQ(members.value(), (Members{{"a", ""}, {"b", "2"}}));
    for (const char* bad : {"", "x", "[]", "\"a\"", R"({"a":"1","b":"2")", "{} {}"}) {
        EXPECT_EQ(refusal(bad), "bad_json") << bad;
    }
    EXPECT_EQ(refusal(R"({"a":"1"})"), "missing_field");
    EXPECT_EQ(refusal(R"({"a":"1","b":2})"), "missing_field");
    EXPECT_EQ(refusal(R"({"a":"1","b":null})"), "missing_field");
    EXPECT_EQ(refusal(R"({"a":"1","b":"2","c":"3"})"), "unknown_field");
    EXPECT_EQ(refusal(R"({"a":"1","b":"2","a":"3"})"), "duplicate_member");
}

TEST(Bodies, NumbersFlagsAndPartitionsAreNoTexts) {
    using enum MemberSpec::Kind;
    const std::vector<MemberSpec> specs{{"n", kNumber}, {"f", kFlag}, {"p", kPartition}};
    const auto read = [&](const std::string& body) {
        const auto members = text_members(body, specs);
        if (!members) return members.error().reason + ' ' + members.error().message.substr(0, 4);
        return members->at("n") + ' ' + members->at("f") + ' ' + members->at("p");
    };
    EXPECT_EQ(read(R"({"n":7,"f":true,"p":"all"})"), "7 true all");
    EXPECT_EQ(read(R"({"n":-1.5,"f":false,"p":3})"), "-1.5 false 3");
    EXPECT_EQ(read(R"({"n":"7","f":true,"p":3})"), "wrong_type $.n:");
    EXPECT_EQ(read(R"({"n":7,"f":"yes","p":3})"), "wrong_type $.f:");
    EXPECT_EQ(read(R"({"n":7,"f":1,"p":3})"), "wrong_type $.f:");
    EXPECT_EQ(read(R"({"n":7,"f":true,"p":"3"})"), "wrong_type $.p:");
    EXPECT_EQ(read(R"({"n":7,"f":true})"), "missing_field $.p:");
    const auto without = text_members("{}", {{"u", kText, false}});
    EXPECT_TRUE(without && without->empty());
}

TEST(Bodies, NumbersAreWholeAndWithinTheirLimits) {
    const auto read = [](const std::string& text) {
        const auto number = number_of("n", text, 0, 100);
        return number ? std::to_string(*number) : number.error().reason;
    };
    EXPECT_EQ(read("0"), "0");
    EXPECT_EQ(read("100"), "100");
    for (const char* bad :
         {"", "-1", "101", "1.5", "1e1", " 1", "1 ", "x", "99999999999999999999"}) {
        EXPECT_EQ(read(bad), "bad_number") << bad;
    }
}

TEST(Bodies, FlagsAndReasons) {
    EXPECT_TRUE(flag_of("f", "true").value());
    EXPECT_FALSE(flag_of("f", "false").value());
    for (const char* bad : {"", "yes", "True", "0"}) {
        EXPECT_EQ(flag_of("f", bad).error().reason, "bad_flag") << bad;
    }
    EXPECT_TRUE(check_reason({{"reason", "x"}}));
    EXPECT_EQ(check_reason({{"reason", ""}}).error().reason, "reason_missing");
}

TEST(Bodies, APlaceIsAPartitionOrAllOfATopic) {
    const auto place = [](const std::string& partition) {
        const auto found = place_of({{"topic", "t"}, {"partition", partition}});
        return found ? found->topic + '/' + partition_to_json(found->partition).text()
                     : found.error().reason;
    };
    EXPECT_EQ(place("all"), "t/\"all\"");
    EXPECT_EQ(place("7"), "t/7");
    EXPECT_EQ(place("-1"), "bad_number");
    EXPECT_EQ(place("1000001"), "bad_number");
}

TEST(Bodies, AnErrorIsAResponse) {
    EXPECT_EQ(
        respond(base::Result<http::Response>(base::Error{base::ErrorCode::kNotFound, "x", "y"}))
            .status,
        404);
    EXPECT_EQ(respond(json_response(Json::object({{"n", 1}}))).body, R"({"n":1})");
}

}  // namespace
}  // namespace rampart::rampartd
