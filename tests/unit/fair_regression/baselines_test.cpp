#include "rampart/fair_regression/baselines.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "data.hpp"
#include "rampart/fair_regression/parity.hpp"

namespace rampart::fair_regression {
namespace {

double covariance(const RegressionRows& rows, const std::vector<double>& a, size_t group) {
    double total = 0, mean = 0, share = 0, both = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
        const double w = rows.weight_of(i), in = rows.group_of(i) == group ? 1 : 0;
        total += w;
        mean += w * a[i];
        share += w * in;
        both += w * a[i] * in;
    }
    return both / total - mean / total * (share / total);
}

double squared_error(const RegressionRows& rows, const std::vector<double>& u) {
    double sum = 0, total = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
        sum += rows.weight_of(i) * std::pow(u[i] - rows.label[i], 2);
        total += rows.weight_of(i);
    }
    return sum / total;
}

TEST(FitSeo, ItsPredictionsAreUncorrelatedWithEveryGroup) {
    for (const size_t groups : {2u, 3u}) {
        auto data = made_up_risks(600, 1, groups);
        data.table.columns[0][5] = std::nanf("");
        base::Random random(2);
        for (size_t i = 0; i < 600; ++i)
            data.table.weight.push_back(static_cast<float>(random.uniform(0.5, 2)));
        const auto model = fit_seo(data.table, data.rows()).value();
        const auto predictions = model.predict(data.table);
        for (size_t k = 0; k < groups; ++k)
            EXPECT_NEAR(covariance(data.rows(), predictions, k), 0, 1e-9);
        auto oracle = LinearOracle::create(data.table, {}).value();
        const auto plain =
            fit_unconstrained(data.rows(), RegressionLoss::squared(), oracle).value();
        EXPECT_GT(std::abs(covariance(data.rows(), plain.predictions, 0)), 0.01);
        EXPECT_GT(squared_error(data.rows(), predictions),
                  squared_error(data.rows(), plain.predictions));
    }
}

TEST(FitSeo, NoOtherUncorrelatedSlopesAreBetter) {
    const auto data = made_up_risks(600, 3);
    const auto model = fit_seo(data.table, data.rows(), 1e-9).value();
    const double error = squared_error(data.rows(), model.predict(data.table));
    // with two features the slopes that keep the covariance at 0 are a line: along it both ways
    const auto column = [&](size_t j) {
        return std::vector<double>(data.table.columns[j].begin(), data.table.columns[j].end());
    };
    const double c0 = covariance(data.rows(), column(0), 0);
    const double c1 = covariance(data.rows(), column(1), 0);
    for (const double step : {-0.01, 0.01}) {
        auto other = model;
        other.slope[0] += step;
        other.slope[1] -= step * c0 / c1;
        auto predictions = other.predict(data.table);
        double mean = 0;
        for (size_t i = 0; i < 600; ++i) mean += (data.label[i] - predictions[i]) / 600;
        for (double& u : predictions) u += mean;
        EXPECT_NEAR(covariance(data.rows(), predictions, 0), 0, 1e-9);
        EXPECT_GT(squared_error(data.rows(), predictions), error);
    }
}

/// Uncorrelated is not independent; parity at the same loss or less is what mixtures are for.
TEST(FitSeo, MayLeaveADisparityThatParityDoesNot) {
    auto data = made_up_risks(1000, 4);
    for (size_t i = 0; i < 1000; i += 2) data.table.columns[0][i] *= 3;  // group 0 spreads
    const auto model = fit_seo(data.table, data.rows()).value();
    const auto rows = *LevelRows::create(data.rows(), RegressionLoss::squared(), 40);
    const auto seo = rows.summary(levels_of(model.predict(data.table), 40));
    double disparity = 0;
    for (const double gamma : rows.disparities(seo.tails))
        disparity = std::max(disparity, std::abs(gamma));
    EXPECT_GT(disparity, 0.05);
    auto oracle = LinearOracle::create(data.table, {}).value();
    ParityRegressionParams params;
    params.epsilon = {disparity};
    const auto fair = fit_parity(data.rows(), RegressionLoss::squared(), params, oracle).value();
    EXPECT_LE(fair.train.disparity, disparity + 1e-7);
    EXPECT_LE(fair.train.loss, seo.loss + fair.tolerance);
}

TEST(FitUnconstrained, SaysTheRiskWithinTheUnitInterval) {
    const auto data = made_up_risks(800, 5), fresh = made_up_risks(300, 6);
    auto oracle = LinearOracle::create(data.table, {}, &fresh.table).value();
    const auto plain =
        fit_unconstrained(data.rows(), *RegressionLoss::logistic(), oracle, 300).value();
    ASSERT_EQ(plain.predictions.size(), 800u);
    ASSERT_EQ(plain.validation_predictions.size(), 300u);
    // labels are soft: u stands for sigmoid(5 (2u - 1)), on average the mean label
    const auto loss = *RegressionLoss::logistic();
    double said = 0, seen = 0;
    for (size_t i = 0; i < 800; ++i) {
        EXPECT_GE(plain.predictions[i], 0);
        EXPECT_LE(plain.predictions[i], 1);
        said += loss.label_of(plain.predictions[i]) / 800;
        seen += data.label[i] / 800;
    }
    EXPECT_NEAR(said, seen, 1e-4);
}

TEST(Baselines, BadInputIsNamed) {
    const auto data = made_up_risks(50, 7), other = made_up_risks(40, 8);
    EXPECT_EQ(fit_seo(data.table, {data.label, {}, 1}).error().reason, "bad_groups");
    EXPECT_EQ(fit_seo(other.table, data.rows()).error().reason, "bad_size");
    EXPECT_EQ(fit_seo(data.table, data.rows(), 0).error().reason, "bad_linear_parameter");
    auto rows = data.rows();
    rows.groups = 3;
    EXPECT_EQ(fit_seo(data.table, rows).error().reason, "empty_group");
    auto oracle = LinearOracle::create(data.table, {}).value();
    EXPECT_EQ(fit_unconstrained(rows, RegressionLoss::squared(), oracle).error().reason,
              "empty_group");
}

}  // namespace
}  // namespace rampart::fair_regression
