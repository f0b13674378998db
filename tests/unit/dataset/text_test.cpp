#include "rampart/dataset/text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <charconv>
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

/// What the standard library says of the whole text.
std::optional<double> standard(const std::string& text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    const bool whole = error == std::errc() && rest == end && std::isfinite(value);
    return whole ? std::optional(value) : std::nullopt;
}

RC_GTEST_PROP(Text, PlainNumbersAreReadToTheLastBit, ()) {
    const auto digits =
        rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789")));
    const std::string text = *rc::gen::element<std::string>("", "-") + *digits +
                             *rc::gen::element<std::string>("", ".", "..", "e", ".-") + *digits;
    const auto read = parse_number(text), wanted = standard(text);
    RC_ASSERT(read.has_value() == wanted.has_value());
    // 0 and -0 are two
    if (read) RC_ASSERT(std::bit_cast<uint64_t>(*read) == std::bit_cast<uint64_t>(*wanted));
}

TEST(Text, FifteenAndMoreDigitsAreReadToTheLastBit) {
    for (const std::string text :
         {"999999999999999", "9999999999999999", "0.000000000000001", "-0", "00000000000000000001",
          "123456789012.345", "1234567890123.456", ".000000000000009", "5.", "-.5", "0.1"}) {
        ASSERT_TRUE(standard(text)) << text;
        EXPECT_EQ(std::bit_cast<uint64_t>(parse_number(text).value()),
                  std::bit_cast<uint64_t>(*standard(text)))
            << text;
    }
    for (const std::string text : {"-", ".", "-.", "1.2.3", "1-"}) EXPECT_FALSE(parse_number(text));
}

TEST(Text, ANumberHasItsShortestText) {
    EXPECT_EQ(number_text(2.0), "2");
    EXPECT_EQ(number_text(0.1), "0.1");
    EXPECT_EQ(number_text(-3), "-3");
}

}  // namespace
}  // namespace rampart::dataset
