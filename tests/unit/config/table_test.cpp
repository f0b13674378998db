#include "rampart/config/table.hpp"

#include <gtest/gtest.h>

namespace rampart::config {
namespace {

std::string message_of(base::Status status) { return status ? "" : status.error().message; }

TEST(Table, ReadsEveryKindOfValue) {
    auto root = parse(R"(
        name = "a"
        port = 8080
        kappa = 0.5
        on = true
        rows = [[1, 0.35], [2.5, 0.85]]
        words = ["x", "y"]
        [http]
        threads = 2
        [[attribute]]
        name = "sex"
        [[attribute]]
        name = "age"
    )",
                      "t.toml")
                    .value();
    EXPECT_EQ(root.string("name"), "a");
    EXPECT_EQ(root.integer("port", 0, 65535), 8080);
    EXPECT_EQ(root.number("kappa", 0, 1), 0.5);
    EXPECT_TRUE(root.boolean("on", false));
    EXPECT_EQ(root.number_rows("rows"), (std::vector<std::vector<double>>{{1, .35}, {2.5, .85}}));
    EXPECT_EQ(root.strings("words"), (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(root.table("http").integer("threads", 1, 64, 1), 2);
    auto attributes = root.tables("attribute");
    ASSERT_EQ(attributes.size(), 2u);
    EXPECT_EQ(attributes[0].string("name"), "sex");
    EXPECT_EQ(attributes[1].string("name"), "age");
    EXPECT_EQ(message_of(root.finish()), "");
}

TEST(Table, TellsTablesFromOtherValues) {
    auto root = parse("a = {b = 1}\nc = [1]\n[d]\n", "t.toml").value();
    EXPECT_TRUE(root.is_table("a"));
    EXPECT_FALSE(root.is_table("c"));
    EXPECT_TRUE(root.is_table("d"));
    EXPECT_FALSE(root.is_table("e"));
    EXPECT_EQ(message_of(root.finish()), "");
}

TEST(Table, AbsentKeysTakeTheirDefaults) {
    auto root = parse("", "t.toml").value();
    EXPECT_EQ(root.string("name", "otherwise"), "otherwise");
    EXPECT_EQ(root.table("http").integer("port", 0, 65535, 8080), 8080);
    EXPECT_EQ(root.choice("mode", {"a", "b"}, "b"), "b");
    EXPECT_TRUE(root.strings("list").empty());
    EXPECT_TRUE(root.finish());
}

TEST(Table, AnUnknownKeyIsAnErrorWithItsLine) {
    auto root = parse("[http]\nport = 1\nprot = 2\n", "t.toml").value();
    root.table("http").integer("port", 0, 9, 0);
    EXPECT_EQ(message_of(root.finish()),
              "t.toml, line 3: http.prot: is not a known key; known here are port");
}

TEST(Table, AnUnknownTableAndAnUnreadSubTableAreErrors) {
    auto root = parse("[htpp]\nport = 1\n", "t.toml").value();
    EXPECT_NE(message_of(root.finish()).find("htpp: is not a known key"), std::string::npos);
    auto list = parse("[[a]]\nx = 1\n", "t.toml").value();
    list.tables("a");
    EXPECT_NE(message_of(list.finish()).find("a[1].x"), std::string::npos);
}

struct BadValue {
    const char* toml;
    const char* expected;
};

class BadValues : public testing::TestWithParam<BadValue> {};

TEST_P(BadValues, AreNamedWithLineKeyValueAndRange) {
    auto root = parse(GetParam().toml, "t.toml").value();
    root.integer("port", 1, 9, 1);
    root.number("kappa", 0, 1, 0.5);
    root.string("name", "");
    root.boolean("on", false);
    root.choice("mode", {"blind", "aware"}, "blind");
    root.number_rows("rows");
    root.strings("words");
    root.table("sub");
    EXPECT_EQ(message_of(root.finish()), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadValues,
    testing::Values(
        BadValue{"port = 10", "t.toml, line 1: port: is 10; allowed are 1 to 9"},
        BadValue{"\nport = 1.5", "t.toml, line 2: port: must be a whole number from 1 to 9"},
        BadValue{"kappa = 1.5", "t.toml, line 1: kappa: is 1.5; allowed are 0 to 1"},
        BadValue{"kappa = nan", "t.toml, line 1: kappa: is nan; allowed are 0 to 1"},
        BadValue{"kappa = 'x'", "t.toml, line 1: kappa: must be a number from 0 to 1"},
        BadValue{"name = 1", "t.toml, line 1: name: must be a text in quotes"},
        BadValue{"on = 1", "t.toml, line 1: on: must be true or false"},
        BadValue{"mode = 'deaf'", "t.toml, line 1: mode: is 'deaf'; allowed are blind, aware"},
        BadValue{"rows = [1]", "t.toml, line 1: rows: must be a list of lists of finite numbers"},
        BadValue{"words = [1]", "t.toml, line 1: words: must be a list of texts"},
        BadValue{"sub = 1", "t.toml, line 1: sub: must be a table"}));

TEST(Table, ARequiredKeyIsMissed) {
    auto root = parse("[a]\n", "t.toml").value();
    root.table("a").string("name");
    EXPECT_NE(message_of(root.finish()).find("a.name: is required"), std::string::npos);
}

TEST(Table, BrokenSyntaxHasItsLine) {
    const auto broken = parse("a = 1\nb = = 2\n", "t.toml");
    ASSERT_FALSE(broken);
    EXPECT_NE(broken.error().message.find("t.toml, line 2"), std::string::npos);
}

TEST(Table, WhatTheParserTakesForImpossibleIsAnErrorLikeAnyOther) {
    using namespace std::string_view_literals;
    for (const auto text : {"[ = 1]"sv, "[\0]"sv, "[a.\0]"sv, "[[ , ]]"sv, "[(]"sv, "größe = 1"sv,
                            "a = 1 \u0413"sv, "a\u0413= 1"sv, "a = \u0101"sv}) {
        const auto broken = parse(text, "t.toml");
        ASSERT_FALSE(broken) << text;
        EXPECT_NE(broken.error().message.find("t.toml, line 1"), std::string::npos) << text;
    }
}

TEST(Table, ACallersOwnErrorIsReportedAtItsKey) {
    auto root = parse("lo = 2\nhi = 1\n", "t.toml").value();
    root.integer("lo", 0, 9);
    root.integer("hi", 0, 9);
    root.fail("hi", "must be above lo");
    EXPECT_EQ(message_of(root.finish()), "t.toml, line 2: hi: must be above lo");
}

TEST(Table, ListsOfWholeNumbersHaveARange) {
    auto root = parse("own = [0, 3]\nbad = [0, 9]\nworse = [0.5]", "x.toml").value();
    EXPECT_EQ(root.integers("own", 0, 3), (std::vector<int64_t>{0, 3}));
    EXPECT_TRUE(root.integers("absent", 0, 3).empty());
    root.integers("bad", 0, 8);
    root.integers("worse", 0, 8);
    const auto status = root.finish();
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().message.find("from 0 to 8"), std::string::npos);
}

TEST(Table, ListsOfNumbersHaveARangeAndOneNumberIsAList) {
    auto root = parse("own = [0, 0.5]\none = 2.5\nbad = [0, nan]", "x.toml").value();
    EXPECT_EQ(root.numbers("own", 0, 1), (std::vector<double>{0, 0.5}));
    EXPECT_EQ(root.numbers("one", 0, 3), std::vector<double>{2.5});
    EXPECT_TRUE(root.numbers("absent", 0, 1).empty());
    root.numbers("bad", 0, 1);
    const auto status = root.finish();
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().message.find("from 0 to 1"), std::string::npos);
}

}  // namespace
}  // namespace rampart::config
