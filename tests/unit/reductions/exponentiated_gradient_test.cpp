#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "data.hpp"
#include "rampart/reductions/train.hpp"

/// Against what is known to be best: with an oracle that finds minima.
namespace rampart::reductions {
namespace {

struct Known {
    std::vector<fairness::Rate> rates;
    double tolerance, loss;
};

/// Optima of the linear program over all 16 classifiers of the toy's features, solved apart.
const std::vector<Known> kKnown = {
    {{fairness::Rate::kApproval}, 0.2, 0.25},
    {{fairness::Rate::kApproval}, 0.1, 0.265},
    {{fairness::Rate::kApproval}, 0.05, 0.29472222},
    {{fairness::Rate::kApproval}, 0.01, 0.32116667},
    {{fairness::Rate::kApproval}, 0, 0.32777778},
    {{fairness::Rate::kFalsePositive, fairness::Rate::kFalseNegative}, 0.2, 0.294},
    {{fairness::Rate::kFalsePositive, fairness::Rate::kFalseNegative}, 0.1, 0.372},
    {{fairness::Rate::kFalsePositive, fairness::Rate::kFalseNegative}, 0.02, 0.4344},
    {{fairness::Rate::kFalsePositive, fairness::Rate::kFalseNegative}, 0, 0.45},
    {{fairness::Rate::kError}, 0.1, 0.27269231},
    {{fairness::Rate::kError}, 0.01, 0.3068125},
    {{fairness::Rate::kError}, 0, 0.3125},
    {{fairness::Rate::kFalseNegative}, 0.01, 0.25},
    {{fairness::Rate::kFalsePositive}, 0.1, 0.288},
    {{fairness::Rate::kFalsePositive}, 0, 0.3},
};

ReductionResult exact(const dataset::Dataset& data, const Known& known, ReductionParams params) {
    params.constraints = {};
    for (const fairness::Rate rate : known.rates)
        params.constraints.parity.push_back({rate, known.tolerance, {}});
    ExactOracle oracle(data);
    auto result = train_reduction(data, params, nullptr, {.oracle = &oracle}).value();
    EXPECT_EQ(static_cast<size_t>(oracle.fits), result.trials.size());
    return result;
}

TEST(ExponentiatedGradient, FindsTheOptimumOfAToyToTheGap) {
    const auto data = toy();
    ReductionParams params;
    params.gap = 1e-6;
    for (const auto& known : kKnown) {
        SCOPED_TRACE(std::string(to_string(known.rates[0])) + std::to_string(known.tolerance));
        const auto result = exact(data, known, params);
        EXPECT_EQ(result.verdict.feasibility, fairgbm::Feasibility::kFeasible);
        EXPECT_TRUE(result.verdict.converged);
        EXPECT_LE(result.verdict.gap, 1e-6);
        EXPECT_NEAR(result.verdict.train.loss, known.loss, 2e-6);
        for (const double gap : result.verdict.train.values.gaps)
            EXPECT_LE(gap, known.tolerance + kRateRounding);
    }
}

TEST(ExponentiatedGradient, LosesNoMoreThanThePublishedMixturesOfTheSameFairness) {
    // fairlearn's unit tests: largest distance of a group from the overall rate, error. The gap
    // between groups of such a mixture is twice that at most.
    struct Published {
        Known known;
        double distance;
    };
    const std::vector<fairness::Rate> odds = {fairness::Rate::kFalsePositive,
                                              fairness::Rate::kFalseNegative};
    const std::vector<Published> published = {{{{fairness::Rate::kApproval}, 0, 0.25}, 0.1},
                                              {{{fairness::Rate::kApproval}, 0, 0.266522}, 0.05},
                                              {{{fairness::Rate::kApproval}, 0, 0.332261}, 0.02},
                                              {{{fairness::Rate::kApproval}, 0, 0.354174}, 0.01},
                                              {{{fairness::Rate::kApproval}, 0, 0.365130}, 0.005},
                                              {{odds, 0, 0.309333}, 0.1},
                                              {{odds, 0, 0.378827}, 0.05},
                                              {{odds, 0, 0.421531}, 0.02},
                                              {{odds, 0, 0.435765}, 0.01},
                                              {{odds, 0, 0.442883}, 0.005},
                                              {{{fairness::Rate::kError}, 0, 0.25625}, 0.1},
                                              {{{fairness::Rate::kError}, 0, 0.3}, 0.05},
                                              {{{fairness::Rate::kError}, 0, 0.32625}, 0.02},
                                              {{{fairness::Rate::kError}, 0, 0.325555}, 0.01},
                                              {{{fairness::Rate::kFalseNegative}, 0, 0.25}, 0.005}};
    const auto data = toy();
    ReductionParams params;
    params.gap = 1e-6;
    for (auto [known, distance] : published) {
        known.tolerance = 2 * distance;
        const auto result = exact(data, known, params);
        EXPECT_LE(result.verdict.train.loss, known.loss + 2e-6)
            << to_string(known.rates[0]) << " " << distance;
    }
}

TEST(ExponentiatedGradient, TheBoundsOfTheGameCloseIn) {
    const auto data = toy();
    ReductionParams params;
    params.gap = 1e-6;
    const auto result = exact(data, {{fairness::Rate::kApproval}, 0.02, 0}, params);
    ASSERT_GT(result.rounds.size(), 2u);
    for (size_t i = 1; i < result.rounds.size(); ++i) {
        const auto &before = result.rounds[i - 1], &now = result.rounds[i];
        // with an oracle that finds minima both bounds only ever get better
        EXPECT_LE(now.upper, before.upper + 1e-9);
        EXPECT_GE(now.lower, before.lower - 1e-9);
        EXPECT_LE(now.step, before.step);
        EXPECT_GE(now.average_upper, now.upper - 1e-9);
        EXPECT_LE(now.lower, 0.31455556 + 1e-7);  // the value of the game
        EXPECT_GE(now.upper, 0.31455556 - 1e-7);
    }
    EXPECT_GT(result.rounds.front().upper - result.rounds.front().lower, 0.1);
}

TEST(ExponentiatedGradient, MultipliersAreOfSumNoneAndWithinTheBound) {
    const auto data = toy();
    ReductionParams params;
    params.gap = 1e-6;
    params.bound = 3;
    const auto result =
        exact(data, {{fairness::Rate::kApproval, fairness::Rate::kError}, 0.02, 0}, params);
    EXPECT_EQ(result.rounds.front().multipliers, std::vector<double>(6, 0.0));
    for (const auto& round : result.rounds) {
        double size = 0;
        for (size_t p = 0; p < 2; ++p) {
            const auto first = round.multipliers.begin() + static_cast<std::ptrdiff_t>(3 * p);
            EXPECT_NEAR(std::accumulate(first, first + 3, 0.0), 0, 1e-9);
        }
        for (const double m : round.multipliers) size += std::abs(m) / 2;
        EXPECT_LE(size, 3 + 1e-9);
    }
}

TEST(ExponentiatedGradient, SaysWhatCanBeReachedWhenTheConstraintsCannotBeKept) {
    // features that say nothing: a rule that approves a share q has a fpr of q and a fnr of 1 - q
    auto data = toy();
    for (auto& column : data.columns) std::fill(column.begin(), column.end(), 0.0f);
    ReductionParams params;
    params.constraints = {
        {}, {{fairness::Rate::kFalsePositive, 0.1}, {fairness::Rate::kFalseNegative, 0.1}}};
    ExactOracle oracle(data);
    const auto result = train_reduction(data, params, nullptr, {.oracle = &oracle}).value();
    EXPECT_EQ(result.verdict.feasibility, fairgbm::Feasibility::kInfeasible);
    EXPECT_NEAR(result.verdict.tightest.violation, 0.4, 1e-6);
    EXPECT_NEAR(result.verdict.train.values.violation, 0.4, 1e-6);
    EXPECT_NEAR(result.verdict.train.values.approval, 0.5, 1e-6);
}

/// Rows of four kinds, groups and weights of any sizes, both labels in every group.
dataset::Dataset any_rows(base::Random& random, size_t groups) {
    dataset::Dataset data;
    data.schema = *dataset::FeatureSchema::create({{"x", {}, {}}});
    data.columns.resize(1);
    for (size_t k = 0; k < groups; ++k) data.group_names.push_back("g" + std::to_string(k));
    const size_t n = 2 * groups + random.below(40);
    for (size_t i = 0; i < n; ++i) {
        const size_t k = i < 2 * groups ? i % groups : random.below(groups);
        data.group.push_back(static_cast<int32_t>(k));
        data.label.push_back(i < 2 * groups ? i < groups : random.bernoulli(0.5));
        data.weight.push_back(static_cast<float>(random.uniform(0.2, 3)));
        const double lean = (data.label[i] == 1 ? 0.4 : 0.1) + (k % 2 == 1 ? 0.2 : 0.0);
        data.columns[0].push_back(static_cast<float>(random.below(3) + random.bernoulli(lean)));
    }
    return data;
}

/// Mixtures of the 16 classifiers are decisions with a probability for each kind: none may cost
/// less, violations priced in, than the lower bound of the game.
RC_GTEST_PROP(ExponentiatedGradient, FindsTheValueOfAnyGame, (uint64_t seed)) {
    base::Random random(seed);
    const auto data = any_rows(random, 2 + random.below(3));
    ReductionParams params;
    params.fits = 300;
    params.bound = 1e5;
    params.gap = 1e-4;
    params.operating_point.threshold = random.uniform(0.2, 0.8);
    params.constraints = {};
    const double tolerance = random.below(3) == 0 ? 0.0 : random.uniform(0, 0.3);
    for (const fairness::Rate rate :
         {fairness::Rate::kFalsePositive, fairness::Rate::kFalseNegative, fairness::Rate::kApproval,
          fairness::Rate::kError})
        if (random.bernoulli(0.4)) params.constraints.parity.push_back({rate, tolerance, {}});
    if (random.bernoulli(0.3))
        params.constraints.targets.push_back(
            {fairness::Rate::kFalsePositive, random.uniform(0.05, 0.5)});
    ExactOracle oracle(data);
    const auto result = train_reduction(data, params, nullptr, {.oracle = &oracle}).value();
    RC_ASSERT(result.verdict.converged);
    const auto& kept = result.verdict.train;
    const auto& last = result.rounds.back();
    const bool feasible = result.verdict.feasibility == fairgbm::Feasibility::kFeasible;
    // what keeps the constraints and costs least costs the value of the game, at prices that forbid
    // to violate them; but for a rounding of 1e-8 at those prices
    RC_ASSERT(!feasible || kept.loss >= last.lower - 2e-8 * params.bound);
    RC_ASSERT(!feasible || kept.loss <= last.upper + 1e-5);
    std::vector<double> approve(data.rows());
    const auto system = fairness::RateSystem::create(data, params.constraints).value();
    for (int draws = 0; draws < 200; ++draws) {
        double rule[4];
        for (double& p : rule) p = random.uniform();
        for (size_t i = 0; i < data.rows(); ++i)
            approve[i] = rule[static_cast<size_t>(data.columns[0][i])];
        const auto approved = system.approved(data, approve);
        const double loss = decision_loss(system, approved, params.operating_point.threshold);
        const double violation = system.values(approved).violation;
        RC_ASSERT(loss + params.bound * std::max(0.0, violation) >= last.lower - 1e-6);
        RC_ASSERT(feasible || violation > 0);
    }
}

}  // namespace
}  // namespace rampart::reductions
