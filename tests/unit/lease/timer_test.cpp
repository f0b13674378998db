#include "rampart/lease/timer.hpp"

#include <gtest/gtest.h>

namespace rampart::lease {
namespace {

TEST(SteadyTimer, NeverGoesBackAndWaitsAsItIsTold) {
    base::Duration waited;
    const SteadyTimer timer([&](base::Duration duration) {
        waited = duration;
        return duration < base::Duration::seconds(5);
    });
    const auto before = timer.now();
    EXPECT_TRUE(timer.wait(base::Duration::seconds(2)));
    EXPECT_EQ(waited, base::Duration::seconds(2));
    EXPECT_FALSE(timer.wait(base::Duration::seconds(5)));
    EXPECT_GE(timer.now(), before);
}

}  // namespace
}  // namespace rampart::lease
