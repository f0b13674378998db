#include "rampart/reductions/cell_costs.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "data.hpp"

namespace rampart::reductions {
namespace {

/// Group a: 2 rows of label 0, 1 of label 1; group b: 1 and 4. Rows in that order.
dataset::Dataset eight() {
    dataset::Dataset data;
    data.schema = *dataset::FeatureSchema::create({{"x", {}, {}}});
    data.columns = {std::vector<float>(8, 0.0f)};
    data.group_names = {"a", "b"};
    data.label = {0, 0, 1, 0, 1, 1, 1, 1};
    data.group = {0, 0, 0, 1, 1, 1, 1, 1};
    return data;
}

fairness::RateSystem system_of(const dataset::Dataset& data,
                               std::vector<fairness::ParityConstraint> parity,
                               std::vector<fairness::RateTarget> targets = {}) {
    return fairness::RateSystem::create(data, {std::move(parity), std::move(targets)}).value();
}

using Costs = std::vector<double>;  // label 0 of a, of b, label 1 of a, of b

void expect_near(const Costs& have, const Costs& want) {
    ASSERT_EQ(have.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(have[i], want[i], 1e-12) << i;
}

TEST(CellCosts, WithoutMultipliersAreThePriceOfAMistake) {
    const auto system = system_of(eight(), {{fairness::Rate::kFalseNegative, 0.1, {}}});
    const Costs none = {0, 0};
    expect_near(cell_costs(system, none, 0.5), {1, 1, -1, -1});
    expect_near(cell_costs(system, none, 0.8), {1.6, 1.6, -0.4, -0.4});
}

TEST(CellCosts, OfEachRateByHand) {
    // W = 8, W_c = 2, 1, 1, 4; a multiplier of 0.1 pushes R down in a, up in b
    const auto data = eight();
    const Costs push = {0.1, -0.1};
    const auto with = [&](fairness::Rate rate) {
        return cell_costs(system_of(data, {{rate, 0.1, {}}}), push, 0.5);
    };
    // fpr of a = a_0a: 0.1 · 8/2; of b: -0.1 · 8/1
    expect_near(with(fairness::Rate::kFalsePositive), {1.4, 0.2, -1, -1});
    // fnr of a = 1 - a_1a: -0.1 · 8/1; of b: 0.1 · 8/4
    expect_near(with(fairness::Rate::kFalseNegative), {1, 1, -1.8, -0.8});
    // approval of a = (2 a_0a + a_1a)/3: 0.1 · 8/3 for each of its rows; of b: -0.1 · 8/5
    expect_near(with(fairness::Rate::kApproval), {1 + 0.8 / 3, 0.84, -1 + 0.8 / 3, -1.16});
    // error of a = (2 a_0a + 1 - a_1a)/3
    expect_near(with(fairness::Rate::kError), {1 + 0.8 / 3, 0.84, -1 - 0.8 / 3, -0.84});
}

TEST(CellCosts, AddUpOverConstraintsAndTargets) {
    const auto data = eight();
    const auto both = system_of(
        data, {{fairness::Rate::kFalsePositive, 0, {}}, {fairness::Rate::kFalseNegative, 0, {}}},
        {{fairness::Rate::kFalsePositive, 0.05}});
    ASSERT_EQ(multiplier_count(both), 5u);
    // fpr of all rows = (2 a_0a + a_0b)/3: 0.3 · 8/3 for each row of label 0
    expect_near(cell_costs(both, Costs{0.1, -0.1, 0.1, -0.1, 0.3}, 0.5),
                {1.4 + 0.8, 0.2 + 0.8, -1.8, -0.8});
}

TEST(CellCosts, OfAnAttributeFallOnAllGroupsThatHaveIt) {
    auto data = eight();
    data.group_names = {"sex=f,age=old", "sex=f,age=young", "sex=m,age=old"};
    data.group[7] = 2;
    data.group[0] = 2;
    const auto system = system_of(data, {{fairness::Rate::kApproval, 0.1, "sex"}});
    const auto costs = cell_costs(system, Costs{0.1, -0.1}, 0.5);
    // six rows of women, two of men
    expect_near(costs, {1 + 0.8 / 6, 1 + 0.8 / 6, 1 - 0.4, -1 + 0.8 / 6, -1 + 0.8 / 6, -1 - 0.4});
}

TEST(CellCosts, OfACellWithoutRowsAreNothing) {
    auto data = eight();
    data.label[3] = 1;  // no label 0 in b
    const auto system = system_of(data, {{fairness::Rate::kFalseNegative, 0.1, {}}});
    EXPECT_EQ(cell_costs(system, Costs{0.1, -0.1}, 0.5)[1], 0);
}

TEST(Relabelled, ByTheSignOfTheCostAndWeighedByItsSize) {
    auto data = eight();
    const auto system = system_of(data, {{fairness::Rate::kFalsePositive, 0.1, {}}});
    // mean of |C|: (2·1 + 1·2 + 1·3 + 4·0.25) / 8 = 1
    const auto question = relabelled(system, data, Costs{1, -2, 3, -0.25});
    EXPECT_EQ(question.targets, (std::vector<double>{0, 0, 0, 1, 1, 1, 1, 1}));
    EXPECT_EQ(question.weights, (std::vector<float>{1, 1, 3, 2, 0.25, 0.25, 0.25, 0.25}));
    data.weight = {2, 2, 2, 2, 2, 2, 2, 2};
    const auto heavy = system_of(data, {{fairness::Rate::kFalsePositive, 0.1, {}}});
    EXPECT_EQ(relabelled(heavy, data, Costs{1, -2, 3, -0.25}).weights[3], 4);
}

TEST(Relabelled, ARowThatCostsNothingStillHasAWeight) {
    const auto data = eight();
    const auto system = system_of(data, {{fairness::Rate::kFalsePositive, 0.1, {}}});
    const auto question = relabelled(system, data, Costs{4, 0, 0, 0});
    EXPECT_EQ(question.targets, std::vector<double>(8, 0.0));
    EXPECT_EQ(question.weights[0], 4);
    for (size_t i = 2; i < 8; ++i) EXPECT_EQ(question.weights[i], 1e-6f);
    for (const float w : relabelled(system, data, Costs{0, 0, 0, 0}).weights) EXPECT_GT(w, 0);
}

/// The law that the reduction stands on: L of any decisions is what they cost row by row, plus what
/// does not depend on them.
RC_GTEST_PROP(Lagrangian, IsTheSumOfTheCostsOfApproving, (uint64_t seed)) {
    base::Random random(seed);
    auto data = made_up(40, seed, 3);
    for (size_t i = 0; i < data.rows(); ++i) {
        data.weight.push_back(static_cast<float>(random.uniform(0.5, 2)));
        if (i < 6) data.label[i] = i < 3;  // both labels in all groups
    }
    const auto system =
        system_of(data,
                  {{fairness::Rate::kFalsePositive, 0.1, {}},
                   {fairness::Rate::kFalseNegative, 0.2, {}},
                   {fairness::Rate::kApproval, 0, {}},
                   {fairness::Rate::kError, 1, {}}},
                  {{fairness::Rate::kApproval, 0.3}, {fairness::Rate::kFalseNegative, 0.2}});
    std::vector<double> multipliers(multiplier_count(system));
    for (double& m : multipliers) m = random.normal();
    const double threshold = random.uniform(0.1, 0.9);
    const auto costs = cell_costs(system, multipliers, threshold);
    const auto value = [&](const std::vector<double>& approve) {
        const auto approved = system.approved(data, approve);
        return lagrangian(system, system.values(approved),
                          decision_loss(system, approved, threshold), multipliers);
    };
    std::vector<double> approve(data.rows());
    const double nobody = value(approve);
    double cost = 0;
    for (size_t i = 0; i < data.rows(); ++i) {
        approve[i] = random.uniform();
        cost += approve[i] * static_cast<double>(data.weight_of(i)) *
                costs[system.cell_of_row()[i]] / system.total_weight();
    }
    RC_ASSERT(std::abs(value(approve) - nobody - cost) < 1e-9);
}

TEST(DecisionLoss, AtOneHalfIsTheError) {
    const auto data = eight();
    const auto system = system_of(data, {});
    const Costs approved = {0.5, 1, 0, 0.25};
    EXPECT_NEAR(decision_loss(system, approved, 0.5), system.values(approved).error, 1e-12);
    // label 0: 2·0.5 + 1·1 approved at 0.4, label 1: 1 + 4·0.75 declined at 1.6, of 8
    EXPECT_NEAR(decision_loss(system, approved, 0.2), (2 * 0.4 + 4 * 1.6) / 8, 1e-12);
}

}  // namespace
}  // namespace rampart::reductions
