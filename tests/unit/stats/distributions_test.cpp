#include "rampart/stats/distributions.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "support/golden_numbers.hpp"

namespace rampart::stats {
namespace {

TEST(Normal, KnownPointsOfTheDistribution) {
    EXPECT_DOUBLE_EQ(normal_cdf(0), 0.5);
    EXPECT_NEAR(normal_cdf(1.959963984540054), 0.975, 1e-15);
    EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
    EXPECT_NEAR(normal_quantile(0.025), -1.959963984540054, 1e-14);
    EXPECT_NEAR(normal_quantile(1e-12), -7.034483825301131, 1e-11);
    EXPECT_EQ(normal_quantile(0.5), 0);
}

TEST(Normal, OutsideTheUnitIntervalThereIsNoQuantile) {
    for (const double p : {0.0, 1.0, -0.1, 1.1, std::nan("")})
        EXPECT_TRUE(std::isnan(normal_quantile(p)));
}

TEST(StudentT, QuantilesAgreeWithPublishedFigures) {
    const test::GoldenNumbers golden("elf_vectors.json");
    const std::pair<std::string, double> levels[] = {
        {"0.9", 1 - 0.1},           {"0.95", 1 - 0.05},         {"0.99", 1 - 0.01},
        {"0.991667", 1 - 0.1 / 12}, {"0.998077", 1 - 0.1 / 52}, {"0.9999", 1 - 1e-4}};
    for (const auto& [name, p] : levels) {
        for (const int nu : {1, 2, 5, 29, 59, 499, 100000}) {
            const double expected = golden.number({"t_quantiles", name + "_" + std::to_string(nu)});
            EXPECT_NEAR(student_t_quantile(p, nu) / expected, 1, 1e-10) << name << " nu " << nu;
        }
    }
}

/// Returns P(T <= t) for a whole number of degrees of freedom, by the finite series in the angle of
/// t / sqrt(nu) (Abramowitz and Stegun, 26.7.3 and 26.7.4).
double student_t_cdf(double t, int nu) {
    const double angle = std::atan(t / std::sqrt(nu)), c = std::cos(angle), s = std::sin(angle);
    const bool odd = nu % 2 != 0;
    double term = odd ? c : 1, sum = nu > 1 ? term : 0;
    for (int k = odd ? 3 : 2; k <= nu - 2; k += 2) sum += term *= c * c * (k - 1) / k;
    return 0.5 + (odd ? (angle + s * sum) / M_PI : s * sum / 2);
}

TEST(StudentT, OneAndTwoDegreesOfFreedomHaveClosedForms) {
    for (const double p : {1e-9, 0.006, 0.25, 0.5, 0.7, 0.9, 1 - 1e-6}) {
        // not tan(pi (p - 1/2)), which has no digits left for a small p
        const double one = p == 0.5 ? 0 : -1 / std::tan(M_PI * p);
        const double two = (2 * p - 1) / std::sqrt(2 * p * (1 - p));
        EXPECT_NEAR(student_t_quantile(p, 1), one, 1e-9 * std::abs(one)) << p;
        EXPECT_NEAR(student_t_quantile(p, 2), two, 1e-9 * std::abs(two)) << p;
    }
}

TEST(StudentT, TheTwoWaysToALargeQuantileMeet) {
    EXPECT_NEAR(student_t_quantile(0.999, 99'999), student_t_quantile(0.999, 100'000), 1e-9);
    EXPECT_NEAR(student_t_quantile(0.999, 1e12), normal_quantile(0.999), 1e-10);
}

TEST(StudentT, NonsenseGivesNoNumber) {
    EXPECT_TRUE(std::isnan(student_t_quantile(0, 5)));
    EXPECT_TRUE(std::isnan(student_t_quantile(0.9, 0)));
    EXPECT_TRUE(std::isnan(student_t_quantile(0.9, std::nan(""))));
    EXPECT_TRUE(std::isnan(student_t_quantile(std::nan(""), 3)));
}

RC_GTEST_PROP(StudentT, TheQuantileInvertsTheDistribution, ()) {
    const double p = *rc::gen::inRange(1, 100'000) / 100'000.0;
    const int nu = *rc::gen::inRange(1, 3000);
    RC_ASSERT(std::abs(student_t_cdf(student_t_quantile(p, nu), nu) - p) < 1e-11);
}

}  // namespace
}  // namespace rampart::stats
