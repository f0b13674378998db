#include "reference/density.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

namespace rampart::reference {
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();

TruncatedNormal normal(double location, double scale, double lo = 0, double hi = 1) {
    return *TruncatedNormal::make(location, scale, lo, hi);
}

/// Midpoint rule over [lo, hi].
template <class F>
double integral(const F& f, double lo = 0, double hi = 1) {
    constexpr int kSteps = 20'000;
    double sum = 0;
    for (int i = 0; i < kSteps; ++i) sum += f(lo + (hi - lo) * (i + 0.5) / kSteps);
    return sum * (hi - lo) / kSteps;
}

TEST(TruncatedNormal, AgreesWithClosedForms) {
    // on [0, 1] around 0 with scale 1: mass Phi(1) - 1/2, mean (phi(0) - phi(1)) / mass
    const auto half = normal(0, 1);
    const double mass = 0.34134474606854293;
    EXPECT_NEAR(half.density(0), 0.3989422804014327 / mass, 1e-12);
    EXPECT_NEAR(half.mean(), (0.3989422804014327 - 0.24197072451914337) / mass, 1e-12);
    EXPECT_NEAR(half.cdf(0.5), 0.19146246127401312 / mass, 1e-12);
    EXPECT_EQ(half.density(-0.1), 0);
    EXPECT_EQ(half.density(1.1), 0);
    EXPECT_EQ(half.cdf(-1), 0);
    EXPECT_EQ(half.cdf(2), 1);
}

TEST(TruncatedNormal, IntegratesToItsMassMeanAndQuantiles) {
    for (const auto& d : {normal(0.3, 0.2), normal(-1, 0.5), normal(0.5, 50)}) {
        EXPECT_NEAR(integral([&](double y) { return d.density(y); }), 1, 1e-8);
        EXPECT_NEAR(integral([&](double y) { return y * d.density(y); }), d.mean(), 1e-8);
        for (const double u : {0.01, 0.5, 0.99}) EXPECT_NEAR(d.cdf(d.quantile(u)), u, 1e-9);
        EXPECT_EQ(d.quantile(0), 0);
        EXPECT_EQ(d.quantile(1), 1);
        const auto log = d.log_density();
        EXPECT_NEAR(std::exp((log.curvature * 0.7 + log.slope) * 0.7 + log.constant),
                    d.density(0.7), 1e-9 * d.density(0.7));
    }
}

TEST(TruncatedNormal, BadParametersAreRefused) {
    for (const auto& [location, scale, lo, hi] : {std::array{0.0, 0.0, 0.0, 1.0},
                                                  {0.0, -1.0, 0.0, 1.0},
                                                  {0.0, 1.0, 1.0, 1.0},
                                                  {kNaN, 1.0, 0.0, 1.0},
                                                  {0.0, 1.0, 0.0, INFINITY},
                                                  {0.0, 1.0, 9.0, 10.0}}) {
        const auto made = TruncatedNormal::make(location, scale, lo, hi);
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().reason, "bad_density");
    }
}

double part() { return *rc::gen::inRange(1, 1000) / 1000.0; }
TruncatedNormal any_normal() { return normal(-0.5 + 2 * part(), 0.2 + part()); }

RC_GTEST_PROP(RatioRange, HoldsEverywhereAndIsReached, ()) {
    const auto pi = any_normal(), p = any_normal();
    const stats::Interval range = ratio_range(pi, p);
    double least = 1e300, most = 0;
    for (int i = 0; i <= 500; ++i) {
        const double y = i / 500.0, ratio = pi.density(y) / p.density(y);
        RC_ASSERT(ratio >= range.lo && ratio <= range.hi);
        least = std::min(least, ratio), most = std::max(most, ratio);
    }
    RC_ASSERT(least <= range.lo * 1.001 && most >= range.hi * 0.999);
}

RC_GTEST_PROP(ExcessMass, IsTheIntegral, ()) {
    const auto pi = any_normal(), p = any_normal();
    const double weight = 1 + 3 * part();
    const double expected =
        integral([&](double y) { return std::max(0.0, pi.density(y) - weight * p.density(y)); });
    RC_ASSERT(std::abs(excess_mass(pi, p, weight) - expected) < 1e-6);
}

TEST(ExcessMass, OfAPolicyOverItselfIsNone) {
    const auto d = normal(0.4, 0.3);
    EXPECT_NEAR(excess_mass(d, d, 1), 0, 1e-9);
    EXPECT_NEAR(ratio_range(d, d).lo, 1, 1e-9);
    EXPECT_NEAR(ratio_range(d, d).hi, 1, 1e-9);
}

TEST(DensityChange, HandWorked) {
    const DensityModel model{.lo = -1, .hi = 2, .q = 0.5};
    // (1.2 - 0.8) / 0.5 * (2 - 0.5)
    EXPECT_NEAR(density_change({0.5, 1.2, 0.8, 0, 2.0}, model), 1.2, 1e-12);
    DensityModel against = model;
    against.absolute = 0.1;
    // 2.4 * 1.5 + 0.5 - 0.1
    EXPECT_NEAR(density_change({0.5, 1.2, 0.8, 0, 2.0}, against), 4, 1e-12);
    DensityModel cut = model;
    cut.max_weight = 2;
    // (2 - 1.6) * 1.5 + 0.1 * (-1 - 0.5)
    EXPECT_NEAR(density_change({0.5, 1.2, 0.8, 0.1, 2.0}, cut), 0.45, 1e-12);
}

TEST(DensityChange, AMissingImpactIsTheWorstForTheCandidate) {
    const DensityModel model{.lo = -1, .hi = 2, .q = 0.5};
    EXPECT_EQ(density_change({0.5, 1.2, 0.8, 0, std::nullopt}, model),
              density_change({0.5, 1.2, 0.8, 0, -1.0}, model));
    EXPECT_EQ(density_change({0.5, 0.6, 0.8, 0, std::nullopt}, model),
              density_change({0.5, 0.6, 0.8, 0, 2.0}, model));
}

TEST(DensityChange, DensitiesThatAreNoneGiveNoNumber) {
    const DensityModel model{.lo = -1, .hi = 2, .q = 0.5};
    EXPECT_TRUE(std::isnan(density_change({0, 1, 1, 0, 1.0}, model)));
    EXPECT_TRUE(std::isnan(density_change({1, -1, 1, 0, 1.0}, model)));
    EXPECT_TRUE(std::isnan(density_change({1, 1, INFINITY, 0, 1.0}, model)));
    EXPECT_TRUE(std::isnan(density_change({kNaN, 1, 1, 0, 1.0}, model)));
    EXPECT_TRUE(std::isnan(density_change({1, 1, 1, 0, kNaN}, model)));
}

struct Case {
    TruncatedNormal logger = any_normal(), candidate = any_normal(), reference = any_normal();
    DensityModel model{.lo = -1, .hi = 2, .q = -1 + 3 * part()};
    double excess = 0;
    Case() {
        if (*rc::gen::arbitrary<bool>()) model.absolute = -1 + 3 * part();
        if (*rc::gen::arbitrary<bool>()) model.max_weight = 1 + 2 * part();
        if (model.max_weight) excess = excess_mass(candidate, logger, *model.max_weight);
    }
    double z(double y, double impact) const {
        return density_change(
            {logger.density(y), candidate.density(y), reference.density(y), excess, impact}, model);
    }
};

RC_GTEST_PROP(DensityChange, NeverLeavesItsRange, ()) {
    const Case c;
    const RatioBounds ratios{ratio_range(c.candidate, c.logger),
                             ratio_range(c.reference, c.logger)};
    const stats::Interval range = density_range(ratios, c.excess, c.model);
    for (int i = 0; i <= 50; ++i) {
        const double z = c.z(i / 50.0, -1 + 3 * part());
        RC_ASSERT(z >= range.lo && z <= range.hi);
    }
}

RC_GTEST_PROP(DensityChange, IsUnbiasedForAnyCentreAndCutNeverTooHigh, ()) {
    const Case c;
    const auto mean_impact = [](double y) { return 2 - 3 * y * y; };
    const double expected =
        integral([&](double y) { return c.logger.density(y) * c.z(y, mean_impact(y)); });
    const double truth =
        integral([&](double y) {
            return mean_impact(y) *
                   (c.candidate.density(y) - (c.model.absolute ? 0 : c.reference.density(y)));
        }) -
        c.model.absolute.value_or(0);
    if (c.model.max_weight) {
        RC_ASSERT(expected <= truth + 1e-6);
    } else {
        RC_ASSERT(std::abs(expected - truth) < 1e-6);
    }
}

RC_GTEST_PROP(DensityChange, DoesNotDependOnTheOriginOfTheImpactScale, ()) {
    const Case c;
    Case moved = c;
    moved.model.lo += 7, moved.model.hi += 7, moved.model.q += 7;
    if (moved.model.absolute) *moved.model.absolute += 7;
    const double y = part(), impact = -1 + 3 * part();
    RC_ASSERT(std::abs(c.z(y, impact) - moved.z(y, impact + 7)) < 1e-6);
}

}  // namespace
}  // namespace rampart::reference
