#include "rampart/report/text_table.hpp"

#include <gtest/gtest.h>

namespace rampart::report {
namespace {

TEST(TextTable, FirstColumnGoesLeftAndTheOthersRight) {
    EXPECT_EQ(align({{"group", "rows"}, {"a", "12345"}, {"longer name", "7"}}),
              "group         rows\n"
              "a            12345\n"
              "longer name      7\n");
}

TEST(TextTable, AsManyColumnsAsAskedForGoLeft) {
    EXPECT_EQ(align({{"a", "b", "c"}, {"aa", "bb", "cc"}}, 2),
              "a   b    c\n"
              "aa  bb  cc\n");
}

TEST(TextTable, ACharacterOfSeveralBytesIsOnePlace) {
    EXPECT_EQ(align({{"δ", "1"}, {"ab", "2"}}), "δ   1\nab  2\n");
}

TEST(TextTable, LinesDoNotEndInSpaces) { EXPECT_EQ(align({{"a", ""}, {"b", "12"}}), "a\nb  12\n"); }

TEST(TextTable, NoRowsAreNoText) { EXPECT_EQ(align({}), ""); }

}  // namespace
}  // namespace rampart::report
