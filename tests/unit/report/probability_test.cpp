#include "rampart/report/probability.hpp"

#include <gtest/gtest.h>

namespace rampart::report {
namespace {

TEST(ProbabilityText, HasFourDecimals) {
    EXPECT_EQ(probability_text(0), "0.0000");
    EXPECT_EQ(probability_text(1), "1.0000");
    EXPECT_EQ(probability_text(0.25), "0.2500");
    EXPECT_EQ(probability_text(0.81654, {0.5}), "0.8165");
}

TEST(ProbabilityText, IsNotThatOfAnotherNumber) {
    EXPECT_EQ(probability_text(0.99999), "0.99999");
    EXPECT_EQ(probability_text(0.00001), "1e-05");
    EXPECT_EQ(probability_text(0.93001, {0.93002}), "0.93001");
    EXPECT_EQ(probability_text(0.93001, {0.5, 0.93}), "0.93001");
    EXPECT_EQ(probability_text(0.93001, {0.93001}), "0.9300");
}

}  // namespace
}  // namespace rampart::report
