#include "rampart/fair_regression/loss.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rampart::fair_regression {
namespace {

std::vector<RegressionLoss> all_losses() {
    const auto wave = [](double y, double u) { return 0.25 * (1 + std::sin(4 * (u - y))); };
    return {RegressionLoss::squared(),
            RegressionLoss::absolute(),
            *RegressionLoss::logistic(),
            *RegressionLoss::logistic(30),
            *RegressionLoss::quantile(0.2),
            *RegressionLoss::huber(0.3),
            *RegressionLoss::poisson(),
            *RegressionLoss::poisson(0.1),
            *RegressionLoss::user("wave", wave, 1, false)};
}

TEST(RegressionLoss, ValuesAreThoseOfTheFormulas) {
    EXPECT_DOUBLE_EQ(RegressionLoss::squared().value(0.2, 0.6), 0.08);
    EXPECT_DOUBLE_EQ(RegressionLoss::absolute().value(0.2, 0.6), 0.4);
    EXPECT_NEAR(RegressionLoss::quantile(0.25)->value(0.8, 0.4), 0.1, 1e-15);
    EXPECT_NEAR(RegressionLoss::quantile(0.25)->value(0.4, 0.8), 0.3, 1e-15);
    EXPECT_NEAR(RegressionLoss::huber(0.1)->value(0.2, 0.25), 0.00125, 1e-15);
    EXPECT_NEAR(RegressionLoss::huber(0.1)->value(0.2, 0.7), 0.1 * 0.45, 1e-15);
    // the paper's example 2, for both labels
    const auto logistic = *RegressionLoss::logistic();
    for (const double y : {0.0, 1.0})
        EXPECT_NEAR(logistic.value(y, 0.7),
                    std::log1p(std::exp(-5 * (2 * y - 1) * 0.4)) / (2 * std::log1p(std::exp(5.0))),
                    1e-15);
    // a mean of exp(-1): 2 events of at most 10 expected e^-1 · 10
    EXPECT_NEAR(RegressionLoss::poisson(5)->value(0.2, 0.8),
                (std::exp(-1.0) + 0.2 - std::exp(-5.0)) / 5, 1e-15);
}

TEST(RegressionLoss, AllAreLipschitzAndWithinTheUnitInterval) {
    for (const auto& loss : all_losses()) {
        EXPECT_EQ(loss.lipschitz(), 1) << loss.name();
        for (double y = 0; y <= 1; y += 0.05) {
            for (double u = 0; u <= 0.99; u += 0.01) {
                const double here = loss.value(y, u);
                EXPECT_GE(here, -1e-15) << loss.name();
                EXPECT_LE(here, 1 + 1e-15) << loss.name();
                EXPECT_LE(std::abs(loss.value(y, u + 0.01) - here), 0.01 + 1e-12) << loss.name();
                EXPECT_LE(std::abs(loss.value(1 - y, u) - here), std::abs(1 - 2 * y) + 1e-12);
            }
        }
    }
}

TEST(RegressionLoss, APredictionIsBestForItsOwnLabel) {
    for (const auto& loss : all_losses()) {
        if (loss.kind() == LossKind::kUser) continue;
        for (const double u : {0.1, 0.5, 0.85}) {
            const double y = loss.label_of(u);
            for (double other = 0; other <= 1; other += 0.01)
                EXPECT_GE(loss.value(y, other), loss.value(y, u) - 1e-12) << loss.name();
        }
    }
    // not u itself: the paper's weight would have its minimum elsewhere
    const auto logistic = *RegressionLoss::logistic();
    EXPECT_NEAR(logistic.label_of(0.7), 1 / (1 + std::exp(-2.0)), 1e-15);
    const auto slope = [&](double y) {
        return (logistic.value(y, 0.7 + 1e-5) - logistic.value(y, 0.7 - 1e-5)) / 2e-5;
    };
    EXPECT_NEAR(slope(logistic.label_of(0.7)), 0, 1e-9);
    EXPECT_GT(std::abs(slope(0.7)), 0.1);
}

TEST(RegressionLoss, OfTweedieIsTheLikelihoodOfAnAmountAndAsSteepAsItSays) {
    const auto loss = RegressionLoss::tweedie(1.5).value();
    // a mean of exp(15 (0.8 - 1)) = exp(-3)
    EXPECT_NEAR(loss.value(0.1, 0.8), 0.1 * std::exp(1.5) / 0.5 + std::exp(-1.5) / 0.5, 1e-14);
    EXPECT_NEAR(loss.label_of(0.8), std::exp(-3.0), 1e-15);
    double steepest = 0;
    for (const double y : {0.0, 0.01, 0.2, 1.0})
        for (double u = 0; u < 1; u += 0.01) {
            if (y > 0) {
                EXPECT_GE(loss.value(y, u), loss.value(y, 1 + std::log(y) / 15) - 1e-9)
                    << "best at its own mean";
            }
            steepest =
                std::max(steepest, std::abs(loss.value(y, u + 1e-6) - loss.value(y, u)) / 1e-6);
        }
    EXPECT_LE(steepest, loss.lipschitz());
    EXPECT_GT(steepest, 0.9 * loss.lipschitz());
    for (const double bad : {1.0, 2.0, std::nan("")})
        EXPECT_EQ(RegressionLoss::tweedie(bad).error().reason, "bad_loss_parameter");
}

TEST(RegressionLoss, WhatIsClaimedOfAUsersLossIsTried) {
    const auto reason = [](RegressionLoss::Function f, double lipschitz, bool convex) {
        const auto loss = RegressionLoss::user("mine", std::move(f), lipschitz, convex);
        return loss ? std::string("none") : loss.error().reason;
    };
    const auto cubic = [](double y, double u) { return std::pow(std::abs(y - u), 3) / 3; };
    EXPECT_EQ(reason(cubic, 1, true), "none");
    EXPECT_EQ(reason(cubic, 0.5, true), "not_lipschitz");
    EXPECT_EQ(reason([](double y, double) { return 2 * y; }, 1, true), "not_lipschitz");
    EXPECT_EQ(reason([](double, double u) { return u > 0.5 ? 1.0 : 0.0; }, 1, false),
              "not_lipschitz");
    EXPECT_EQ(reason([](double, double u) { return u * (1 - u); }, 1, true), "not_convex");
    EXPECT_EQ(reason([](double, double u) { return u * (1 - u); }, 1, false), "none");
    EXPECT_EQ(reason([](double, double u) { return std::log(u); }, 1, true), "bad_loss_value");
    EXPECT_EQ(reason(nullptr, 1, true), "no_loss");
    EXPECT_EQ(reason(cubic, 0, true), "bad_loss_parameter");
    EXPECT_EQ(reason(cubic, std::nan(""), true), "bad_loss_parameter");
}

TEST(RegressionLoss, ParametersHaveRanges) {
    for (const double bad : {0.0, -1.0, 31.0, std::nan("")}) {
        EXPECT_EQ(RegressionLoss::logistic(bad).error().reason, "bad_loss_parameter");
        EXPECT_EQ(RegressionLoss::poisson(bad).error().reason, "bad_loss_parameter");
        EXPECT_EQ(RegressionLoss::quantile(bad).error().reason, "bad_loss_parameter");
        EXPECT_EQ(RegressionLoss::huber(bad).error().reason, "bad_loss_parameter");
    }
    EXPECT_FALSE(RegressionLoss::quantile(1));
    EXPECT_TRUE(RegressionLoss::huber(1));
}

TEST(UnitLabels, OutsideTheDeclaredRangeThereIsNone) {
    const std::vector<double> labels{300, 850, 575};
    EXPECT_EQ(unit_labels(labels).error().reason, "label_outside_range");
    EXPECT_EQ(unit_labels(labels, {300, 850}).value(), (std::vector<double>{0, 1, 0.5}));
    EXPECT_EQ(unit_labels(labels, {301, 850}).error().reason, "label_outside_range");
    EXPECT_EQ(unit_labels(std::vector{std::nan("")}).error().reason, "label_outside_range");
    EXPECT_EQ(unit_labels(labels, {850, 300}).error().reason, "bad_label_range");
    EXPECT_EQ(unit_labels(labels, {0, INFINITY}).error().reason, "bad_label_range");
    EXPECT_EQ(unit_labels({}).error().reason, "no_rows");
}

}  // namespace
}  // namespace rampart::fair_regression
