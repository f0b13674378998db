#include "rampart/constraints/interval.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace rampart::constraints {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();

Known in(double lo, double hi) { return Interval{lo, hi}; }

TEST(Interval, ExactResultsStayExact) {
    EXPECT_EQ(add(in(1, 2), in(-0.5, 4)), in(0.5, 6));
    EXPECT_EQ(subtract(in(1, 2), in(0.5, 4)), in(-3, 1.5));
    EXPECT_EQ(multiply(in(-2, 3), in(-1, 4)), in(-8, 12));
    EXPECT_EQ(divide(in(-1, 4), in(2, 8)), in(-0.5, 2));
    EXPECT_EQ(divide(in(1, 4), in(-2, -1)), in(-4, -0.5));
    EXPECT_EQ(absolute(in(-3, 2)), in(0, 3));
    EXPECT_EQ(absolute(in(-3, -2)), in(2, 3));
    EXPECT_EQ(smallest(std::array{in(0, 5), in(1, 2)}), in(0, 2));
    EXPECT_EQ(largest(std::array{in(0, 5), in(1, 2)}), in(1, 5));
    EXPECT_EQ(negate(in(-1, 2)), in(-2, 1));
}

TEST(Interval, RoundedResultsAreRoundedOutwards) {
    const Known sum = add(in(0.1, 0.1), in(0.2, 0.2));
    EXPECT_LT(sum->lo, sum->hi);
    EXPECT_EQ(std::nextafter(sum->lo, 1), sum->hi);
    const Known product = multiply(in(0.1, 0.1), in(0.1, 0.1));
    EXPECT_EQ(std::nextafter(product->lo, 1), product->hi);
    const Known third = divide(in(1, 1), in(3, 3));
    EXPECT_EQ(std::nextafter(third->lo, 1), third->hi);
    EXPECT_LT(std::fma(third->lo, 3, -1), 0);
    EXPECT_GT(std::fma(third->hi, 3, -1), 0);
    const Known tiny = multiply(in(1e-200, 1e-200), in(1e-200, 1e-200));
    EXPECT_LE(tiny->lo, 0);
    EXPECT_GT(tiny->hi, 0);
}

TEST(Interval, OverflowKeepsTheEndThatIsStillTrue) {
    EXPECT_EQ(add(in(kLargest, kLargest), in(kLargest, kLargest)), in(kLargest, kInfinity));
    EXPECT_EQ(multiply(in(-kLargest, -kLargest), in(2, 2)), in(-kInfinity, -kLargest));
    EXPECT_EQ(multiply(in(0, kInfinity), in(0, 1)), in(0, kInfinity));
    EXPECT_EQ(add(in(0, kInfinity), in(1, 1)), in(1, kInfinity));
}

TEST(Interval, ADivisorThatMayBeZeroLeavesNoStatement) {
    EXPECT_EQ(divide(in(1, 1), in(0, 2)), std::nullopt);
    EXPECT_EQ(divide(in(1, 1), in(-1, 0)), std::nullopt);
    EXPECT_EQ(divide(in(1, 1), in(-1, 2)), std::nullopt);
}

TEST(Interval, NoStatementStaysNoStatement) {
    const Known none, some = in(1, 2);
    EXPECT_EQ(negate(none), none);
    EXPECT_EQ(add(none, some), none);
    EXPECT_EQ(subtract(some, none), none);
    EXPECT_EQ(multiply(none, in(0, 0)), none);
    EXPECT_EQ(divide(some, none), none);
    EXPECT_EQ(absolute(none), none);
    EXPECT_EQ(smallest(std::array{some, none}), none);
    EXPECT_EQ(largest(std::array{none, some}), none);
    EXPECT_EQ(intersect(some, none), none);
    EXPECT_EQ(add(in(std::nan(""), 1), some), none);
    EXPECT_EQ(multiply(in(1, std::nan("")), some), none);
}

TEST(Interval, WhatContradictsLeavesNoStatement) {
    EXPECT_EQ(intersect(in(0, 2), in(1, 3)), in(1, 2));
    EXPECT_EQ(intersect(in(0, 1), in(2, 3)), std::nullopt);
}

}  // namespace
}  // namespace rampart::constraints
