#include "rampart/stats/interval.hpp"

#include <gtest/gtest.h>

#include "rampart/stats/metrics.hpp"

namespace rampart::stats {
namespace {

TEST(Interval, IsOneTypeWhateverMeasureReturnsIt) {
    const Interval found = wilson(0.5, 10, 0.95);
    EXPECT_EQ(found, (Interval{found.lo, found.hi}));
    EXPECT_NE(found, (Interval{found.lo, 1}));
}

}  // namespace
}  // namespace rampart::stats
