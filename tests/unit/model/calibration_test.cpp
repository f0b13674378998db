#include "rampart/model/calibration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "unit/model/model_pieces.hpp"

namespace rampart::model {
namespace {

using testing::HasSubstr;

RC_GTEST_PROP(Calibration, RisesAndStaysInUnitInterval, (uint64_t seed)) {
    base::Random random(seed);
    const auto calibration = random_calibration(random);
    RC_ASSERT(!fault_of(calibration).has_value());
    double before = 0;
    for (int i = 0; i <= 100; ++i) {
        const double p = apply(calibration, i / 100.0);
        RC_ASSERT(p >= before && p <= 1);
        before = p;
    }
}

TEST(Calibration, ABetaMapIsTheIdentityAtItsDefaultsAndPlattsMapWhereBothAreEqual) {
    for (const double p : {0.001, 0.25, 0.5, 0.99}) {
        EXPECT_NEAR(BetaMap{}.apply(p), p, 1e-15);
        const double platt = 1 / (1 + std::exp(-(0.7 * std::log(p / (1 - p)) - 0.3)));
        EXPECT_NEAR((BetaMap{0.7, 0.7, -0.3}.apply(p)), platt, 1e-15);
    }
}

TEST(Calibration, SaturatedScoresStayFinite) {
    const BetaMap map{2, 0.5, 1};
    EXPECT_GE(map.apply(0), 0);
    EXPECT_LE(map.apply(1), 1);
    EXPECT_LT(map.apply(0), 1e-9);
    EXPECT_GT(map.apply(1), 1 - 1e-5);
    EXPECT_EQ((BetaMap{0, 0, 0}.apply(0)), 0.5);
}

TEST(Calibration, APolylineIsExactAtItsPointsLinearBetweenAndFlatOutside) {
    const PolylineMap map{{0.2, 0.4, 0.8}, {0.1, 0.1, 0.9}};
    EXPECT_EQ(map.apply(0), 0.1);
    EXPECT_EQ(map.apply(0.2), 0.1);
    EXPECT_EQ(map.apply(0.3), 0.1);
    EXPECT_DOUBLE_EQ(map.apply(0.6), 0.5);
    EXPECT_EQ(map.apply(0.8), 0.9);
    EXPECT_EQ(map.apply(1), 0.9);
    EXPECT_EQ((PolylineMap{{0.5}, {0.3}}.apply(0.7)), 0.3);
}

TEST(Calibration, WhatIsWrongWithAMapIsSaid) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THAT(*fault_of(BetaMap{-1, 1, 0}), HasSubstr("a = -1"));
    EXPECT_THAT(*fault_of(BetaMap{1, 1, kNan}), HasSubstr("c = nan"));
    EXPECT_THAT(*fault_of(PolylineMap{}), HasSubstr("0 x and 0 y"));
    EXPECT_THAT(*fault_of(PolylineMap{{0, 1}, {0}}), HasSubstr("2 x and 1 y"));
    EXPECT_THAT(*fault_of(PolylineMap{{0, 1.5}, {0, 1}}), HasSubstr("point 1 is (1.5, 1)"));
    EXPECT_THAT(*fault_of(PolylineMap{{0, kNan}, {0, 1}}), HasSubstr("point 1"));
    EXPECT_THAT(*fault_of(PolylineMap{{0, 0}, {0, 1}}), HasSubstr("x must increase"));
    EXPECT_THAT(*fault_of(PolylineMap{{0, 1}, {1, 0}}), HasSubstr("must not fall"));
    EXPECT_FALSE(fault_of(PolylineMap{{0, 1}, {0.5, 0.5}}).has_value());
}

}  // namespace
}  // namespace rampart::model
