#include "reference/parametric_policy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rampart/base/random.hpp"

namespace rampart::reference {
namespace {

TEST(ParametricPolicy, IsTheLogisticFunctionOfBaseAndFeatures) {
    const std::vector<std::vector<double>> x{{1, 2, -3}, {0.5, 0, 1}};
    const auto policy = LogisticPolicy::create(x, {0.1, -0.2, 4});
    ASSERT_TRUE(policy);
    const std::vector<double> theta{0.3, -1, 2};
    std::vector<double> out(3);
    policy->approve(theta, out);
    const double base[] = {0.1, -0.2, 4};
    for (size_t i = 0; i < 3; ++i) {
        const double logit = base[i] + 0.3 - x[0][i] + 2 * x[1][i];
        EXPECT_NEAR(out[i], 1 / (1 + std::exp(-logit)), 1e-14);
    }
    const std::vector<uint32_t> rows{2, 0};
    std::vector<double> part(2);
    policy->on(rows)->approve(theta, part);
    EXPECT_EQ(part, (std::vector<double>{out[2], out[0]}));
}

TEST(ParametricPolicy, AtTheReferencesLogitsZeroIsTheReference) {
    const std::vector<double> p{0.05, 0.5, 0.97};
    const auto policy = LogisticPolicy::create({{1, 2, 3}}, logits(p));
    ASSERT_TRUE(policy);
    std::vector<double> out(3);
    policy->approve(std::vector<double>{0, 0}, out);
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(out[i], p[i], 1e-12);
}

TEST(ParametricPolicy, ExtremeParametersGiveProbabilities) {
    const auto policy = LogisticPolicy::create({{1, -1}});
    ASSERT_TRUE(policy);
    std::vector<double> out(2);
    policy->approve(std::vector<double>{0, 1e300}, out);
    EXPECT_NEAR(out[0], 1, 1e-12);
    EXPECT_NEAR(out[1], 0, 1e-12);
}

TEST(ParametricPolicy, LogisticRegressionFindsTheParametersBehindItsData) {
    base::Random random(3);
    std::vector<std::vector<double>> x(2);
    std::vector<uint8_t> label;
    for (size_t i = 0; i < 20000; ++i) {
        for (auto& column : x) column.push_back(random.normal());
        const double logit = -0.4 + 1.5 * x[0].back() - 0.7 * x[1].back();
        label.push_back(random.bernoulli(1 / (1 + std::exp(-logit))) ? 1 : 0);
    }
    const auto theta = fit_logistic(x, label, 0);
    ASSERT_TRUE(theta) << theta.error().message;
    EXPECT_NEAR((*theta)[0], -0.4, 0.08);  // standard errors are about 0.02
    EXPECT_NEAR((*theta)[1], 1.5, 0.1);
    EXPECT_NEAR((*theta)[2], -0.7, 0.09);
    const auto shrunk = fit_logistic(x, label, 1e5);
    ASSERT_TRUE(shrunk);
    EXPECT_LT(std::abs((*shrunk)[1]), 0.1);
}

TEST(ParametricPolicy, LogisticRegressionSaysWhenItDoesNotConverge) {
    const auto one_label = fit_logistic({{1, 2, 3}}, std::vector<uint8_t>{1, 1, 1}, 0);
    ASSERT_FALSE(one_label);
    EXPECT_EQ(one_label.error().reason, "no_convergence");
    EXPECT_TRUE(fit_logistic({{1, 2, 3, 4}}, std::vector<uint8_t>{0, 0, 1, 1}, 0.1));
}

TEST(ParametricPolicy, TheTrustRegionIsReachedAndNotLeft) {
    const std::vector<double> reference{0.2, 0.2, 0.9, 0.5};
    std::vector<double> pi{0.9, 0.15, 0.1, std::nan("")};
    into_trust_region(reference, 0.5, pi);
    EXPECT_DOUBLE_EQ(pi[0], 0.3);
    EXPECT_DOUBLE_EQ(pi[1], 0.15);
    EXPECT_DOUBLE_EQ(pi[2], 0.85);
    EXPECT_TRUE(std::isnan(pi[3]));
}

TEST(ParametricPolicy, RefusesColumnsThatDoNotFit) {
    const double inf = std::numeric_limits<double>::infinity();
    EXPECT_FALSE(LogisticPolicy::create({}));
    EXPECT_FALSE(LogisticPolicy::create({{}}));
    EXPECT_FALSE(LogisticPolicy::create({{1, 2}, {1}}));
    EXPECT_FALSE(LogisticPolicy::create({{1, inf}}));
    EXPECT_FALSE(LogisticPolicy::create({{1, 2}}, {1}));
    EXPECT_FALSE(LogisticPolicy::create(std::vector<std::vector<double>>(256, {1.0})));
    EXPECT_TRUE(LogisticPolicy::create(std::vector<std::vector<double>>(255, {1.0})));
    EXPECT_FALSE(fit_logistic({{1, 2}}, std::vector<uint8_t>{0, 1, 1}, 1));
    EXPECT_FALSE(fit_logistic({{1, 2}}, std::vector<uint8_t>{0, 1}, -1));
}

}  // namespace
}  // namespace rampart::reference
