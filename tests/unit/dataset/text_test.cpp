#include "rampart/dataset/text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace rampart::dataset {
namespace {

TEST(Text, NumbersAreDecimalAndFinite) {
    EXPECT_EQ(parse_number("39"), 39);
    EXPECT_EQ(parse_number(" -1.5e3\t"), -1500);
    EXPECT_EQ(parse_number("+2"), 2);
    EXPECT_EQ(parse_number(".5"), 0.5);
    for (const auto* text : {"", " ", "x", "1x", "1 2", "0x10", "inf", "-inf", "nan", "1e999",
                             "+-1", "--1", "1,5", "2/28/1997", "$5"}) {
        EXPECT_FALSE(parse_number(text)) << text;
    }
}

RC_GTEST_PROP(Text, EveryFiniteNumberReadsBackFromItsText, (double value)) {
    RC_PRE(std::isfinite(value));
    RC_ASSERT(parse_number(number_text(value)) == value);
}

TEST(Text, ANumberHasItsShortestText) {
    EXPECT_EQ(number_text(2.0), "2");
    EXPECT_EQ(number_text(0.1), "0.1");
    EXPECT_EQ(number_text(-3), "-3");
}

}  // namespace
}  // namespace rampart::dataset
