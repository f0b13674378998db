#include "rampart/monitoring/group_months.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace rampart::monitoring {
namespace {

constexpr uint32_t kFemale = 0, kMale = 1, kYoung = 2;
const std::vector<std::string> kNames{"sex=female", "sex=male", "age=under_30"};

GroupMonths months_of(const std::vector<std::string>& references = {}) {
    return GroupMonths::create(kNames, references).value();
}

/// Adds `n` decisions, of which the first are approved.
void add(GroupMonths& months, std::string_view month, std::vector<uint32_t> groups, int n,
         int approved, bool matured = false) {
    for (int i = 0; i < n; ++i) months.add({month, groups, 0.25, i < approved, matured});
}

TEST(GroupMonths, CountsEachDecisionInItsMonthForEachOfItsGroupsAndForAll) {
    auto months = months_of();
    add(months, "2005-02", {kFemale}, 3, 1);
    add(months, "2005-01", {kMale, kYoung}, 2, 2);
    add(months, "2005-01", {}, 1, 0);
    EXPECT_EQ(months.months(), (std::vector<std::string>{"2005-01", "2005-02"}));
    EXPECT_EQ(months.of("2005-01").decisions, 3u);
    EXPECT_EQ(months.of("2005-01").approved, 2u);
    EXPECT_EQ(months.of("2005-01", kYoung).decisions, 2u);
    EXPECT_EQ(months.of("2005-01", kFemale).decisions, 0u);
    EXPECT_EQ(months.whole(kFemale).approved, 1u);
    EXPECT_EQ(months.whole().decisions, 6u);
    EXPECT_DOUBLE_EQ(months.whole().p_approve, 6 * 0.25);
    EXPECT_EQ(months.of("2004-12").decisions, 0u);
}

TEST(GroupMonths, WhatHasNotMaturedIsInNoFigureOfOutcomes) {
    auto months = months_of();
    const std::vector<uint32_t> female{kFemale};
    months.add({"2005-01", female, 0.5, true, false, false, 0.0, false, -5.0});  // not read
    months.add({"2005-01", female, 0.5, true, true, false, 0.0, true, -5.0});
    months.add({"2005-01", female, 0.5, true, true, false, 1.0, true, 2.0});
    months.add({"2005-01", female, 0.5, true, true, false, 1.0, false, 9.0});  // still to come
    months.add({"2005-01", female, 0.5, true, true, true});                    // censored
    months.add({"2005-01", female, 0.5, true, true});                          // none came
    months.add({"2005-01", female, 0.5, false, true, false, {}, true, 0.5});
    const auto counted = months.of("2005-01", kFemale);
    EXPECT_EQ(counted.decisions, 7u);
    EXPECT_EQ(counted.matured, 6u);
    EXPECT_EQ(counted.matured_approved, 5u);
    EXPECT_EQ(counted.labelled, 3u);
    EXPECT_EQ(counted.censored, 1u);
    EXPECT_EQ(counted.unfavourable, 1u);
    EXPECT_EQ(counted.impact_due, 3u);
    EXPECT_EQ(counted.impact.n, 3u);
    EXPECT_DOUBLE_EQ(counted.impact.mean, (-5.0 + 2.0 + 0.5) / 3);
}

TEST(GroupMonths, TooFewValuesHaveNoRateAndNoInterval) {
    const Share few{3, kFewestForRate - 1}, enough{3, kFewestForRate};
    EXPECT_FALSE(few.value());
    EXPECT_FALSE(few.interval());
    EXPECT_DOUBLE_EQ(enough.value().value(), 0.15);
    EXPECT_LT(enough.interval()->lo, 0.15);
    EXPECT_GT(enough.interval()->hi, 0.15);
    Mean mean;
    for (uint64_t i = 1; i < kFewestForRate; ++i) mean.add(1);
    EXPECT_FALSE(mean.value());
    mean.add(1);
    EXPECT_TRUE(mean.value());
    EXPECT_FALSE(mean.interval()) << "a few values are not normal";
    while (mean.n < kFewestForMean) mean.add(2);
    EXPECT_TRUE(mean.interval());
}

TEST(GroupMonths, AMeanHasAnIntervalOnlyWhereGoodAndBadOutcomesAreSome) {
    GroupMonth month;
    for (uint64_t i = 0; i < 200; ++i)
        month.add({"2005-01", {}, 0.5, true, true, false, 1.0, true, 75.0});
    EXPECT_FALSE(month.impact.interval()) << "all are the same";
    for (uint64_t i = 0; i < kFewestOfEach; ++i) {
        EXPECT_FALSE(month.impact_interval()) << i;
        month.add({"2005-01", {}, 0.5, true, true, false, 0.0, true, -150.0});
    }
    EXPECT_TRUE(month.impact_interval());
}

TEST(GroupMonths, MeansOfPartsAddUpToThatOfTheWhole) {
    std::mt19937 random(7);
    std::normal_distribution<double> normal(3, 2);
    Mean whole, first, second;
    for (int i = 0; i < 1000; ++i) {
        const double value = normal(random);
        whole.add(value);
        (i % 3 == 0 ? first : second).add(value);
    }
    first.add(second);
    first.add(Mean());
    EXPECT_EQ(first.n, whole.n);
    EXPECT_NEAR(first.mean, whole.mean, 1e-12);
    EXPECT_NEAR(first.squares, whole.squares, 1e-8);
    // t of 999 degrees of freedom at 0.975 is 1.9623
    const double half = 1.9623 * std::sqrt(whole.squares / 999 / 1000);
    EXPECT_NEAR(whole.interval()->hi - whole.mean, half, 1e-5);
}

TEST(GroupMonths, AGroupIsComparedWithTheLargestOfItsAttributeOrTheDeclaredOne) {
    auto months = months_of();
    add(months, "2005-01", {kFemale}, 100, 30);
    add(months, "2005-01", {kMale, kYoung}, 200, 100);
    EXPECT_EQ(months.reference_of(kFemale), kMale);
    EXPECT_EQ(months.reference_of(kMale), kMale);
    EXPECT_EQ(months.reference_of(kYoung), kYoung) << "alone in its attribute";
    const auto ratio = impact_ratio(months.whole(kFemale), months.whole(kMale));
    ASSERT_TRUE(ratio);
    EXPECT_DOUBLE_EQ(ratio->ratio, 0.6);
    EXPECT_LT(ratio->interval.lo, 0.6);
    EXPECT_GT(ratio->interval.hi, 0.6);
    auto declared = months_of({"sex=female"});
    add(declared, "2005-01", {kMale}, 200, 100);
    EXPECT_EQ(declared.reference_of(kMale), kFemale);
}

TEST(GroupMonths, AGroupOfTwoAttributesIsComparedWithOneOfTheSameTwo) {
    auto months = GroupMonths::create({"sex=f", "sex=m", "sex=f,age=old", "sex=m,age=old"}).value();
    add(months, "2005-01", {0, 2}, 50, 10);
    add(months, "2005-01", {1, 3}, 60, 10);
    EXPECT_EQ(months.reference_of(2), 3u);
    EXPECT_EQ(months.reference_of(0), 1u);
}

TEST(GroupMonths, ARatioNeedsValuesOfBothAndAnApproval) {
    GroupMonth some, none;
    for (uint64_t i = 0; i < kFewestForRate; ++i) {
        some.add({"2005-01", {}, 0.5, true});
        none.add({"2005-01", {}, 0.5, false});
    }
    EXPECT_TRUE(impact_ratio(none, some));
    EXPECT_FALSE(impact_ratio(some, none));
    EXPECT_FALSE(impact_ratio(GroupMonth(), some));
    EXPECT_FALSE(impact_ratio(some, GroupMonth()));
}

TEST(GroupMonths, UnknownAndDoubledReferencesAreRefusedByName) {
    const auto unknown = GroupMonths::create(kNames, {"sex=other"});
    EXPECT_EQ(unknown.error().reason, "unknown_group");
    EXPECT_NE(unknown.error().message.find("sex=female, sex=male"), std::string::npos);
    EXPECT_EQ(GroupMonths::create(kNames, {"sex=male", "sex=female"}).error().reason,
              "two_references");
}

}  // namespace
}  // namespace rampart::monitoring
