#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "rampart/base/random.hpp"
#include "rampart/fairness/fairgbm/objective.hpp"

namespace rampart::fairness {
namespace {

/// `cells`: one row a {group, label}; the only feature is the row number.
dataset::Dataset rows_of(const std::vector<std::pair<int, int>>& cells, size_t groups) {
    dataset::Dataset data;
    data.schema = *dataset::FeatureSchema::create({{"x", {}, {}}});
    data.columns.resize(1);
    for (const auto& [group, label] : cells) {
        data.columns[0].push_back(static_cast<float>(data.label.size()));
        data.group.push_back(group);
        data.label.push_back(static_cast<uint8_t>(label));
    }
    for (size_t k = 0; k < groups; ++k) data.group_names.push_back("g" + std::to_string(k));
    return data;
}

// two groups, two rows of each label in each
dataset::Dataset small() {
    return rows_of({{0, 1}, {0, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}, {1, 0}, {1, 0}}, 2);
}

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

FairGbmObjective objective_of(const dataset::Dataset& data, const ParityConstraint& constraint) {
    auto objective = FairGbmObjective::create(data, constraint);
    EXPECT_TRUE(objective);
    return *std::move(objective);
}

TEST(FairGbmObjective, StartsAtTheLogOddsAndWithoutMultipliersIsLogLoss) {
    auto data = rows_of({{0, 1}, {0, 0}, {1, 1}, {1, 0}, {1, 1}, {0, 1}}, 2);
    auto objective = objective_of(data, {});
    EXPECT_NEAR(objective.initial_score(), std::log(2.0), 1e-12);
    const std::vector<double> scores{0.3, -1, 2, 0, 1, -3};
    std::vector<float> g(6), h(6);
    objective.gradients(scores, g, h);
    for (size_t i = 0; i < 6; ++i) {
        const double p = sigma(scores[i]);
        EXPECT_NEAR(g[i], p - data.label[i], 1e-6);
        EXPECT_NEAR(h[i], p * (1 - p), 1e-6);
    }
}

TEST(FairGbmObjective, HandWorkedGradientOfTwoGroups) {
    const auto data = small();
    auto objective = objective_of(data, {.fnr = true, .multiplier_cap = 1});
    objective.set_multipliers({0.1, 0.2});
    // FNR: group 0 declines one of two, group 1 none: group 0 is worst
    const std::vector<double> scores{-1, 1, 0.5, -0.5, 2, 1, 0, 0};
    std::vector<float> g(8), h(8);
    objective.gradients(scores, g, h);
    const double s = std::log(std::exp(1.0) - 1);  // proxy margin 1
    // worst group: + (sum of the others' multipliers) W / W_0 = 0.2 · 8 / 2, proxy slope sigma(f -
    // s) - 1
    EXPECT_NEAR(g[0], sigma(-1) - 1 + 0.8 * (sigma(-1 - s) - 1), 1e-6);
    // other group: - 0.2 · 8 / 2
    EXPECT_NEAR(g[4], sigma(2) - 1 - 0.8 * (sigma(2 - s) - 1), 1e-6);
    EXPECT_NEAR(g[2], sigma(0.5), 1e-6);  // label 0 has no part in the FNR
    const double wrong = sigma(s + 1);
    EXPECT_NEAR(h[0], sigma(-1) * (1 - sigma(-1)) + 0.8 * wrong * (1 - wrong), 1e-6);
    EXPECT_NEAR(h[4], sigma(2) * (1 - sigma(2)), 1e-6);  // no negative curvature
}

TEST(FairGbmObjective, WithThreeGroupsTheWorstOneIsPushedByTheSumOfTheOthersOnly) {
    // the factor m - 1 of the paper's eq. 8 would double this
    const auto data = rows_of({{0, 1}, {0, 0}, {1, 1}, {1, 0}, {2, 1}, {2, 0}}, 3);
    auto objective = objective_of(data, {.fnr = true, .multiplier_cap = 1});
    objective.set_multipliers({0.05, 0.1, 0.02});
    const std::vector<double> scores{1, 0, -1, 0, 1, 0};  // group 1 is worst
    std::vector<float> g(6), h(6);
    objective.gradients(scores, g, h);
    const double s = std::log(std::exp(1.0) - 1);
    EXPECT_NEAR(g[2], sigma(-1) - 1 + (0.05 + 0.02) * 6 * (sigma(-1 - s) - 1), 1e-6);
}

TEST(FairGbmObjective, ThePushFollowsTheTrueRatesEvenWhereTheProxiesDisagree) {
    // group 0 declines 1 of 2 barely; group 1 declines none but one score scrapes by: which is
    // worse by proxy depends on the margin, which by rate does not
    const auto data = small();
    auto objective = objective_of(data, {.fnr = true, .multiplier_cap = 1});
    objective.set_multipliers({0.0, 0.2});  // group 1 is the favoured one, as the ascent finds
    const std::vector<double> scores{-0.01, 9, 0, 0, 0.01, 0.01, 0, 0};
    std::vector<float> g(8), h(8);
    objective.gradients(scores, g, h);
    EXPECT_LT(g[0], sigma(-0.01) - 1 - 0.1);  // helped
    EXPECT_GT(g[4], sigma(0.01) - 1 + 0.1);   // held back
}

TEST(FairGbmObjective, TheAscentUsesTrueWeightedRatesAndStaysInItsRange) {
    auto data = small();
    data.weight = {3, 1, 1, 1, 1, 1, 1, 1};  // W = 10, W_0 = 4, W_1 = 2 of label 1
    auto objective = objective_of(
        data,
        {.fnr = true, .tolerance = 0.05, .multiplier_learning_rate = 0.2, .multiplier_cap = 0.5});
    const std::vector<double> scores{-1, 1, 0, 0, 1, 1, 0, 0};  // FNR: 3/4 and 0
    objective.after_tree(0, scores);
    EXPECT_EQ(objective.multipliers()[0], 0);  // c = -tolerance: clipped at 0
    EXPECT_NEAR(objective.multipliers()[1], 0.2 * 2 / 10 * 0.7, 1e-12);
    EXPECT_EQ(objective.trace().size(), 1u);
    EXPECT_EQ(objective.trace()[0].train.rates, (std::vector<double>{0.75, 0}));
    EXPECT_EQ(objective.trace()[0].train.gap, 0.75);
    for (int i = 1; i < 50; ++i) objective.after_tree(i, scores);
    EXPECT_EQ(objective.multipliers()[1], 0.1);  // the cap: 0.5 · 2 / 10
    const std::vector<double> fair{1, 1, 0, 0, 1, 1, 0, 0};
    for (int i = 0; i < 60; ++i) objective.after_tree(50 + i, fair);
    EXPECT_EQ(objective.multipliers()[1], 0);  // decays when all is well
}

TEST(FairGbmObjective, AScoreOnTheThresholdIsAnApproval) {
    const auto data = small();
    const ParityConstraint constraint{.fpr = true, .fnr = false, .threshold = 0.75};
    const double cut = std::log(3.0);
    const std::vector<double> scores{0, 0, cut, cut - 1e-9, 0, 0, 0, 0};
    const auto rates = parity_rates(data, constraint, scores);
    EXPECT_EQ(rates.rates, (std::vector<double>{0.5, 0}));
}

TEST(FairGbmObjective, TheProxyIsCentredOnTheThreshold) {
    // the same scores relative to the cut give the same constraint push, wherever the cut is
    const auto data = small();
    const auto push = [&](double threshold) {
        auto objective =
            objective_of(data, {.fnr = true, .multiplier_cap = 1, .threshold = threshold});
        objective.set_multipliers({0, 0.2});
        const double cut = std::log(threshold / (1 - threshold));
        const std::vector<double> scores{cut - 1, cut + 1, 0, 0, cut + 2, cut + 1, 0, 0};
        std::vector<float> g(8), h(8);
        objective.gradients(scores, g, h);
        return g[0] - (sigma(scores[0]) - 1);
    };
    EXPECT_NEAR(push(0.5), push(0.8), 1e-6);
}

RC_GTEST_PROP(FairGbmObjective, GradientsAreTheDerivativeOfTheLagrangian, (uint64_t seed)) {
    base::Random random(seed);
    const size_t groups = 2 + random.below(3);
    std::vector<std::pair<int, int>> cells;
    for (size_t k = 0; k < groups; ++k)
        for (int label : {0, 1}) cells.emplace_back(k, label);
    for (int i = 0; i < 20; ++i) cells.emplace_back(random.below(groups), random.bernoulli(0.5));
    auto data = rows_of(cells, groups);
    for (size_t i = 0; i < cells.size(); ++i)
        data.weight.push_back(static_cast<float>(random.uniform(0.5, 3)));
    const ParityConstraint constraint{.fpr = random.bernoulli(0.5),
                                      .fnr = true,
                                      .multiplier_cap = 1,
                                      .threshold = random.uniform(0.3, 0.7)};
    auto objective = objective_of(data, constraint);
    std::vector<double> multipliers(objective.multipliers().size());
    for (double& m : multipliers) m = random.uniform(0, 0.1);
    objective.set_multipliers(multipliers);
    std::vector<double> scores;
    const double cut = std::log(constraint.threshold / (1 - constraint.threshold));
    for (size_t i = 0; i < cells.size();
         ++i)  // away from the cut, where the worst group may change
        scores.push_back(cut + (random.bernoulli(0.5) ? 1 : -1) * random.uniform(0.1, 3));
    std::vector<float> g(cells.size()), h(cells.size());
    objective.gradients(scores, g, h);
    for (size_t i = 0; i < cells.size(); ++i) {
        auto up = scores, down = scores;
        up[i] += 1e-4;
        down[i] -= 1e-4;
        const double slope = (objective.lagrangian(up) - objective.lagrangian(down)) / 2e-4;
        RC_ASSERT(std::abs(g[i] - slope) < 1e-4);
        RC_ASSERT(h[i] > 0);
    }
}

TEST(FairGbmObjective, AGroupWithoutTheLabelNeededIsRefusedUpFront) {
    const auto data = rows_of({{0, 1}, {0, 0}, {1, 0}, {1, 0}}, 2);
    const auto refused = FairGbmObjective::create(data, {.fnr = true});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "group_without_label");
    EXPECT_NE(refused.error().message.find("g1"), std::string::npos);
    EXPECT_TRUE(FairGbmObjective::create(data, {.fpr = true, .fnr = false}));
}

TEST(FairGbmObjective, BadInputIsNamed) {
    const auto data = small();
    const auto reason = [&](const ParityConstraint& constraint) {
        const auto objective = FairGbmObjective::create(data, constraint);
        return objective ? std::string("none") : objective.error().reason;
    };
    EXPECT_EQ(reason({.fpr = false, .fnr = false}), "no_constraint");
    EXPECT_EQ(reason({.tolerance = 1}), "bad_tolerance");
    EXPECT_EQ(reason({.tolerance = -0.1}), "bad_tolerance");
    EXPECT_EQ(reason({.multiplier_learning_rate = 0}), "bad_multiplier_learning_rate");
    EXPECT_EQ(reason({.multiplier_cap = 1.1}), "bad_multiplier_cap");
    EXPECT_EQ(reason({.proxy_margin = 0}), "bad_proxy_margin");
    EXPECT_EQ(reason({.threshold = 1}), "bad_threshold");
    auto alone = rows_of({{0, 1}, {0, 0}}, 1);
    EXPECT_EQ(FairGbmObjective::create(alone, {}).error().reason, "too_few_groups");
    alone.group.clear();
    alone.group_names.clear();
    EXPECT_EQ(FairGbmObjective::create(alone, {}).error().reason, "too_few_groups");
}

}  // namespace
}  // namespace rampart::fairness
