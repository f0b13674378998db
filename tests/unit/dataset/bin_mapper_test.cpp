#include "rampart/dataset/bin_mapper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "rampart/base/random.hpp"

namespace rampart::dataset {
namespace {

using testing::ElementsAre;

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

Dataset numeric_column(std::vector<float> values, std::vector<float> weight = {}) {
    Dataset data;
    data.schema = FeatureSchema::create({{"x", FeatureKind::kNumeric, {}}}).value();
    data.label.resize(values.size());
    data.columns = {std::move(values)};
    data.weight = std::move(weight);
    return data;
}

FeatureBins fit_one(const Dataset& data, size_t max_bins) {
    return BinMapper::fit(data, max_bins, nullptr).value().features()[0];
}

TEST(BinMapper, FewValuesHaveABinEachWithCutsHalfWay) {
    const auto bins = fit_one(numeric_column({3, 1, 2, 1, kMissing}), 255);
    EXPECT_THAT(bins.cuts, ElementsAre(1.5f, 2.5f));
    EXPECT_EQ(bins.bins(), 3u);
    EXPECT_EQ(bins.bin_of(1), 0);
    EXPECT_EQ(bins.bin_of(1.5f), 0);
    EXPECT_EQ(bins.bin_of(2), 1);
    EXPECT_EQ(bins.bin_of(99), 2);
    EXPECT_EQ(bins.bin_of(kMissing), 3);
}

TEST(BinMapper, NeighbouringFloatsAreToldApart) {
    const float a = 1.0f;
    const float b = std::nextafter(a, 2.0f);
    const auto bins = fit_one(numeric_column({a, b}), 255);
    EXPECT_EQ(bins.bin_of(a), 0);
    EXPECT_EQ(bins.bin_of(b), 1);
    const float big = std::numeric_limits<float>::max();
    const auto wide = fit_one(numeric_column({-big, big}), 255);
    EXPECT_EQ(wide.bin_of(-big), 0);
    EXPECT_EQ(wide.bin_of(big), 1);
}

TEST(BinMapper, ManyValuesFallIntoBinsOfLikeWeight) {
    std::vector<float> values(10'000);
    std::iota(values.begin(), values.end(), 0.0f);
    const auto bins = fit_one(numeric_column(values), 10);
    ASSERT_EQ(bins.bins(), 10u);
    std::vector<int> count(10);
    for (const float x : values) ++count[bins.bin_of(x)];
    for (const int n : count) EXPECT_NEAR(n, 1000, 2);
}

TEST(BinMapper, AHeavyValueHasABinOfItsOwnAndTheRestShareWhatRemains) {
    std::vector<float> values(9'000, 0.0f);  // 90 % zeros
    for (int i = 1; i <= 1'000; ++i) values.push_back(static_cast<float>(i));
    const auto bins = fit_one(numeric_column(values), 11);
    ASSERT_EQ(bins.bins(), 11u);
    EXPECT_EQ(bins.bin_of(0), 0);
    EXPECT_EQ(bins.bin_of(1), 1);
    std::vector<int> count(11);
    for (const float x : values) ++count[bins.bin_of(x)];
    for (size_t b = 1; b < count.size(); ++b) EXPECT_NEAR(count[b], 100, 2);
}

RC_GTEST_PROP(BinMapper, AWeightOfTwoIsTheRowTwice, ()) {
    const auto raw = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::pair<int, bool>>>(
        rc::gen::arbitrary<std::pair<int, bool>>()));
    std::vector<float> values, twice, weight;
    for (const auto& [x, heavy] : raw) {
        const auto value = static_cast<float>(x % 1000);
        values.push_back(value);
        weight.push_back(heavy ? 2 : 1);
        for (int i = 0; i < (heavy ? 2 : 1); ++i) twice.push_back(value);
    }
    const size_t max_bins = *rc::gen::inRange(2, 20);
    RC_ASSERT(fit_one(numeric_column(values, weight), max_bins).cuts ==
              fit_one(numeric_column(twice), max_bins).cuts);
}

RC_GTEST_PROP(BinMapper, CutsRiseAndABinIsTheQuestionWhetherXIsAtMostItsCut, ()) {
    const auto ints =
        *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(-50, 50)));
    const std::vector<float> values(ints.begin(), ints.end());
    const size_t max_bins = *rc::gen::inRange(2, 256);
    const auto bins = fit_one(numeric_column(values), max_bins);
    RC_ASSERT(bins.bins() <= max_bins);
    RC_ASSERT(std::is_sorted(bins.cuts.begin(), bins.cuts.end(), std::less_equal<>()));
    const auto probe = static_cast<float>(*rc::gen::inRange(-120, 120)) / 2;
    for (size_t b = 0; b < bins.cuts.size(); ++b) {
        RC_ASSERT((bins.bin_of(probe) <= b) == (probe <= bins.cuts[b]));
    }
}

Dataset categorical_column(std::vector<float> codes, size_t categories) {
    Dataset data;
    std::vector<std::string> names;
    for (size_t i = 0; i < categories; ++i) names.push_back(std::to_string(i));
    data.schema = FeatureSchema::create({{"c", FeatureKind::kCategorical, names}}).value();
    data.label.resize(codes.size());
    data.columns = {std::move(codes)};
    return data;
}

TEST(BinMapper, CategoriesAreOrderedByFrequencyAndTheRarestShareABin) {
    const auto data = categorical_column({2, 2, 2, 0, 0, 1, 4, kMissing}, 6);
    const auto bins = fit_one(data, 3);
    EXPECT_THAT(bins.codes_of_bin, ElementsAre(ElementsAre(2), ElementsAre(0), ElementsAre(1, 4)));
    EXPECT_EQ(bins.bin_of(2), 0);
    EXPECT_EQ(bins.bin_of(4), 2);
    EXPECT_EQ(bins.bin_of(3), bins.missing_bin());  // no row has it
    EXPECT_EQ(bins.bin_of(kMissing), bins.missing_bin());
    EXPECT_EQ(bins.missing_bin(), 3);
}

TEST(BinMapper, AColumnWithoutValuesHasOnlyMissing) {
    const auto numeric = fit_one(numeric_column({kMissing, kMissing}), 255);
    EXPECT_EQ(numeric.bins(), 1u);
    EXPECT_EQ(numeric.bin_of(kMissing), 1);
    const auto categorical = fit_one(categorical_column({kMissing}, 3), 255);
    EXPECT_EQ(categorical.bins(), 1u);
    EXPECT_EQ(categorical.bin_of(1), categorical.missing_bin());
}

TEST(BinMapper, TheFullNumberOfBinsFitsAByte) {
    std::vector<float> values(5'000);
    std::iota(values.begin(), values.end(), 0.0f);
    const auto bins = fit_one(numeric_column(values), 255);
    EXPECT_EQ(bins.bins(), 255u);
    EXPECT_EQ(bins.missing_bin(), 255);
    EXPECT_EQ(bins.bin_of(1e9f), 254);
}

TEST(BinMapper, ThreadsDoNotChangeTheBins) {
    base::Random random(1);
    Dataset data;
    std::vector<FeatureSpec> features;
    for (int f = 0; f < 7; ++f) {
        features.push_back({"x" + std::to_string(f), FeatureKind::kNumeric, {}});
        auto& column = data.columns.emplace_back();
        for (int i = 0; i < 1'000; ++i) column.push_back(static_cast<float>(random.normal()));
    }
    data.schema = FeatureSchema::create(features).value();
    data.label.resize(1'000);
    base::ThreadPool pool(3);
    const auto alone = BinMapper::fit(data, 64, nullptr).value();
    const auto together = BinMapper::fit(data, 64, &pool).value();
    for (size_t f = 0; f < 7; ++f) {
        EXPECT_EQ(alone.features()[f].cuts, together.features()[f].cuts);
        EXPECT_EQ(alone.bin_column(f, data.columns[f]), together.bin_column(f, data.columns[f]));
    }
}

/// Two records a customer, twelve months an account: the feature moves in one row of each period.
TEST(BinMapper, APeriodicTableKeepsTheValuesOfEveryRowOfThePeriod) {
    for (const size_t period : {2, 12}) {
        const size_t rows = period * BinMapper::kQuantileRows;
        std::vector<float> values(rows, -1.0f);
        for (size_t row = period - 1; row < rows; row += period)
            values[row] = static_cast<float>(row / period % 1000);
        const auto data = numeric_column(std::move(values));
        const auto bins = fit_one(data, 255);
        EXPECT_GE(bins.bins(), 250u) << rows << " rows, one of " << period << " moves";
        EXPECT_EQ(fit_one(data, 255).cuts, bins.cuts);
    }
}

TEST(BinMapper, RowsThatStandForAllHaveTheSharesOfAll) {
    const size_t rows = 2 * BinMapper::kQuantileRows + 77;
    std::vector<float> values;
    for (size_t row = 0; row < rows; ++row) values.push_back(static_cast<float>(row));
    const auto bins = fit_one(numeric_column(values), 10);
    ASSERT_EQ(bins.bins(), 10u);
    for (size_t b = 0; b < bins.cuts.size(); ++b)
        EXPECT_NEAR(bins.cuts[b], static_cast<double>((b + 1) * rows) / 10, 10) << b;
}

TEST(BinMapper, RefusesTooFewAndTooManyBins) {
    const auto data = numeric_column({1, 2});
    EXPECT_EQ(BinMapper::fit(data, 1, nullptr).error().reason, "bad_max_bins");
    EXPECT_EQ(BinMapper::fit(data, 256, nullptr).error().reason, "bad_max_bins");
    EXPECT_TRUE(BinMapper::fit(data, 2, nullptr));
    EXPECT_EQ(BinMapper::fit(numeric_column({INFINITY}), 2, nullptr).error().reason,
              "bad_feature_value");
}

}  // namespace
}  // namespace rampart::dataset
