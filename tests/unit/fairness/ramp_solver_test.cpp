#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rampart/base/limits.hpp"
#include "rampart/base/random.hpp"
#include "rampart/fairness/ramp/solver.hpp"

namespace rampart::fairness {
namespace {

struct Rows {
    std::vector<double> score;
    std::vector<int32_t> group;
    std::vector<float> weight;
    size_t groups = 1;
    RampProblem view() const { return {score, group, groups, weight}; }
};

/// Four groups whose scores lean further and further towards approval.
Rows leaning(size_t n, uint64_t seed) {
    base::Random random(seed);
    Rows rows;
    rows.groups = 4;
    for (size_t i = 0; i < n; ++i) {
        rows.group.push_back(static_cast<int32_t>(i % 4));
        rows.score.push_back(std::tanh(0.8 * random.normal() + 0.4 * rows.group.back() - 0.9));
    }
    return rows;
}

double spread(const std::vector<double>& rates) {
    const auto [lo, hi] = std::minmax_element(rates.begin(), rates.end());
    return *hi - *lo;
}

TEST(Ramp, ThePapersExampleOfNecessaryRandomisationIsSolved) {
    // Example 1: x in {-1, 0, 1} with p 1/2, 1/3, 1/6; f = 2 eta - 1 = x; group 1 holds half of x =
    // -1 and all of x = 0. Group 0: 3 rows at -1, 2 at 1; group 1: 3 at -1, 4 at 0.
    const Rows rows{
        {-1, -1, -1, 1, 1, -1, -1, -1, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1}, {}, 2};
    const auto solution = solve_ramp(rows.view(), {.gamma = 0, .epsilon = 0});
    ASSERT_TRUE(solution);
    EXPECT_NEAR(solution->rates[0], 0.4, 1e-12);
    EXPECT_NEAR(solution->rates[1], 0.4, 1e-12);
    EXPECT_NEAR(solution->rule.apply(0, 1), 0.7, 1e-12);  // as the paper says
    EXPECT_NEAR(solution->rule.apply(1, 0), 1, 1e-12);
    EXPECT_NEAR(solution->rule.apply(-1, 0), 0, 1e-12);
}

TEST(Ramp, OneGroupWithoutABudgetKeepsTheThresholdAtZero) {
    const Rows rows{{-.5, -.1, .2, .9}, {}, {}, 1};
    for (double gamma : {0.0, 0.3, 2.0}) {
        const auto solution = solve_ramp(rows.view(), {.gamma = gamma});
        ASSERT_TRUE(solution);
        EXPECT_EQ(solution->rule.thresholds, std::vector<double>{0}) << gamma;
    }
}

TEST(Ramp, ASlackBudgetLeavesTheRatesAlone) {
    const Rows rows = leaning(400, 3);
    const auto free = solve_ramp(rows.view(), {.gamma = 0.2, .epsilon = 1});
    ASSERT_TRUE(free);
    const double rate = free->overall_rate;
    const auto slack = solve_ramp(rows.view(), {.gamma = 0.2,
                                                .epsilon = spread(free->rates) + 0.01,
                                                .overall = {rate - 0.01, rate + 0.01}});
    ASSERT_TRUE(slack);
    EXPECT_EQ(slack->rates, free->rates);
    EXPECT_EQ(slack->rule.thresholds, std::vector<double>(4, 0.0));
}

TEST(Ramp, ParityHoldsExactlyOnTheFittingRows) {
    const Rows rows = leaning(4000, 4);
    for (double epsilon : {0.0, 0.05}) {
        const auto solution = solve_ramp(rows.view(), {.gamma = 0.1, .epsilon = epsilon});
        ASSERT_TRUE(solution);
        EXPECT_NEAR(spread(solution->rates), epsilon, 1e-12);
        EXPECT_LE(std::abs(solution->gap), 1e-10);
    }
}

TEST(Ramp, AFixedCentreIsKept) {
    const Rows rows = leaning(1000, 5);
    const auto solution = solve_ramp(rows.view(), {.gamma = 0.1, .epsilon = 0.1, .rho = 0.3});
    ASSERT_TRUE(solution);
    EXPECT_EQ(solution->rho, 0.3);
    for (double rate : solution->rates) EXPECT_LE(std::abs(rate - 0.3), 0.05 + 1e-12);
    EXPECT_LE(std::abs(solution->gap), 1e-10);
}

TEST(Ramp, AFixedCentreWithNoRoomGivesTheSameRuleForBothRegularisers) {
    const Rows rows = leaning(1000, 6);
    const auto centred = solve_ramp(rows.view(), {.gamma = 0.5, .epsilon = 0, .rho = 0.3});
    const auto paper = solve_ramp(
        rows.view(), {.gamma = 0.5, .epsilon = 0, .rho = 0.3, .regulariser = Regulariser::kPaper});
    ASSERT_TRUE(centred && paper);
    for (size_t k = 0; k < 4; ++k)
        for (double f : {-0.7, -0.1, 0.05, 0.6})
            EXPECT_NEAR(centred->rule.apply(f, k), paper->rule.apply(f, k), 1e-9);
}

TEST(Ramp, ThePapersRegulariserWithAFreeCentreIsWorse) {
    // it pulls towards declines, the more the larger gamma is: agreement with the scores suffers
    const Rows rows = leaning(4000, 7);
    for (double gamma : {0.5, 1.0}) {
        const auto centred = solve_ramp(rows.view(), {.gamma = gamma});
        const auto paper =
            solve_ramp(rows.view(), {.gamma = gamma, .regulariser = Regulariser::kPaper});
        ASSERT_TRUE(centred && paper);
        EXPECT_LT(paper->overall_rate, centred->overall_rate - 0.05) << gamma;
        EXPECT_LT(paper->mean_product, centred->mean_product - 0.005) << gamma;
    }
}

TEST(Ramp, PushingEveryGroupToTheEdgeOfTheBandIsWorse) {
    // what gradient steps do that forget the multipliers of a small budget: all rates at rho +
    // epsilon/2
    const Rows rows = leaning(2000, 8);
    const RampParams params{.gamma = 0.1, .epsilon = 0.1};
    const auto best = solve_ramp(rows.view(), params);
    ASSERT_TRUE(best);
    const auto pushed = solve_ramp(
        rows.view(), {.gamma = 0.1, .epsilon = 0, .rho = best->rho + params.epsilon / 2});
    ASSERT_TRUE(pushed);
    EXPECT_GT(pushed->objective, best->objective + 1e-4);
}

TEST(Ramp, TheBudgetIsMetAndCostsNoMoreThanNeeded) {
    const Rows rows = leaning(2000, 9);
    for (double gamma : {0.0, 0.2}) {
        const auto free = solve_ramp(rows.view(), {.gamma = gamma, .epsilon = 0.05});
        ASSERT_TRUE(free);
        const double cap = free->overall_rate - 0.1, floor = free->overall_rate + 0.1;
        const auto fewer =
            solve_ramp(rows.view(), {.gamma = gamma, .epsilon = 0.05, .overall = {0, cap}});
        const auto more =
            solve_ramp(rows.view(), {.gamma = gamma, .epsilon = 0.05, .overall = {floor, 1}});
        ASSERT_TRUE(fewer && more);
        EXPECT_NEAR(fewer->overall_rate, cap, 1e-12);
        EXPECT_NEAR(more->overall_rate, floor, 1e-12);
        EXPECT_LE(spread(fewer->rates), 0.05 + 1e-12);
        EXPECT_LE(spread(more->rates), 0.05 + 1e-12);
        EXPECT_LE(std::abs(fewer->gap), 1e-10);
        EXPECT_LE(std::abs(more->gap), 1e-10);
    }
}

TEST(Ramp, ABudgetForOneGroupRandomisesOnlyTheTies) {
    const Rows rows{{-.5, .1, .1, .1, .1, .8}, {}, {}, 1};
    const auto solution = solve_ramp(rows.view(), {.gamma = 0, .overall = {0, 0.5}});
    ASSERT_TRUE(solution);
    EXPECT_NEAR(solution->rule.apply(.1, 0), 0.5, 1e-12);
    EXPECT_EQ(solution->rule.apply(.8, 0), 1);
    EXPECT_EQ(solution->rule.apply(-.5, 0), 0);
}

TEST(Ramp, AtTheEndsOfTheScaleEverybodyOrNobodyIsApproved) {
    const Rows rows = leaning(100, 10);
    for (double gamma : {0.0, 0.1}) {
        for (double rho : {0.0, 1.0}) {
            const auto solution = solve_ramp(rows.view(), {.gamma = gamma, .rho = rho});
            ASSERT_TRUE(solution);
            for (double rate : solution->rates) EXPECT_NEAR(rate, rho, 1e-12);
            EXPECT_LE(std::abs(solution->gap), 1e-10);
        }
    }
}

TEST(Ramp, BadInputIsNamed) {
    const auto reason = [](const Rows& rows, const RampParams& params) {
        const auto solution = solve_ramp(rows.view(), params);
        return solution ? std::string("none") : solution.error().reason;
    };
    const Rows good{{0.5, -0.5}, {0, 1}, {}, 2};
    EXPECT_EQ(reason(good, {}), "none");
    EXPECT_EQ(reason(good, {.gamma = -1}), "bad_gamma");
    EXPECT_EQ(reason(good, {.gamma = 1e-7}), "bad_gamma");
    EXPECT_EQ(reason(good, {.gamma = std::nan("")}), "bad_gamma");
    EXPECT_EQ(reason(good, {.epsilon = 1.01}), "bad_epsilon");
    EXPECT_EQ(reason(good, {.rho = -0.1}), "bad_rho");
    EXPECT_EQ(reason(good, {.overall = {0.6, 0.5}}), "bad_overall");
    EXPECT_EQ(reason(good, {.epsilon = 0.1, .rho = 0.5, .overall = {0.6, 1}}),
              "infeasible_overall");
    EXPECT_EQ(reason({{0.5}, {0}, {}, 2}, {}), "empty_group");
    EXPECT_EQ(reason({{0.5, 1.5}, {0, 1}, {}, 2}, {}), "bad_score");
    EXPECT_EQ(reason({{0.5, 0.5}, {0, 2}, {}, 2}, {}), "bad_group");
    EXPECT_EQ(reason({{0.5, 0.5}, {0, 1}, {1.0f, -1.0f}, 2}, {}), "bad_weight");
    EXPECT_EQ(reason({{0.5, 0.5}, {0}, {}, 2}, {}), "size_mismatch");
    EXPECT_EQ(reason({{}, {}, {}, 1}, {}), "size_mismatch");
    EXPECT_EQ(reason({{0.5}, {}, {}, base::limits::kMaxGroups + 1}, {}), "bad_group_count");
    EXPECT_NE(solve_ramp(Rows{{0.5, 1.5}, {0, 1}, {}, 2}.view(), {}).error().message.find("row 1"),
              std::string::npos);
}

}  // namespace
}  // namespace rampart::fairness
