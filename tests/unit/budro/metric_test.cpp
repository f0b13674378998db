#include "rampart/budro/metric.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>

#include "rampart/base/limits.hpp"
#include "rampart/base/random.hpp"

namespace rampart::budro {
namespace {

using testing::HasSubstr;
constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// Income, age and a relationship; sex (of the rows, no feature) shifts income and relationship.
dataset::Dataset people(size_t n, uint64_t seed) {
    base::Random random(seed);
    dataset::Dataset data;
    data.schema = *dataset::FeatureSchema::create(
        {{"income", dataset::FeatureKind::kNumeric, {}},
         {"age", dataset::FeatureKind::kNumeric, {}},
         {"relation", dataset::FeatureKind::kCategorical, {"husband", "wife", "none"}}});
    data.columns.resize(3);
    data.group_names = {"sex=a", "sex=b"};
    for (size_t i = 0; i < n; ++i) {
        const bool b = random.bernoulli(0.4);
        data.group.push_back(b);
        data.columns[0].push_back(static_cast<float>(40 + 10 * random.normal() - (b ? 8 : 0)));
        data.columns[1].push_back(static_cast<float>(45 + 12 * random.normal()));
        data.columns[2].push_back(random.bernoulli(0.4) ? 2.0f : b ? 1.0f : 0.0f);
        data.label.push_back(random.bernoulli(0.5));
    }
    return data;
}

FairMetricSpec by_sex(const dataset::Dataset& data) {
    FairMetricSpec spec;
    spec.attributes.push_back({.name = "sex", .group = data.group, .groups = 2});
    return spec;
}

std::vector<float> row_of(const dataset::Dataset& data, size_t i) {
    std::vector<float> row(data.schema.size());
    data.copy_row(i, row);
    return row;
}

/// Values far out and codes like 98 set no unit under the robust scale, and hide no direction.
TEST(FairMetric, TheRobustScaleIsThatOfThePeopleWithinTheTails) {
    auto data = people(4000, 21);
    auto spec = by_sex(data);
    spec.scale = FairMetricSpec::Scale::kRobust;
    const auto before = FairMetric::learn(data, spec).value();
    auto standard = spec;
    standard.scale = FairMetricSpec::Scale::kStandard;
    const auto plain = FairMetric::learn(data, standard).value();
    for (size_t i = 0; i < data.rows(); i += 200) {  // half a per cent, far out
        data.columns[0][i] = 1e5F;
        data.columns[1][i + 1] = 98e3F;
    }
    const auto after = FairMetric::learn(data, spec).value();
    const auto shaken = FairMetric::learn(data, standard).value();
    EXPECT_NEAR(after.columns()[0].scale / before.columns()[0].scale, 1, 0.05);
    EXPECT_NEAR(after.columns()[1].scale / before.columns()[1].scale, 1, 0.05);
    EXPECT_LT(shaken.columns()[0].scale / plain.columns()[0].scale, 0.01);
    const auto predicts = [](const FairMetric& metric) {
        return std::abs(metric.directions()[0].coefficients[0]);
    };
    EXPECT_NEAR(predicts(after), predicts(before), 0.05) << "income tells the sex";
    EXPECT_GT(predicts(before), 0.3);
    EXPECT_LT(predicts(shaken), 0.1) << "what the standard scale makes of it";

    std::fill(data.columns[1].begin(), data.columns[1].end(), 0.0F);  // one value but for a few
    data.columns[1][0] = 50;
    EXPECT_EQ(FairMetric::learn(data, spec)->columns()[1].scale,
              FairMetric::learn(data, standard)->columns()[1].scale);
}

TEST(FairMetric, WithoutAnythingProtectedItIsTheStandardisedDistance) {
    auto data = people(4, 1);
    data.columns = {{1, 3, 1, 3}, {10, 10, 10, 10}, {0, 1, 2, 0}};
    const auto metric = FairMetric::learn(data, {});
    ASSERT_TRUE(metric) << metric.error().message;
    EXPECT_EQ(metric->subspace_dimensions(), 0u);
    // income has mean 2 and deviation 1; two categories are sqrt 2 apart; age does not vary
    EXPECT_NEAR(metric->squared_distance(row_of(data, 0), row_of(data, 1)), 4 + 2, 1e-12);
    EXPECT_NEAR(metric->squared_distance(row_of(data, 0), row_of(data, 2)), 2, 1e-12);
    EXPECT_NEAR(metric->squared_distance(row_of(data, 0), row_of(data, 3)), 4, 1e-12);
    const std::vector<float> older{1, 12, 0};
    EXPECT_NEAR(metric->squared_distance(row_of(data, 0), older), 4, 1e-12);
}

TEST(FairMetric, PointsAreAsFarApartAsRows) {
    const auto data = people(60, 2);
    const auto metric = FairMetric::learn(data, by_sex(data));
    ASSERT_TRUE(metric);
    const auto points = metric->embed(data);
    ASSERT_TRUE(points);
    ASSERT_TRUE(validate(*points));
    // 5 columns, less the sum of the categories, less predictor of sex
    EXPECT_EQ(metric->columns().size(), 5u);
    EXPECT_EQ(points->dimensions, 3u);
    for (size_t i = 0; i < 60; i += 7)
        for (size_t j = 0; j < 60; ++j)
            EXPECT_NEAR(squared_distance(points->row(i), points->row(j)),
                        metric->squared_distance(row_of(data, i), row_of(data, j)), 1e-10);
}

TEST(FairMetric, TellsInWhichFeaturesTwoRowsDiffer) {
    const auto data = people(100, 20);
    const auto metric = FairMetric::learn(data, by_sex(data)).value();
    const std::vector<float> a{40, 45, 0}, b{50, 45, 1};
    const auto differences = metric.feature_differences(a, b);
    EXPECT_NEAR(differences[0], std::pow(10 * metric.columns()[0].scale, 2), 1e-12);
    EXPECT_EQ(differences[1], 0);
    EXPECT_EQ(differences[2], 2);
}

TEST(FairMetric, TheFirstCoordinateVariesMost) {
    const auto data = people(500, 3);
    const auto points = FairMetric::learn(data, by_sex(data)).value().embed(data).value();
    std::vector<double> variance(points.dimensions), mean(points.dimensions);
    for (size_t i = 0; i < points.rows; ++i)
        for (size_t k = 0; k < points.dimensions; ++k) mean[k] += points.row(i)[k] / 500;
    for (size_t i = 0; i < points.rows; ++i)
        for (size_t k = 0; k < points.dimensions; ++k)
            variance[k] += std::pow(points.row(i)[k] - mean[k], 2) / 500;
    EXPECT_TRUE(std::is_sorted(variance.rbegin(), variance.rend()));
}

TEST(FairMetric, AStepAlongALearntDirectionCountsForNothing) {
    const auto data = people(2000, 4);
    const auto metric = FairMetric::learn(data, by_sex(data)).value();
    ASSERT_EQ(metric.directions().size(), 1u);
    const auto& w = metric.directions()[0].coefficients;
    EXPECT_EQ(metric.directions()[0].name, "predictor of sex");
    // being b goes with less income and with wife; age predicts nothing
    EXPECT_LT(w[0], -0.1);
    EXPECT_LT(w[2], -0.1);
    EXPECT_GT(w[3], 0.1);
    EXPECT_NEAR(w[1], 0, 0.05);
    // the distance of a husband and a wife otherwise alike is less than that of other pairs
    const std::vector<float> husband{40, 45, 0}, wife{40, 45, 1}, none{40, 45, 2};
    EXPECT_LT(metric.squared_distance(husband, wife), 1.0);
    EXPECT_GT(metric.squared_distance(none, wife), 1.2);
}

TEST(FairMetric, LogisticDirectionsAreStationaryPointsOfTheLoss) {
    const auto data = people(300, 5);
    for (const double l2 : {1e-3, 0.1, 10.0}) {
        auto spec = by_sex(data);
        spec.l2 = l2;
        const auto metric = FairMetric::learn(data, spec).value();
        // The direction w/|w| is optimal iff for some length t and intercept b the gradient is 0:
        // mean (p - y) x = -l2 t w. Find t and b by a fine descent in two variables.
        const auto& w = metric.directions()[0].coefficients;
        const auto& columns = metric.columns();
        std::vector<std::vector<double>> x(300, std::vector<double>(5));
        for (size_t i = 0; i < 300; ++i)
            for (size_t c = 0; c < 5; ++c) {
                const auto& column = columns[c];
                const auto v = static_cast<double>(data.columns[column.feature][i]);
                x[i][c] = column.kind == FairMetric::Kind::kNumber
                              ? (v - column.mean) * column.scale
                              : (v == static_cast<double>(column.code));
            }
        double t = 1, b = 0;
        std::vector<double> gradient(5);
        for (int step = 0; step < 200; ++step) {
            gradient.assign(5, 0);
            double gt = l2 * t, gb = 0, htt = l2, htb = 0, hbb = 0;
            for (size_t i = 0; i < 300; ++i) {
                double s = 0;
                for (size_t c = 0; c < 5; ++c) s += w[c] * x[i][c];
                const double p = 1 / (1 + std::exp(-(t * s + b)));
                const double r = (p - data.group[i]) / 300, h = p * (1 - p) / 300;
                for (size_t c = 0; c < 5; ++c) gradient[c] += r * x[i][c];
                gt += r * s;
                gb += r;
                htt += h * s * s;
                htb += h * s;
                hbb += h;
            }
            const double det = htt * hbb - htb * htb;
            t -= (hbb * gt - htb * gb) / det;
            b -= (htt * gb - htb * gt) / det;
        }
        EXPECT_GT(t, 0);
        for (size_t c = 0; c < 5; ++c) EXPECT_NEAR(gradient[c], -l2 * t * w[c], 1e-9) << l2;
    }
}

TEST(FairMetric, ManyGroupsAreEachToldFromTheRest) {
    auto data = people(900, 6);
    auto spec = by_sex(data);
    spec.attributes[0].groups = 4;  // the last has no rows
    for (size_t i = 0; i < 900; i += 3) spec.attributes[0].group[i] = 2;
    spec.attributes[0].group[1] = -1;
    const auto metric = FairMetric::learn(data, spec);
    ASSERT_TRUE(metric);
    EXPECT_EQ(metric->directions().size(), 2u);
    EXPECT_EQ(metric->directions()[1].name, "predictor of sex=2");
    EXPECT_EQ(metric->subspace_dimensions(), 2u);
    spec.attributes[0].group_names = {"a", "b", "c", "d"};
    EXPECT_EQ(FairMetric::learn(data, spec)->directions()[1].name, "predictor of sex=c");
    spec.attributes[0].group_names.pop_back();
    EXPECT_EQ(FairMetric::learn(data, spec).error().reason, "wrong_size");
}

TEST(FairMetric, RidgePicksTheStrengthThatPredictsBestWhatItHasNotSeen) {
    auto data = people(60, 7);
    const auto fit = [&](std::vector<double> candidates, size_t left_out) {
        // by hand: the same regression without one row
        auto some = data;
        FairMetricSpec spec;
        spec.protected_features = {"age"};
        spec.l2_of_numbers = std::move(candidates);
        if (left_out < 60) some.weight.assign(60, 1.0f);
        if (left_out < 60) some.weight[left_out] = 1e-6f;
        return FairMetric::learn(some, spec);
    };
    for (size_t i = 0; i < 60; ++i)  // income predicts age, with noise
        data.columns[1][i] =
            data.columns[0][i] + static_cast<float>(3 * std::sin(17.0 * double(i)));
    const auto weak = fit({1e-6}, 99), strong = fit({1e3}, 99), best = fit({1e3, 1e-6}, 99);
    ASSERT_TRUE(weak && strong && best);
    EXPECT_EQ(best->directions()[1].coefficients, weak->directions()[1].coefficients);
    EXPECT_NE(best->directions()[1].coefficients, strong->directions()[1].coefficients);
    EXPECT_EQ(weak->directions()[0].name, "age");
    EXPECT_EQ(weak->directions()[1].name, "predictor of age");
    EXPECT_EQ(weak->directions()[1].coefficients[1], 0);  // not by itself
    EXPECT_GT(weak->directions()[1].coefficients[0], 0.9);
}

TEST(FairMetric, AProtectedCategoryVanishesFromTheDistance) {
    auto data = people(500, 8);
    for (auto& code : data.columns[2]) code = std::min(code, 1.0f);  // no row without
    FairMetricSpec spec;
    spec.protected_features = {"relation"};
    const auto metric = FairMetric::learn(data, spec).value();
    const std::vector<float> husband{40, 45, 0}, wife{40, 45, 1}, unknown{40, 45, kMissing};
    EXPECT_NEAR(metric.squared_distance(husband, wife), 0, 1e-12);
    EXPECT_NEAR(metric.squared_distance(husband, unknown), 0, 1e-12);
    const std::vector<float> older{40, 60, 0};
    EXPECT_GT(metric.squared_distance(husband, older), 0.1);
}

TEST(FairMetric, DirectionsOfOnesOwnAndIndicatorsAreTaken) {
    const auto data = people(200, 9);
    FairMetricSpec spec;
    spec.indicators = {"age"};
    spec.directions = {{"money", {{"income", 2}}},
                       {"marriage", {{"relation=wife", 1}, {"relation=husband", -1}}}};
    const auto metric = FairMetric::learn(data, spec).value();
    EXPECT_EQ(metric.subspace_dimensions(), 3u);
    const std::vector<float> poor{10, 20, 0}, rich{90, 70, 1}, single{10, 20, 2};
    EXPECT_NEAR(metric.squared_distance(poor, rich), 0, 1e-12);
    EXPECT_NEAR(metric.squared_distance(poor, single), 1.5, 1e-12);  // what is left of 2
}

/// As two categories, and as a number of 0 and 1 whose weight undoes its standardising.
TEST(FairMetric, AFlagCountsOnce) {
    auto flagged = people(500, 21);
    for (size_t i = 0; i < 500; ++i)
        flagged.columns[2][i] = static_cast<float>(i % 5 == 0 || flagged.group[i] == 1);
    auto numbered = flagged;
    flagged.schema = *dataset::FeatureSchema::create(
        {{"income", {}, {}},
         {"age", {}, {}},
         {"car", dataset::FeatureKind::kCategorical, {"no", "yes"}}});
    numbered.schema =
        *dataset::FeatureSchema::create({{"income", {}, {}}, {"age", {}, {}}, {"car", {}, {}}});
    const auto& cars = numbered.columns[2];
    const double share = std::accumulate(cars.begin(), cars.end(), 0.0) / 500;
    auto spec = by_sex(flagged);
    const auto as_flag = FairMetric::learn(flagged, spec).value();
    spec.weights = {{"car", std::sqrt(share * (1 - share))}};
    const auto as_number = FairMetric::learn(numbered, spec).value();
    for (size_t i = 0; i < 500; i += 7)
        for (size_t j = 0; j < 500; j += 11)
            EXPECT_NEAR(as_flag.squared_distance(row_of(flagged, i), row_of(flagged, j)),
                        as_number.squared_distance(row_of(numbered, i), row_of(numbered, j)), 1e-9);
    const auto plain = FairMetric::learn(flagged, {}).value();
    EXPECT_NEAR(
        plain.squared_distance(std::vector<float>{40, 45, 0}, std::vector<float>{40, 45, 1}), 1,
        1e-12);
}

TEST(FairMetric, WhatIsMissingHasAPlaceOfItsOwn) {
    auto data = people(100, 10);
    data.columns[0][3] = kMissing;
    const auto metric = FairMetric::learn(data, {}).value();
    EXPECT_EQ(metric.column_name(1), "income is missing");
    const float mean = static_cast<float>(metric.columns()[0].mean);
    const std::vector<float> usual{mean, 45, 0}, missing{kMissing, 45, 0};
    EXPECT_NEAR(metric.squared_distance(usual, missing), 1, 1e-6);
    EXPECT_EQ(metric.squared_distance(missing, missing), 0);
    const std::vector<float> nowhere{mean, 45, kMissing};
    EXPECT_NEAR(metric.squared_distance(usual, nowhere), 2.0 / 3, 1e-12);  // the middle of three
}

TEST(FairMetric, WeightsStretchAndLeaveOut) {
    const auto data = people(100, 11);
    const auto plain = FairMetric::learn(data, {}).value();
    FairMetricSpec spec;
    spec.weights = {{"income", 3}, {"age", 0}};
    const auto metric = FairMetric::learn(data, spec).value();
    const std::vector<float> a{40, 20, 0}, b{41, 70, 0};
    const auto income = [&](const FairMetric& m) { return m.columns()[0].scale; };
    EXPECT_NEAR(metric.squared_distance(a, b), std::pow(3 * income(plain), 2), 1e-12);
}

TEST(FairMetric, EverythingMayBeSensitive) {
    const auto data = people(50, 12);
    FairMetricSpec spec;
    spec.indicators = {"income", "age", "relation"};
    const auto metric = FairMetric::learn(data, spec);
    ASSERT_TRUE(metric) << metric.error().message;
    const auto points = metric->embed(data).value();
    EXPECT_EQ(points.dimensions, 1u);
    for (const double value : points.values) EXPECT_EQ(value, 0);
}

TEST(FairMetric, PairsTeachWhichDifferencesMatter) {
    const auto data = people(400, 13);
    base::Random random(1);
    FairMetricSpec spec;
    for (int k = 0; k < 1500; ++k) {  // comparable are those of like age, whatever the rest
        const auto i = static_cast<uint32_t>(random.uniform() * 400),
                   j = static_cast<uint32_t>(random.uniform() * 400);
        if (i != j)
            spec.pairs.push_back({i, j, std::abs(data.columns[1][i] - data.columns[1][j]) < 8});
    }
    const auto metric = FairMetric::learn(data, spec);
    ASSERT_TRUE(metric) << metric.error().message;
    const std::vector<float> base{40, 45, 0}, older{40, 57, 0}, richer{50, 45, 0};
    EXPECT_GT(metric->squared_distance(base, older), 10 * metric->squared_distance(base, richer));
    // a pair of the border is as likely comparable as not: 2 / (1 + exp(d^2)) = 1/2
    const std::vector<float> border{40, 53, 0};
    EXPECT_NEAR(metric->squared_distance(base, border), std::log(3.0), 0.6);
    // S is optimal: no small change of scale is better. The subspace still counts for nothing.
    spec.indicators = {"relation"};
    const auto projected = FairMetric::learn(data, spec).value();
    const std::vector<float> wife{40, 45, 1};
    EXPECT_NEAR(projected.squared_distance(base, wife), 0, 1e-9);
}

TEST(FairMetric, PairsOfTwoRowsHaveAClosedForm) {
    // one dimension, v = 2 for both pairs, one comparable and one not: the mean of
    // log((1+e^d)/2) and -log tanh(d/2) is least where its derivative is 0: e^d = 1 + sqrt 2... by
    // p = 1/(1+e^-d): p = 1/sinh(d)
    dataset::Dataset data;
    data.schema = *dataset::FeatureSchema::create({{"x", dataset::FeatureKind::kNumeric, {}}});
    data.columns = {{-1, 1, -1, 1}};
    data.label = {0, 1, 0, 1};
    FairMetricSpec spec;
    spec.pairs = {{0, 1, true}, {2, 3, false}};
    spec.l2_of_pairs = 1e-9;
    const auto metric = FairMetric::learn(data, spec).value();
    const double d = metric.squared_distance(row_of(data, 0), row_of(data, 1));
    EXPECT_NEAR(1 / (1 + std::exp(-d)), 1 / std::sinh(d), 1e-6);
}

TEST(FairMetric, TheProjectBaselineKeepsNothingOfTheSubspace) {
    const auto data = people(300, 14);
    const auto metric = FairMetric::learn(data, by_sex(data)).value();
    const auto projected = metric.project(data).value();
    EXPECT_EQ(projected.schema.size(), 5u);
    EXPECT_EQ(projected.schema.features()[2].name, "fair:relation=husband");
    EXPECT_EQ(projected.label, data.label);
    const auto& w = metric.directions()[0].coefficients;
    for (size_t i = 0; i < 300; ++i) {
        double along = 0;
        for (size_t c = 0; c < 5; ++c) along += w[c] * static_cast<double>(projected.columns[c][i]);
        EXPECT_NEAR(along, 0, 1e-5);
        const auto row = metric.project_row(row_of(data, i));
        for (size_t c = 0; c < 5; ++c) EXPECT_EQ(row[c], projected.columns[c][i]);
    }
}

TEST(FairMetric, ProjectedTwinsAreTheSameToTheLastBit) {
    auto data = people(300, 16);
    auto spec = by_sex(data);
    spec.indicators = {"relation"};
    const auto metric = FairMetric::learn(data, spec).value();
    const auto before = metric.project(data).value();
    const auto relation = data.schema.find("relation").value();
    for (float& code : data.columns[relation]) code = code == 0 ? 1.0f : 0.0f;
    EXPECT_EQ(metric.project(data)->columns, before.columns);
}

TEST(FairMetric, TheSameRowsGiveTheSameBytesAndTheseTheSameMetric) {
    auto data = people(200, 15);
    data.columns[0][7] = kMissing;
    auto spec = by_sex(data);
    spec.protected_features = {"age"};
    const auto metric = FairMetric::learn(data, spec).value();
    EXPECT_EQ(FairMetric::learn(data, spec).value().encode(), metric.encode());
    const auto again = FairMetric::decode(metric.encode());
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, metric);
    EXPECT_EQ(again->digest(), metric.digest());
    const auto path = std::filesystem::path(testing::TempDir()) / "budro_metric_test.fair";
    ASSERT_TRUE(save_fair_metric(metric, path));
    EXPECT_EQ(load_fair_metric(path).value(), metric);
    std::filesystem::remove(path);
    EXPECT_EQ(load_fair_metric(path).error().code, base::ErrorCode::kNotFound);
}

TEST(FairMetric, HoldsNothingOfAnyRow) {
    const auto data = people(200, 16);
    const auto small = FairMetric::learn(data, by_sex(data)).value().encode();
    const auto more = people(2000, 16);
    EXPECT_EQ(FairMetric::learn(more, by_sex(more)).value().encode().size(), small.size());
}

TEST(FairMetric, DamagedBytesAreRefused) {
    const auto data = people(50, 17);
    const auto bytes = FairMetric::learn(data, by_sex(data)).value().encode();
    for (size_t cut = 0; cut < bytes.size(); cut += 3)
        EXPECT_FALSE(FairMetric::decode(bytes.substr(0, cut)));
    for (size_t at = 0; at < bytes.size(); at += 5) {
        auto changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ 0x41);
        EXPECT_FALSE(FairMetric::decode(changed)) << at;
    }
    EXPECT_FALSE(FairMetric::decode("RAMPARTM"));
    auto newer = bytes;
    newer[11] = 2;
    EXPECT_EQ(FairMetric::decode(newer).error().reason, "unknown_metric_version");
    // a payload that was changed and signed again meets the checks of its content
    for (size_t at = 20; at + 32 < bytes.size(); ++at) {
        auto forged = bytes.substr(0, bytes.size() - 32);
        forged[at] = static_cast<char>(forged[at] ^ 0x40);
        const auto digest = base::sha256(forged);
        forged.append(reinterpret_cast<const char*>(digest.bytes.data()), 32);
        const auto metric = FairMetric::decode(forged);
        if (metric && metric->schema() == data.schema) {
            EXPECT_TRUE(metric->embed(data)) << at;
        }
    }
}

TEST(FairMetric, RefusesOtherSchemas) {
    const auto data = people(50, 18);
    const auto metric = FairMetric::learn(data, {}).value();
    auto other = data;
    other.schema =
        *dataset::FeatureSchema::create({{"income", {}, {}}, {"age", {}, {}}, {"x", {}, {}}});
    EXPECT_EQ(metric.embed(other).error().reason, "other_schema");
    EXPECT_EQ(metric.project(other).error().reason, "other_schema");
}

TEST(FairMetric, BadInputGetsAnErrorThatNamesIt) {
    const auto data = people(50, 19);
    const auto reason = [&](const FairMetricSpec& spec) {
        const auto metric = FairMetric::learn(data, spec);
        return metric ? std::string("none") : metric.error().reason;
    };
    EXPECT_EQ(reason({.protected_features = {"shoe"}}), "unknown_feature");
    EXPECT_EQ(reason({.indicators = {"shoe"}}), "unknown_feature");
    EXPECT_EQ(reason({.weights = {{"shoe", 1}}}), "unknown_feature");
    EXPECT_EQ(reason({.weights = {{"age", -1}}}), "bad_weight");
    EXPECT_EQ(reason({.weights = {{"age", 0}, {"income", 0}, {"relation", 0}}}), "no_columns");
    EXPECT_EQ(reason({.directions = {{"d", {{"relation", 1}}}}}), "unknown_column");
    EXPECT_EQ(reason({.directions = {{"d", {{"age", 0}}}}}), "unpredictable");
    EXPECT_EQ(reason({.l2 = 0}), "bad_l2");
    EXPECT_EQ(reason({.l2_of_numbers = {-1}}), "bad_l2");
    auto one = by_sex(data);
    one.attributes[0].group.assign(50, 1);
    EXPECT_EQ(reason(one), "one_group");
    one.attributes[0].group.assign(50, 2);
    EXPECT_EQ(reason(one), "bad_group");
    one.attributes[0].group.resize(3);
    EXPECT_EQ(reason(one), "wrong_size");
    FairMetricSpec number;
    number.attributes.push_back({.name = "years", .number = std::vector<double>(50, NAN)});
    EXPECT_EQ(reason(number), "nothing_known");
    number.attributes[0].number.assign(50, INFINITY);
    EXPECT_EQ(reason(number), "not_finite");
    number.attributes[0].number.assign(50, 3);
    EXPECT_EQ(reason(number), "unpredictable");
    EXPECT_EQ(reason({.pairs = {{0, 1, true}}}), "one_kind_of_pairs");
    EXPECT_EQ(reason({.pairs = {{0, 1, true}, {3, 3, false}}}), "bad_pair");
    EXPECT_EQ(reason({.pairs = {{0, 1, true}, {3, 50, false}}}), "bad_pair");
    EXPECT_THAT(FairMetric::learn(data, {.indicators = {"shoe"}}).error().message,
                HasSubstr("shoe"));
    dataset::Dataset none;
    none.schema = data.schema;
    none.columns.resize(3);
    EXPECT_EQ(FairMetric::learn(none, {}).error().reason, "no_rows");
}

TEST(FairMetric, ColumnsAreCountedBeforeMatricesAreMade) {
    std::vector<std::string> categories;
    for (size_t k = 0; k <= FairMetric::kMaxColumns; ++k)
        categories.push_back("c" + std::to_string(k));
    dataset::Dataset data;
    data.columns = {{0, 1}};
    data.label = {0, 1};
    data.schema = *dataset::FeatureSchema::create(
        {{"point", dataset::FeatureKind::kCategorical, categories}});
    EXPECT_EQ(FairMetric::learn(data, {}).error().reason, "too_many_columns");
}

}  // namespace
}  // namespace rampart::budro
