#include "rampart/ope/impact_regression.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "rampart/base/random.hpp"

namespace rampart::ope {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Interval kWide{-1000, 1000};

/// Rows of features, actions and impacts, which RegressionData looks into.
struct Rows {
    size_t features = 0;
    std::vector<double> x, impact, weight;
    std::vector<uint8_t> approved;

    void add(const std::vector<double>& row, bool action, double value) {
        features = row.size();
        x.insert(x.end(), row.begin(), row.end());
        approved.push_back(action);
        impact.push_back(value);
    }
    RegressionData data() const { return {features, x, approved, impact, weight}; }
    size_t size() const { return impact.size(); }
    std::span<const double> row(size_t i) const {
        return std::span(x).subspan(i * features, features);
    }
};

double truth(std::span<const double> x, bool approved) {
    return approved ? 3 + 2 * x[0] - x[1] : 1 - 0.5 * x[0];
}

Rows linear(size_t n, uint64_t seed, double noise = 0) {
    base::Random random(seed);
    Rows rows;
    for (size_t i = 0; i < n; ++i) {
        const std::vector<double> x{random.normal(), 5 + 3 * random.normal()};
        const bool action = random.bernoulli(0.4);
        rows.add(x, action, truth(x, action) + noise * random.normal());
    }
    return rows;
}

ImpactRegression fitted(const Rows& rows, const RegressionOptions& options = {},
                        Interval range = kWide) {
    auto model = ImpactRegression::fit(rows.data(), range, options);
    EXPECT_TRUE(model) << model.error().message;
    return *model;
}

TEST(ImpactRegression, FindsALinearImpactOfEachAction) {
    const Rows rows = linear(200, 1);
    const auto model = fitted(rows, {.ridge = 1e-12});
    // where both predictions lie within the fitted values
    for (size_t i = 0; i < rows.size(); ++i) {
        const ControlVariates q = model.predict(rows.row(i));
        const Interval range = model.fitted_range();
        EXPECT_NEAR(q.approve, std::clamp(truth(rows.row(i), true), range.lo, range.hi), 1e-6);
        EXPECT_NEAR(q.decline, std::clamp(truth(rows.row(i), false), range.lo, range.hi), 1e-6);
    }
}

TEST(ImpactRegression, SharedSlopesGiveEveryoneTheSameEffectOfTheAction) {
    const auto rows = linear(500, 2, 0.1);
    const auto model = fitted(rows, {.own_slopes = false});
    const ControlVariates a = model.predict(std::vector<double>{0, 5}),
                          b = model.predict(std::vector<double>{0.5, 4});
    EXPECT_NEAR(a.approve - a.decline, b.approve - b.decline, 1e-9);
}

TEST(ImpactRegression, HandWorkedWithOneFeature) {
    // approvals (0, 1), (1, 3), (2, 5): 1 + 2 x; declines always 2
    Rows rows;
    for (const double x : {0.0, 1.0, 2.0}) rows.add({x}, true, 1 + 2 * x);
    for (const double x : {0.0, 4.0}) rows.add({x}, false, 2);
    const auto model = fitted(rows, {.ridge = 1e-12});
    EXPECT_NEAR(model.predict(std::vector{1.5}).approve, 4, 1e-6);
    EXPECT_NEAR(model.predict(std::vector{3.0}).decline, 2, 1e-6);
    EXPECT_NEAR(model.predict(std::vector{9.0}).approve, 5, 1e-6) << "kept within the fitted";
}

TEST(ImpactRegression, RanksThatAreNotFullAreSolvedByTheRidge) {
    Rows twice, constant, only_approvals;
    const Rows rows = linear(100, 3);
    for (size_t i = 0; i < rows.size(); ++i) {
        const auto x = rows.row(i);
        const bool action = rows.approved[i] != 0;
        twice.add({x[0], x[1], x[0]}, action, rows.impact[i]);
        constant.add({x[0], x[1], 7}, action, rows.impact[i]);
        if (action) only_approvals.add({x[0], x[1]}, true, rows.impact[i]);
    }
    const double expected = truth(std::vector<double>{0.3, 5}, true);
    EXPECT_NEAR(fitted(twice).predict(std::vector<double>{0.3, 5, 0.3}).approve, expected, 1e-4);
    EXPECT_NEAR(fitted(constant).predict(std::vector<double>{0.3, 5, 7}).approve, expected, 1e-4);
    EXPECT_NEAR(fitted(only_approvals).predict(std::vector<double>{0.3, 5}).approve, expected,
                1e-4);
}

TEST(ImpactRegression, MoreFeaturesThanRowsIsSolvedToo) {
    base::Random random(4);
    Rows rows;
    for (int i = 0; i < 20; ++i) {
        std::vector<double> x(50);
        for (double& v : x) v = random.normal();
        rows.add(x, random.bernoulli(0.5), random.uniform(-1, 1));
    }
    const auto model = fitted(rows);
    const Interval range = model.fitted_range();
    EXPECT_GE(range.lo, -1.01);
    EXPECT_LE(range.hi, 1.01);
}

TEST(ImpactRegression, NeitherScaleNorOriginOfAFeatureMatters) {
    const Rows rows = linear(300, 5, 1);
    Rows moved = rows;
    for (size_t i = 0; i < rows.size(); ++i) moved.x[2 * i] = 1e4 * rows.x[2 * i] - 2e4;
    const auto a = fitted(rows), b = fitted(moved);
    for (size_t i = 0; i < rows.size(); ++i) {
        EXPECT_NEAR(a.predict(rows.row(i)).approve, b.predict(moved.row(i)).approve, 1e-3);
        EXPECT_NEAR(a.predict(rows.row(i)).decline, b.predict(moved.row(i)).decline, 1e-3);
    }
}

TEST(ImpactRegression, PredictionsMoveAndGrowWithTheImpacts) {
    const Rows rows = linear(300, 6, 1);
    Rows moved = rows;
    for (double& v : moved.impact) v = 3 * v + 10;
    const auto a = fitted(rows), b = fitted(moved);
    for (size_t i = 0; i < rows.size(); ++i) {
        EXPECT_NEAR(3 * a.predict(rows.row(i)).approve + 10, b.predict(rows.row(i)).approve, 1e-9);
    }
}

TEST(ImpactRegression, AWeightOfTwoIsARowTwice) {
    Rows weighted = linear(100, 7, 1), repeated;
    for (size_t i = 0; i < weighted.size(); ++i) {
        weighted.weight.push_back(i % 3 == 0 ? 2 : 1);
        const auto x = weighted.row(i);
        for (int k = 0; k < (i % 3 == 0 ? 2 : 1); ++k) {
            repeated.add({x.begin(), x.end()}, weighted.approved[i] != 0, weighted.impact[i]);
        }
    }
    const auto a = fitted(weighted), b = fitted(repeated);
    for (size_t i = 0; i < weighted.size(); ++i) {
        EXPECT_NEAR(a.predict(weighted.row(i)).approve, b.predict(weighted.row(i)).approve, 1e-9);
    }
}

TEST(ImpactRegression, RowsWithoutImpactOrWeightCountForNothing) {
    Rows rows = linear(100, 8, 1);
    const auto before = fitted(rows).predict(rows.row(0));
    rows.weight.assign(rows.size(), 1);
    rows.add({100, -100}, true, kNaN);
    rows.weight.push_back(1);
    rows.add({-100, 100}, false, 900);
    rows.weight.push_back(0);
    const auto after = fitted(rows).predict(rows.row(0));
    EXPECT_EQ(before.approve, after.approve);
    EXPECT_EQ(before.decline, after.decline);
}

TEST(ImpactRegression, AnUnknownFeatureIsTakenAsItsMean) {
    Rows rows = linear(100, 9);
    double mean = 0;
    for (size_t i = 0; i < rows.size(); ++i) mean += rows.x[2 * i] / 100;
    const auto model = fitted(rows);
    EXPECT_NEAR(model.predict(std::vector<double>{kNaN, 5}).approve,
                model.predict(std::vector<double>{mean, 5}).approve, 1e-9);
    rows.x[0] = kNaN;
    EXPECT_TRUE(std::isfinite(fitted(rows).predict(std::vector<double>{kNaN, kNaN}).decline));
}

TEST(ImpactRegression, PredictionsStayInTheDeclaredRange) {
    const Rows rows = linear(200, 10);
    const auto model = fitted(rows, {}, {-1, 1});
    for (const double x : {-1e6, 0.0, 1e6}) {
        const ControlVariates q = model.predict(std::vector<double>{x, x});
        EXPECT_GE(std::min(q.approve, q.decline), -1);
        EXPECT_LE(std::max(q.approve, q.decline), 1);
    }
}

std::string reason(const RegressionData& data, Interval range = kWide,
                   const RegressionOptions& options = {}) {
    const auto model = ImpactRegression::fit(data, range, options);
    return model ? "" : model.error().reason;
}

TEST(ImpactRegression, BadInputIsRefusedByName) {
    const Rows good = linear(10, 11);
    EXPECT_EQ(reason(good.data()), "");
    RegressionData data = good.data();
    data.features = 3;
    EXPECT_EQ(reason(data), "bad_shape");
    const std::vector<double> one{1};
    data = good.data();
    data.weight = one;
    EXPECT_EQ(reason(data), "bad_shape");
    EXPECT_EQ(reason(good.data(), {1, 1}), "bad_range");
    EXPECT_EQ(reason(good.data(), {0, kNaN}), "bad_range");
    EXPECT_EQ(reason(good.data(), kWide, {.ridge = 0}), "bad_ridge");
    EXPECT_EQ(reason(good.data(), kWide, {.ridge = kNaN}), "bad_ridge");
    Rows bad = good;
    bad.x[3] = std::numeric_limits<double>::infinity();
    EXPECT_EQ(reason(bad.data()), "bad_regression_data");
    bad = good;
    bad.impact[3] = -std::numeric_limits<double>::infinity();
    EXPECT_EQ(reason(bad.data()), "bad_regression_data");
    bad = good;
    bad.approved[3] = 2;
    EXPECT_EQ(reason(bad.data()), "bad_regression_data");
    bad = good;
    bad.weight.assign(10, 1);
    bad.weight[9] = -1;
    EXPECT_EQ(reason(bad.data()), "bad_regression_data");
    bad.weight.assign(10, 0);
    bad.weight[9] = 1;
    EXPECT_EQ(reason(bad.data()), "too_few_rows");
    bad = good;
    bad.impact[3] = 1e300;
    bad.impact[4] = -1e300;
    EXPECT_EQ(reason(bad.data()), "") << "large is not infinite";
    for (double& v : bad.x) v *= 1e200;
    EXPECT_EQ(reason(bad.data()), "bad_regression_data") << "squares overflow";
}

TEST(CrossFitted, CentresDoNotKnowTheOutcomesOfTheirOwnUnit) {
    Rows rows = linear(120, 12, 1);
    std::vector<uint32_t> unit;
    for (uint32_t i = 0; i < 120; ++i) unit.push_back(i / 3);
    const auto before = *cross_fitted_control_variates(rows.data(), unit, 5, kWide);
    for (size_t i = 30; i < 33; ++i) rows.impact[i] += 500;
    const auto after = *cross_fitted_control_variates(rows.data(), unit, 5, kWide);
    size_t changed = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
        if (unit[i] == 10) {
            EXPECT_EQ(before[i].approve, after[i].approve);
            EXPECT_EQ(before[i].decline, after[i].decline);
        }
        changed += before[i].approve != after[i].approve;
    }
    EXPECT_GT(changed, 50u);
}

TEST(CrossFitted, BadInputIsRefusedByName) {
    const Rows rows = linear(10, 13);
    const std::vector<uint32_t> unit(10, 0), short_unit(9, 0);
    const auto why = [&](std::span<const uint32_t> units, size_t folds) {
        const auto out = cross_fitted_control_variates(rows.data(), units, folds, kWide);
        return out ? "" : out.error().reason;
    };
    EXPECT_EQ(why(unit, 1), "bad_folds");
    EXPECT_EQ(why(unit, 101), "bad_folds");
    EXPECT_EQ(why(short_unit, 5), "bad_shape");
    EXPECT_EQ(why(unit, 5), "too_few_rows") << "one unit is in one fold, and nothing outside it";
}

}  // namespace
}  // namespace rampart::ope
