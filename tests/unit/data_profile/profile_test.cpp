#include "rampart/data_profile/profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "rampart/base/reasons.hpp"
#include "rampart/stats/metrics.hpp"

namespace rampart::data_profile {
namespace {

using dataset::Dataset;
using dataset::FeatureKind;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

/// Ten rows of a number and a category; every number can be checked by hand.
Dataset table() {
    Dataset data;
    data.schema = dataset::FeatureSchema::create(
                      {{"income", FeatureKind::kNumeric, {}},
                       {"home", FeatureKind::kCategorical, {"rent", "own", "never"}}})
                      .value();
    data.columns = {{10, 20, 20, 30, 40, 50, NAN, NAN, 90, 100}, {0, 0, 0, 0, 1, 1, 1, NAN, 1, 0}};
    data.label = {1, 0, 1, 1, 0, 0, 1, 0, 1, 1};
    data.group = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
    data.group_names = {"sex=f", "sex=m"};
    return data;
}

TEST(Profile, OfATableByHand) {
    const auto profile = profile_of(table(), {}).value();
    EXPECT_EQ(profile.all.rows, 10u);
    EXPECT_DOUBLE_EQ(profile.all.label, 0.6);
    EXPECT_TRUE(profile.periods.empty());
    ASSERT_EQ(profile.groups.size(), 2u);
    EXPECT_EQ(profile.groups[1].part.rows, 5u);
    EXPECT_DOUBLE_EQ(profile.groups[1].part.share, 0.5);
    EXPECT_DOUBLE_EQ(profile.groups[1].part.label, 0.6);
    EXPECT_EQ(profile.groups[1].interval, stats::wilson(0.6, 5, 0.95));

    const auto& income = profile.features[0];
    EXPECT_EQ(income.missing.rows, 2u);
    EXPECT_DOUBLE_EQ(income.missing.share, 0.2);
    EXPECT_DOUBLE_EQ(income.missing.label, 0.5);
    EXPECT_EQ(income.distinct, 7u);
    EXPECT_DOUBLE_EQ(income.numbers->mean, 45);
    EXPECT_NEAR(income.numbers->deviation, std::sqrt(975.0), 1e-9);
    EXPECT_EQ(income.numbers->quantiles[3], 30) << "the least value with half of the weight";
    EXPECT_EQ(income.numbers->least, 10);
    EXPECT_EQ(income.numbers->greatest, 100);
    ASSERT_EQ(income.bars.size(), 7u);
    EXPECT_EQ(income.bars[1].name, "20");
    EXPECT_DOUBLE_EQ(income.bars[1].share, 0.2);
    EXPECT_DOUBLE_EQ(income.bars[1].label, 0.5);
    EXPECT_DOUBLE_EQ(income.missing_by_group[0], 0);
    EXPECT_DOUBLE_EQ(income.missing_by_group[1], 0.4);

    const auto& home = profile.features[1];
    EXPECT_EQ(home.distinct, 2u);
    EXPECT_FALSE(home.numbers);
    ASSERT_EQ(home.bars.size(), 2u) << "what does not occur has no bar";
    EXPECT_EQ(home.bars[0].name, "rent");
    EXPECT_EQ(home.bars[0].rows, 5u);
    EXPECT_DOUBLE_EQ(home.bars[0].label, 0.8);
}

TEST(Profile, SharesAreOfTheWeight) {
    auto data = table();
    data.weight.assign(10, 1);
    data.weight[9] = 11;
    const auto profile = profile_of(data, {}).value();
    EXPECT_DOUBLE_EQ(profile.all.label, 16.0 / 20);
    EXPECT_DOUBLE_EQ(profile.features[0].missing.share, 0.1);
    EXPECT_EQ(profile.features[0].numbers->quantiles[3], 100);
    EXPECT_EQ(profile.groups[1].part.rows, 5u);
    EXPECT_DOUBLE_EQ(profile.groups[1].part.share, 0.75);
}

TEST(Profile, TargetsHaveMeansAndNoIntervals) {
    auto data = table();
    data.label.clear();
    data.target = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const auto profile = profile_of(data, {}).value();
    EXPECT_DOUBLE_EQ(profile.all.label, 4.5);
    EXPECT_FALSE(profile.groups[0].interval);
    EXPECT_DOUBLE_EQ(profile.features[1].bars[1].label, 5.75);
}

TEST(Profile, ManyValuesAreInRangesAndManyCategoriesInOthers) {
    std::vector<std::string> categories;
    for (int i = 0; i < 50; ++i) categories.push_back("c" + std::to_string(i));
    Dataset data;
    data.schema = dataset::FeatureSchema::create({{"x", FeatureKind::kNumeric, {}},
                                                  {"c", FeatureKind::kCategorical, categories}})
                      .value();
    data.columns.resize(2);
    for (int i = 0; i < 5000; ++i) {
        data.columns[0].push_back(i == 0 ? 1e9f : static_cast<float>(i));
        data.columns[1].push_back(static_cast<float>(i % 50 < 25 ? i % 25 : i % 50));
        data.label.push_back(i % 2 == 0);
    }
    const auto profile = profile_of(data, {}).value();
    for (const auto& feature : profile.features) {
        ASSERT_EQ(feature.bars.size(), kMaxBars);
        size_t rows = 0;
        double share = 0;
        for (const auto& bar : feature.bars) rows += bar.rows, share += bar.share;
        EXPECT_EQ(rows, 5000u) << "each row is in one";
        EXPECT_NEAR(share, 1, 1e-12);
    }
    EXPECT_GT(profile.features[0].bars[10].rows, 200u) << "one far value makes no range empty";
    EXPECT_EQ(profile.features[1].bars.back().name, "others");
    EXPECT_EQ(profile.features[1].distinct, 50u);
}

TEST(Profile, AFeatureThatChangesIsFoundAndOneThatDoesNotIsNot) {
    std::mt19937_64 random(3);
    std::normal_distribution<float> noise;
    Dataset data;
    data.schema = dataset::FeatureSchema::create({{"steady", FeatureKind::kNumeric, {}},
                                                  {"moves", FeatureKind::kNumeric, {}},
                                                  {"lost", FeatureKind::kNumeric, {}}})
                      .value();
    data.columns.resize(3);
    Periods periods;
    for (uint32_t p = 0; p < 8; ++p) {
        periods.names.push_back("p" + std::to_string(p));
        if (p == 5) continue;  // a period without rows
        for (int i = 0; i < 500; ++i) {
            periods.of_row.push_back(p);
            data.columns[0].push_back(noise(random));
            data.columns[1].push_back(noise(random) + (p == 6 ? 1.0f : 0.0f));
            data.columns[2].push_back(p == 7 ? NAN : noise(random));
            data.label.push_back(i % 3 == 0);
        }
    }
    const auto profile = profile_of(data, periods).value();
    EXPECT_EQ(profile.reference, 2u) << "1,000 of 3,500 rows";
    const auto& steady = profile.features[0];
    EXPECT_TRUE(std::isnan(steady.periods[1].shift)) << "a period of reference";
    EXPECT_TRUE(std::isnan(steady.periods[5].shift)) << "no rows";
    EXPECT_TRUE(std::isnan(profile.periods[5].part.label));
    EXPECT_LT(steady.periods[*steady.most_shifted()].shift,
              3 * steady.periods[*steady.most_shifted()].by_chance);
    EXPECT_EQ(profile.features[1].most_shifted(), 6u);
    EXPECT_EQ(profile.features[2].most_shifted(), 7u);
    EXPECT_EQ(profile.features[2].periods[7].missing, 1);
    const auto words = findings(profile);
    EXPECT_EQ(words.size(), 2u);
    EXPECT_THAT(words, Contains(HasSubstr("moves: other values than before in p6")));
    EXPECT_THAT(words, Contains(HasSubstr("lost: other values than before in p7")));
}

TEST(Profile, WhatAPersonShouldLookAt) {
    auto data = table();
    const auto words = findings(profile_of(data, {}).value());
    EXPECT_THAT(words, Contains("group sex=f has 5 rows: too few for a statement about it"));
    EXPECT_THAT(words, Contains("income: 40.0 % is missing of sex=m, and 0.0 % of sex=f"));
    data.columns[1].assign(10, 1);
    data.columns[0].assign(10, NAN);
    const auto more = findings(profile_of(data, {}).value());
    EXPECT_THAT(more, Contains("home: all values are the same"));
    EXPECT_THAT(more, Contains("income: every value is missing"));
    EXPECT_THAT(more, Contains("income: 100.0 % is missing"));
    data.group.clear();
    data.group_names.clear();
    data.columns[0] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    data.columns[1] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
    EXPECT_THAT(findings(profile_of(data, {}).value()), IsEmpty());
}

TEST(Profile, ATableWithoutRowsHasNone) {
    Dataset data;
    data.schema = dataset::FeatureSchema::create({{"x", FeatureKind::kNumeric, {}}}).value();
    data.columns.resize(1);
    const auto none = profile_of(data, {});
    ASSERT_FALSE(none);
    EXPECT_TRUE(none.error().is(base::Reason::kNoRows));
}

}  // namespace
}  // namespace rampart::data_profile
