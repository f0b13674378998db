#include "rampart/fairgbm/multipliers.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

#include "rampart/base/random.hpp"

namespace rampart::fairgbm {
namespace {

/// rows_of_cell: label 0 of each group, then label 1.
fairness::RateSystem system_of(const std::vector<int>& rows_of_cell,
                               const fairness::RateConstraints& constraints) {
    dataset::Dataset data;
    const size_t groups = rows_of_cell.size() / 2;
    for (size_t k = 0; k < groups; ++k) data.group_names.push_back("g" + std::to_string(k));
    for (size_t cell = 0; cell < rows_of_cell.size(); ++cell)
        for (int i = 0; i < rows_of_cell[cell]; ++i) {
            data.label.push_back(static_cast<uint8_t>(cell / groups));
            data.group.push_back(static_cast<int32_t>(cell % groups));
        }
    auto system = fairness::RateSystem::create(data, constraints);
    EXPECT_TRUE(system);
    return *std::move(system);
}

TEST(Multipliers, AStepOfTwoGroupsIsTheDifferenceOfTheirRates) {
    // half of all rows have label 1, a quarter in each group
    const auto system = system_of({10, 10, 10, 10}, {{{fairness::Rate::kFalseNegative, 0.1}}, {}});
    Multipliers multipliers(system, {.step = 2, .aim = 1}, 0.05);
    multipliers.ascend(system.values(std::vector<double>{0, 0, 0.5, 0.9}));  // FNR .5 and .1
    // step 0.1 · u 1/4 · (half the difference - half the tolerance)
    EXPECT_NEAR(multipliers.values()[0], 0.1 * 0.25 * (0.2 - 0.05), 1e-12);
    EXPECT_NEAR(multipliers.values()[1], -0.1 * 0.25 * (0.2 - 0.05), 1e-12);
    const auto cells = multipliers.of_cells();
    EXPECT_EQ(cells[0], 0);  // label 0 has no part in the FNR
    // a rate that has to fall: approvals of its rows are worth more
    EXPECT_NEAR(cells[2], -multipliers.values()[0], 1e-15);
    EXPECT_NEAR(cells[3], -multipliers.values()[1], 1e-15);
}

TEST(Multipliers, AimInsideTheTolerance) {
    const auto system = system_of({10, 10, 10, 10}, {{{fairness::Rate::kFalseNegative, 0.1}}, {}});
    Multipliers multipliers(system, {.step = 2, .aim = 0.5}, 0.05);
    multipliers.ascend(system.values(std::vector<double>{0, 0, 0.5, 0.56}));  // within it
    EXPECT_NEAR(multipliers.values()[0], 0.1 * 0.25 * (0.03 - 0.025), 1e-12);
    multipliers.ascend(system.values(std::vector<double>{0, 0, 0.5, 0.54}));
    EXPECT_LT(multipliers.values()[0], 0.1 * 0.25 * (0.03 - 0.025));
}

TEST(Multipliers, DecayWhenTheRatesAreWithinTheTolerance) {
    const auto system = system_of({10, 10, 10, 10}, {{{fairness::Rate::kFalseNegative, 0.1}}, {}});
    Multipliers multipliers(system, {.step = 2, .aim = 1}, 0.05);
    for (int i = 0; i < 10; ++i)
        multipliers.ascend(system.values(std::vector<double>{0, 0, 0.5, 0.9}));
    const double grown = multipliers.values()[0];
    multipliers.ascend(system.values(std::vector<double>{0, 0, 0.7, 0.7}));
    EXPECT_LT(multipliers.values()[0], grown);
    for (int i = 0; i < 100; ++i)
        multipliers.ascend(system.values(std::vector<double>{0, 0, 0.7, 0.7}));
    EXPECT_EQ(multipliers.values()[0], 0);
    EXPECT_EQ(multipliers.values()[1], 0);
}

RC_GTEST_PROP(Multipliers, AddUpToNothingAndStayUnderTheirCaps, (uint64_t seed)) {
    base::Random random(seed);
    const size_t groups = 2 + random.below(5);
    std::vector<int> rows;
    for (size_t cell = 0; cell < 2 * groups; ++cell)
        rows.push_back(1 + static_cast<int>(random.below(30)));
    const auto system = system_of(rows, {{{fairness::Rate::kFalsePositive, 0.2 * random.uniform()},
                                          {fairness::Rate::kError, 0}},
                                         {{fairness::Rate::kApproval, 0.2}}});
    const AscentParams params{.step = 100 * random.uniform() + 0.01,
                              .damping = random.below(3) * 1.0,
                              .cap = 0.5,
                              .target_cap = 2};
    Multipliers multipliers(system, params, 0.1);
    for (int step = 0; step < 20; ++step) {
        std::vector<double> approved;
        for (size_t cell = 0; cell < 2 * groups; ++cell) approved.push_back(random.uniform());
        multipliers.ascend(system.values(approved));
        const auto& values = multipliers.values();
        for (size_t p = 0; p < 2; ++p) {
            double sum = 0;
            for (size_t k = 0; k < groups; ++k) {
                const double value = values[p * groups + k];
                sum += value;
                RC_ASSERT(std::abs(value) <= 0.5 * system.parity()[p].rates[k].weight * (1 + 1e-9));
            }
            RC_ASSERT(std::abs(sum) < 1e-12);
        }
        RC_ASSERT(values.back() >= 0 && values.back() <= 2 + 1e-12);
    }
}

TEST(Multipliers, ATargetsMultiplierGrowsWhileItIsExceeded) {
    const auto system = system_of({30, 10}, {{}, {{fairness::Rate::kFalsePositive, 0.1}}});
    Multipliers multipliers(system, {.step = 2, .target_cap = 0.2}, 0.05);
    multipliers.ascend(system.values(std::vector<double>{0.3, 0.5}));
    EXPECT_NEAR(multipliers.values()[0], 0.1 * 0.75 * 0.2, 1e-12);
    EXPECT_NEAR(multipliers.of_cells()[0], multipliers.values()[0], 1e-15);
    EXPECT_EQ(multipliers.of_cells()[1], 0);
    for (int i = 0; i < 100; ++i) multipliers.ascend(system.values(std::vector<double>{0.3, 0.5}));
    EXPECT_NEAR(multipliers.values()[0], 0.2 * 0.75, 1e-12);
    for (int i = 0; i < 100; ++i) multipliers.ascend(system.values(std::vector<double>{0, 0.5}));
    EXPECT_EQ(multipliers.values()[0], 0);
}

TEST(Multipliers, DampingIsAddedOnceAndDoesNotAccumulate) {
    const auto system = system_of({10, 10, 10, 10}, {{{fairness::Rate::kFalseNegative, 0}}, {}});
    Multipliers plain(system, {.step = 2, .aim = 1}, 0.05);
    Multipliers damped(system, {.step = 2, .damping = 0.5, .aim = 1}, 0.05);
    const auto unequal = system.values(std::vector<double>{0, 0, 0.5, 0.9});
    plain.ascend(unequal);
    damped.ascend(unequal);
    EXPECT_EQ(plain.values(), damped.values());
    EXPECT_NEAR(damped.of_cells()[3] - plain.of_cells()[3], 0.5 * 0.25 * 0.2, 1e-12);
    const auto equal = system.values(std::vector<double>{0, 0, 0.7, 0.7});
    plain.ascend(equal);
    damped.ascend(equal);
    EXPECT_EQ(plain.of_cells(), damped.of_cells());
}

TEST(Multipliers, AsPrintedTheWorstGroupHasTheFactorOfTheOthersNumber) {
    const auto system =
        system_of({10, 10, 10, 10, 10, 20}, {{{fairness::Rate::kFalseNegative, 0.1}}, {}});
    Multipliers multipliers(system, {.step = 0.5, .paper_compat = true}, 0.05);
    multipliers.ascend(system.values(std::vector<double>{0, 0, 0, 0.2, 0.6, 0.9}));
    // FNR .8, .4, .1: lambda = step · (worst - rate - tolerance), clipped at 0
    EXPECT_EQ(multipliers.values()[0], 0);
    EXPECT_NEAR(multipliers.values()[1], 0.5 * 0.3, 1e-12);
    EXPECT_NEAR(multipliers.values()[2], 0.5 * 0.6, 1e-12);
    const auto cells = multipliers.of_cells({0});
    EXPECT_NEAR(cells[3], -2 * 0.5 * 0.9, 1e-12);
    EXPECT_NEAR(cells[4], 0.5 * 0.3, 1e-12);
    EXPECT_NEAR(cells[5], 0.5 * 0.6, 1e-12);
}

TEST(Multipliers, AreRestoredOnlyForTheSameConstraints) {
    const auto system = system_of({10, 10, 10, 10}, {{{fairness::Rate::kFalseNegative, 0}}, {}});
    Multipliers multipliers(system, {}, 0.05);
    EXPECT_EQ(multipliers.restore({0.1}).error().reason, "other_multipliers");
    EXPECT_EQ(multipliers.restore({0.1, std::nan("")}).error().reason, "bad_multiplier");
    ASSERT_TRUE(multipliers.restore({0.1, -0.1}));
    EXPECT_NEAR(multipliers.values()[0], 0.1, 1e-12);
    EXPECT_NEAR(multipliers.of_cells()[2], -0.1, 1e-12);
}

TEST(Multipliers, RangesAreChecked) {
    const auto reason = [](const AscentParams& params) {
        const auto status = validate(params);
        return status ? std::string("none") : status.error().reason;
    };
    EXPECT_EQ(reason({}), "none");
    EXPECT_EQ(reason({.step = 0}), "bad_multiplier_step");
    EXPECT_EQ(reason({.step = std::nan("")}), "bad_multiplier_step");
    EXPECT_EQ(reason({.damping = -1}), "bad_multiplier_damping");
    EXPECT_EQ(reason({.aim = 1.1}), "bad_multiplier_aim");
    EXPECT_EQ(reason({.cap = 0}), "bad_multiplier_cap");
    EXPECT_EQ(reason({.target_cap = INFINITY}), "bad_multiplier_cap");
}

}  // namespace
}  // namespace rampart::fairgbm
