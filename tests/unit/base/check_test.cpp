#include "rampart/base/check.hpp"

#include <gtest/gtest.h>

namespace {

TEST(CheckDeathTest, AbortsWithPlaceConditionAndMessage) {
    const int rows = 3;
    EXPECT_DEATH(RAMPART_CHECK(rows == 4, "rows={}", rows), "check_test.cpp.*rows == 4 rows=3");
}

TEST(CheckDeathTest, PassesAndEvaluatesTheConditionOnce) {
    int calls = 0;
    RAMPART_CHECK(++calls == 1);
    EXPECT_EQ(calls, 1);
}

}  // namespace
