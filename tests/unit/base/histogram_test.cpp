#include "rampart/base/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace rampart::base {
namespace {

TEST(Histogram, AValueOnABoundBelongsBelowIt) {
    Histogram histogram({1, 2});
    histogram.observe(1);
    histogram.observe(1.5);
    histogram.observe(2.5);
    histogram.observe(std::nan(""));
    EXPECT_EQ(histogram.counts(), (std::vector<uint64_t>{1, 1, 1}));
    EXPECT_EQ(histogram.sum(), 5);
}

TEST(Histogram, TakesInAnother) {
    Histogram all({1, 2}), one({1, 2});
    all.observe(0.5);
    one.observe(1.5);
    one.observe(3);
    all.add(one);
    EXPECT_EQ(all.counts(), (std::vector<uint64_t>{1, 1, 1}));
    EXPECT_EQ(all.sum(), 5);
    EXPECT_EQ(one.counts(), (std::vector<uint64_t>{0, 1, 1}));
}

TEST(Histogram, LatencyBoundsIncrease) {
    const auto bounds = latency_bounds();
    EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end()));
    EXPECT_EQ(bounds.front(), 50e-6);
    EXPECT_EQ(bounds.back(), 10);
}

TEST(HistogramDeathTest, BadBoundsAreDefects) {
    EXPECT_DEATH(Histogram({1, 1}), "bounds");
    EXPECT_DEATH(Histogram({1, INFINITY}), "bounds");
    Histogram one({1});
    EXPECT_DEATH(one.add(Histogram({2})), "other bounds");
}

}  // namespace
}  // namespace rampart::base
