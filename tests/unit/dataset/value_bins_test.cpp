#include "rampart/dataset/value_bins.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace rampart::dataset {
namespace {

Dataset table(std::vector<float> numbers, std::vector<float> codes = {}) {
    Dataset data;
    data.schema = FeatureSchema::create({{"x", FeatureKind::kNumeric, {}},
                                         {"c", FeatureKind::kCategorical, {"a", "b", "c"}}})
                      .value();
    data.label.assign(numbers.size(), 0);
    codes.resize(numbers.size(), NAN);
    data.columns = {std::move(numbers), std::move(codes)};
    return data;
}

TEST(ValueBins, HaveAboutEqualWeight) {
    std::vector<float> numbers;
    for (int i = 0; i < 1000; ++i) numbers.push_back(static_cast<float>((i * 337) % 1000));
    const auto data = table(numbers);
    const auto bins = value_bins(data, 0);
    std::map<size_t, int> counts;
    for (size_t i = 0; i < bins.size(); ++i) {
        ++counts[bins[i]];
        EXPECT_EQ(bins[i], static_cast<size_t>(numbers[i]) / 100);
    }
    EXPECT_EQ(counts.size(), kValueBins);
}

TEST(ValueBins, EqualValuesShareOneAndMissingOnesHaveTheirOwn) {
    const auto data = table({1, 1, 1, 1, 1, 1, 1, 2, NAN, 3});
    const auto bins = value_bins(data, 0);
    EXPECT_EQ(bins[0], bins[6]);
    EXPECT_NE(bins[6], bins[7]);
    EXPECT_NE(bins[7], bins[9]);
    EXPECT_EQ(bins[8], kValueBins);
}

TEST(ValueBins, GoByWeight) {
    auto data = table({1, 2, 3});
    data.weight = {8, 1, 1};
    EXPECT_EQ(value_bins(data, 0), (std::vector<size_t>{0, 8, 9}));
    EXPECT_EQ(quantile_bins(std::vector<double>{3, 2, 1}, data), (std::vector<size_t>{2, 1, 0}));
}

TEST(ValueBins, CategoriesAreTheirCodes) {
    const auto data = table({1, 1, 1}, {2, 0, NAN});
    EXPECT_EQ(value_bins(data, 1), (std::vector<size_t>{2, 0, 3}));
    EXPECT_TRUE(value_bins(table({}), 0).empty());
}

}  // namespace
}  // namespace rampart::dataset
