#include "rampart/fairness/rate_system.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "rampart/base/random.hpp"

namespace rampart::fairness {
namespace {

using ::testing::HasSubstr;

/// Groups are all combinations of sex and race.
dataset::Dataset people(size_t n, uint64_t seed, bool weighted) {
    base::Random random(seed);
    dataset::Dataset data;
    data.group_names = {"race=a,sex=f", "race=a,sex=m", "race=b,sex=f", "race=b,sex=m"};
    for (size_t i = 0; i < n; ++i) {
        // the first eight rows: every group with both labels
        data.label.push_back(static_cast<uint8_t>(i < 8 ? i / 4 : random.below(2)));
        data.group.push_back(static_cast<int32_t>(i < 8 ? i % 4 : random.below(4)));
        if (weighted) data.weight.push_back(static_cast<float>(0.5 + random.uniform()));
    }
    return data;
}

TEST(RateSystem, HandWorkedRates) {
    dataset::Dataset data;
    data.group_names = {"g0", "g1"};
    data.label = {1, 1, 0, 0, 1, 0, 0};
    data.group = {0, 0, 0, 0, 1, 1, 1};
    data.weight = {3, 1, 1, 1, 2, 1, 1};
    const RateConstraints constraints{{{Rate::kFalsePositive, 0.1},
                                       {Rate::kFalseNegative, 0.5},
                                       {Rate::kApproval, 0.1},
                                       {Rate::kError, 0.1}},
                                      {{Rate::kFalsePositive, 0.3}}};
    const auto system = RateSystem::create(data, constraints);
    ASSERT_TRUE(system);
    EXPECT_EQ(system->cells(), 4u);
    EXPECT_EQ(system->cell_weight(), (std::vector<double>{2, 2, 4, 2}));
    // group 0 approves the row of weight 3 and one label 0; group 1 one label 0
    const std::vector<double> approve{1, 0, 1, 0, 0, 1, 0};
    const auto approved = system->approved(data, approve);
    EXPECT_EQ(approved, (std::vector<double>{0.5, 0.5, 0.75, 0}));
    const auto values = system->values(approved);
    EXPECT_EQ(values.rates[0], (std::vector<double>{0.5, 0.5}));
    EXPECT_EQ(values.rates[1], (std::vector<double>{0.25, 1}));
    EXPECT_NEAR(values.rates[2][0], 4.0 / 6, 1e-12);
    EXPECT_NEAR(values.rates[2][1], 1.0 / 4, 1e-12);
    EXPECT_NEAR(values.rates[3][0], 2.0 / 6, 1e-12);
    EXPECT_NEAR(values.rates[3][1], 3.0 / 4, 1e-12);
    EXPECT_EQ(values.targets, (std::vector<double>{0.5}));
    EXPECT_NEAR(values.approval, 0.5, 1e-12);
    EXPECT_NEAR(values.error, 0.5, 1e-12);
    EXPECT_NEAR(values.violation, 4.0 / 6 - 1.0 / 4 - 0.1, 1e-12);
    EXPECT_NEAR(system->parity()[1].rates[0].weight, 0.4, 1e-12);
    EXPECT_EQ(system->parity()[1].rates[0].name, "fnr of g0");
}

RC_GTEST_PROP(RateSystem, RatesAreThoseThatCountingRowsGives, (uint64_t seed, bool weighted)) {
    base::Random random(seed);
    const auto data = people(8 + random.below(60), seed, weighted);
    const RateConstraints constraints{
        {{Rate::kFalseNegative, 0, "sex"}, {Rate::kApproval, 0}, {Rate::kError, 0, "race"}},
        {{Rate::kError, 0}}};
    const auto system = RateSystem::create(data, constraints);
    RC_ASSERT(system.has_value());
    std::vector<double> scores, approve;
    for (size_t i = 0; i < data.rows(); ++i) {
        scores.push_back(static_cast<double>(random.below(5)));
        approve.push_back(scores.back() >= 2 ? 1.0 : 0.0);
    }
    const auto approved = system->approved(data, approve);
    RC_ASSERT(approved == system->approved_from(data, scores, 2));
    const auto values = system->values(approved);
    const auto share = [&](auto counts, auto speaks) {
        double part = 0, all = 0;
        for (size_t i = 0; i < data.rows(); ++i) {
            if (!speaks(i)) continue;
            all += static_cast<double>(data.weight_of(i));
            if (counts(i)) part += static_cast<double>(data.weight_of(i));
        }
        return part / all;
    };
    const auto near = [](double a, double b) { return std::abs(a - b) < 1e-9; };
    for (int sex = 0; sex < 2; ++sex)
        RC_ASSERT(
            near(values.rates[0][static_cast<size_t>(sex)],
                 share([&](size_t i) { return approve[i] == 0; },
                       [&](size_t i) { return data.label[i] == 1 && data.group[i] % 2 == sex; })));
    for (int k = 0; k < 4; ++k)
        RC_ASSERT(near(values.rates[1][static_cast<size_t>(k)],
                       share([&](size_t i) { return approve[i] == 1; },
                             [&](size_t i) { return data.group[i] == k; })));
    const auto wrong = [&](size_t i) { return approve[i] != data.label[i]; };
    for (int race = 0; race < 2; ++race)
        RC_ASSERT(near(values.rates[2][static_cast<size_t>(race)],
                       share(wrong, [&](size_t i) { return data.group[i] / 2 == race; })));
    RC_ASSERT(near(values.targets[0], share(wrong, [](size_t) { return true; })));
    RC_ASSERT(near(values.error, values.targets[0]));
}

TEST(RateSystem, WithoutConstraintsNothingIsViolatedAndGroupsAreNotNeeded) {
    dataset::Dataset data;
    data.label = {0, 1, 1};
    const auto system = RateSystem::create(data, {});
    ASSERT_TRUE(system);
    EXPECT_EQ(system->groups(), 1u);
    EXPECT_LE(system->values(std::vector<double>{1, 0}).violation, 0);
}

TEST(RateSystem, WhatDoesNotExistIsNamed) {
    auto data = people(40, 1, false);
    const auto error = [&](const RateConstraints& constraints) {
        const auto system = RateSystem::create(data, constraints);
        return system ? base::Error{} : system.error();
    };
    EXPECT_EQ(error({{{Rate::kApproval, 0.1, "age"}}, {}}).reason, "unknown_attribute");
    EXPECT_THAT(error({{{Rate::kApproval, 0.1, "age"}}, {}}).message,
                HasSubstr("statistical_parity@age"));
    for (size_t i = 0; i < data.rows(); ++i)
        if (data.group[i] == 2) data.label[i] = 0;
    EXPECT_EQ(error({{{Rate::kFalseNegative, 0.1}}, {}}).reason, "group_without_label");
    EXPECT_THAT(error({{{Rate::kFalseNegative, 0.1}}, {}}).message, HasSubstr("race=b,sex=f"));
    EXPECT_EQ(error({{{Rate::kFalseNegative, 0.1, "sex"}}, {}}).reason, "");  // others have one
    EXPECT_EQ(error({{{Rate::kFalsePositive, 0.1}}, {}}).reason, "");
    std::fill(data.label.begin(), data.label.end(), uint8_t{0});
    EXPECT_EQ(error({{}, {{Rate::kFalseNegative, 0.1}}}).reason, "group_without_label");
    data.group.clear();
    EXPECT_EQ(error({{{Rate::kApproval, 0.1}}, {}}).reason, "too_few_groups");
    data = people(40, 1, false);
    data.group_names = {"a=1", "a=1,b=2", "a=1,b=3", "a=1,b=4"};
    EXPECT_EQ(error({{{Rate::kApproval, 0.1, "a"}}, {}}).reason, "too_few_groups");
    EXPECT_EQ(error({{{Rate::kApproval, 0.1, "b"}}, {}}).reason, "unknown_attribute");
}

TEST(RateSystem, ValuesWithCommasStayWhole) {
    auto data = people(40, 2, false);
    data.group_names = {"job=a, b,sex=f", "job=a, b,sex=m", "job=c,sex=f", "job=c,sex=m"};
    const auto system = RateSystem::create(data, {{{Rate::kApproval, 0.1, "job"}}, {}});
    ASSERT_TRUE(system);
    ASSERT_EQ(system->parity()[0].rates.size(), 2u);
    EXPECT_EQ(system->parity()[0].rates[0].name, "statistical_parity of job=a, b");
}

}  // namespace
}  // namespace rampart::fairness
