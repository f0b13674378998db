#include "rampart/stats/confidence_bound.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/golden_numbers.hpp"

namespace rampart::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Bounds, AgreeWithTheGoldenVectors) {
    const test::GoldenNumbers golden("elf_vectors.json");
    std::vector<double> z = golden.array({"Z", "pair_ctr"});
    ASSERT_EQ(z.size(), 60u);
    for (double& x : z) x += 0.02;
    const Moments sample = moments(z);
    const Range range{golden.number({"bounds", "lo"}), golden.number({"bounds", "hi"})};
    EXPECT_NEAR(sample.mean, golden.number({"bounds", "mean"}), 1e-12);
    EXPECT_NEAR(std::sqrt(sample.variance), golden.number({"bounds", "sd"}), 1e-12);
    EXPECT_NEAR(t_lower_bound(sample, 0.1), golden.number({"bounds", "lcb_t"}), 1e-10);
    EXPECT_NEAR(hoeffding_lower_bound(sample, range, 0.1),
                golden.number({"bounds", "lcb_hoeffding"}), 1e-10);
    EXPECT_NEAR(maurer_pontil_lower_bound(sample, range, 0.1),
                golden.number({"bounds", "lcb_maurer_pontil"}), 1e-10);
}

TEST(Bounds, HandWorkedHoeffding) {
    // n = 2, range 1, delta = e^-4: half-width sqrt(4 / 4) = 1
    EXPECT_NEAR(hoeffding_lower_bound({2, 0.5, 0.1}, {0, 1}, std::exp(-4)), -0.5, 1e-14);
}

TEST(Bounds, AreRoundedToTheSafeSide) {
    EXPECT_LT(hoeffding_lower_bound({2, 0.5, 0.1}, {0, 1}, std::exp(-4)), -0.5);
}

TEST(Bounds, ABoundThatCannotBeGivenCertifiesNothing) {
    const Range range{0, 1};
    const double nan = std::nan("");
    for (const Moments& sample :
         {Moments{1, 0.5, 0.1}, Moments{0, 0.5, 0.1}, Moments{9, nan, 0.1}, Moments{9, 0.5, nan},
          Moments{9, kInfinity, 0.1}, Moments{9, 0.5, kInfinity}, Moments{9, 0.5, -1}}) {
        EXPECT_EQ(t_lower_bound(sample, 0.1), -kInfinity);
        EXPECT_EQ(hoeffding_lower_bound(sample, range, 0.1), -kInfinity);
        EXPECT_EQ(maurer_pontil_lower_bound(sample, range, 0.1), -kInfinity);
    }
    for (const double delta : {0.0, 1.0, -1.0, nan}) {
        EXPECT_EQ(t_lower_bound({9, 0.5, 0.1}, delta), -kInfinity);
        EXPECT_EQ(hoeffding_lower_bound({9, 0.5, 0.1}, range, delta), -kInfinity);
    }
    EXPECT_EQ(t_lower_bound({9, 0.5, 0}, 0.1), -kInfinity) << "no variance";
    EXPECT_EQ(hoeffding_lower_bound({9, 5, 0.1}, range, 0.1), -kInfinity)
        << "a mean out of its range";
    EXPECT_EQ(hoeffding_lower_bound({9, 0.5, 0.1}, {1, 0}, 0.1), -kInfinity);
    EXPECT_EQ(hoeffding_lower_bound({9, 0.5, 0.1}, {0, kInfinity}, 0.1), -kInfinity);
}

TEST(Moments, OfNothingAreNotNumbers) {
    EXPECT_TRUE(std::isnan(moments({}).mean));
    const std::vector<double> one{3};
    EXPECT_EQ(moments(one).mean, 3);
    EXPECT_TRUE(std::isnan(moments(one).variance));
}

TEST(Moments, SmallValuesBesideLargeOnesAreNotLost) {
    const std::vector<double> values{1e16, 1, -1e16, 1};
    EXPECT_EQ(moments(values).mean, 0.5);
}

RC_GTEST_PROP(Bounds, FallAsDeltaFalls, ()) {
    const Moments sample{static_cast<size_t>(*rc::gen::inRange(2, 1000)), 0.5,
                         *rc::gen::inRange(1, 250) / 1000.0};
    const double delta = *rc::gen::inRange(1, 400) / 1000.0;
    const Range range{0, 1};
    RC_ASSERT(t_lower_bound(sample, delta / 2) < t_lower_bound(sample, delta));
    RC_ASSERT(hoeffding_lower_bound(sample, range, delta / 2) <
              hoeffding_lower_bound(sample, range, delta));
    RC_ASSERT(maurer_pontil_lower_bound(sample, range, delta) < sample.mean);
}

}  // namespace
}  // namespace rampart::stats
