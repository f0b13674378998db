#include "rampart/dataset/derivation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace rampart::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::optional<double> value(std::string_view text, std::optional<double> a,
                            std::optional<double> b = 0) {
    return apply(parse_derivation(text).value(), a, b);
}

TEST(Derivation, EachFunctionIsComputed) {
    EXPECT_EQ(value("ratio(a, b)", 3, 4), 0.75);
    EXPECT_EQ(value("difference(a, b)", 3, 4), -1);
    EXPECT_EQ(value("log(a)", std::exp(2.0)), 2);
    EXPECT_EQ(value("days_between(a, b)", 10, 4), -6);
    EXPECT_EQ(value("months_since(a, b)", 0, 0), 0);
}

TEST(Derivation, WhatHasNoValueIsMissing) {
    const auto none = std::optional<double>();
    EXPECT_EQ(value("ratio(a, b)", 3, 0), none) << "a division by 0";
    EXPECT_EQ(value("ratio(a, b)", 0, 0), none);
    EXPECT_EQ(value("ratio(a, b)", 1e300, 1e-300), none) << "not finite";
    EXPECT_EQ(value("log(a)", 0), none);
    EXPECT_EQ(value("log(a)", -1), none);
    for (const char* text :
         {"ratio(a, b)", "difference(a, b)", "days_between(a, b)", "months_since(a, b)"}) {
        EXPECT_EQ(value(text, none, 1), none) << text;
        EXPECT_EQ(value(text, 1, none), none) << text;
    }
    EXPECT_EQ(value("log(a)", none), none);
}

TEST(Derivation, MonthsAreWholeOnesOfTheCalendar) {
    // days since 1970: 2020-01-31 is 18292, 2020-02-29 18321, 2020-03-30 18351, 2020-03-31 18352
    EXPECT_EQ(value("months_since(a, b)", 18292, 18321), 0);
    EXPECT_EQ(value("months_since(a, b)", 18292, 18351), 1);
    EXPECT_EQ(value("months_since(a, b)", 18292, 18352), 2);
    EXPECT_EQ(value("months_since(a, b)", 18352, 18292), -2);
    EXPECT_EQ(value("months_since(a, b)", -31, 0), 1) << "December 1969";
}

TEST(Derivation, IsReadBack) {
    for (const char* text : {"ratio(balance, credit limit)", "log('a, b')",
                             "days_between('it''s', '(x)')", "difference(a, b)"}) {
        const auto made = parse_derivation(text);
        ASSERT_TRUE(made) << text;
        EXPECT_EQ(to_text(*made), text);
    }
    EXPECT_THAT(parse_derivation(" ratio ( 'a, b' ,c ) ").value().columns,
                ElementsAre("a, b", "c"));
}

TEST(Derivation, ErrorsNameTheCharacter) {
    const auto message = [](std::string_view text) {
        const auto made = parse_derivation(text);
        if (made) return std::string("none");
        EXPECT_EQ(made.error().reason, "bad_derivation");
        return made.error().message;
    };
    EXPECT_THAT(message("root(a)"), HasSubstr("'root(a)', character 1: known are ratio"));
    EXPECT_THAT(message("ratio a, b"), HasSubstr("character 1: known are"));
    EXPECT_THAT(message("ratio, b"), HasSubstr("character 6: '(' is wanted"));
    EXPECT_THAT(message("ratio(a, b"), HasSubstr("character 11: ',' or ')' is wanted"));
    EXPECT_THAT(message("ratio(a,)"), HasSubstr("character 9: a name is wanted"));
    EXPECT_THAT(message("ratio(a)"), HasSubstr("takes 2 columns, here are 1"));
    EXPECT_THAT(message("log(a, b)"), HasSubstr("takes 1 column, here are 2"));
    EXPECT_THAT(message("log(a) + 1"), HasSubstr("character 8: nothing may follow"));
    EXPECT_THAT(message("log('a)"), HasSubstr("character 5: the quote is not closed"));
    EXPECT_THAT(message(""), HasSubstr("character 1"));
}

}  // namespace
}  // namespace rampart::dataset
