#include "rampart/base/significant.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rampart/base/random.hpp"

namespace rampart::base {
namespace {

TEST(Significant, RoundsToTheSideThatIsAskedFor) {
    EXPECT_EQ(significant(1.23456, 4), "1.235");
    EXPECT_EQ(significant(1.23456, 4, Toward::kDown), "1.234");
    EXPECT_EQ(significant(1.23412, 4, Toward::kUp), "1.235");
    EXPECT_EQ(significant(-1.23412, 4, Toward::kDown), "-1.235");
    EXPECT_EQ(significant(-1.23456, 4, Toward::kUp), "-1.234");
    EXPECT_EQ(significant(0.99996, 4, Toward::kDown), "0.9999");
    EXPECT_EQ(significant(9.9999, 4, Toward::kUp), "10");
    EXPECT_EQ(significant(99.1666, 4, Toward::kDown), "99.16");
    EXPECT_EQ(significant(0, 4, Toward::kDown), "0");
    EXPECT_EQ(significant(0.1, 4, Toward::kDown), "0.1");
}

TEST(Significant, AConfidenceThatIsExactStaysSo) {
    for (int percent = 50; percent < 100; ++percent) {
        const double delta = (100 - percent) / 100.0;
        EXPECT_EQ(significant(100 * (1 - delta), 4, Toward::kDown), std::to_string(percent));
    }
}

TEST(Significant, WhatIsNoNumberIsNone) {
    EXPECT_EQ(significant(std::nan(""), 4), "none");
    EXPECT_EQ(significant(-std::numeric_limits<double>::infinity(), 4, Toward::kDown), "none");
}

TEST(Significant, IsNeverOnTheOtherSideNorFarAway) {
    Random random(3);
    for (int i = 0; i < 20000; ++i) {
        const double x = random.normal() * std::pow(10, random.uniform(-8, 8));
        const double down = std::stod(significant(x, 4, Toward::kDown));
        const double up = std::stod(significant(x, 4, Toward::kUp));
        EXPECT_LE(down, x * (1 + (x > 0 ? 2e-12 : -2e-12)));
        EXPECT_GE(up, x * (1 - (x > 0 ? 2e-12 : -2e-12)));
        EXPECT_LE(up - down, 2e-3 * std::abs(x));
    }
}

}  // namespace
}  // namespace rampart::base
