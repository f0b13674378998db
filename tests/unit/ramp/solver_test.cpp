#include "rampart/ramp/solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rampart/base/limits.hpp"
#include "rampart/base/random.hpp"

namespace rampart::ramp {
namespace {

struct Rows {
    std::vector<double> score;
    std::vector<int32_t> group;
    std::vector<float> weight;
    size_t groups = 1;
    std::vector<int32_t> stratum = {};
    RampProblem view() const { return {score, group, groups, weight, stratum}; }
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

TEST(Ramp, EachGroupMayHaveAnEpsilonOfItsOwn) {
    const Rows rows = leaning(2000, 11);
    RampParams params{.gamma = 0.1, .epsilons = {0, 0.1, 0.02, 0.3}};
    const auto solution = solve_ramp(rows.view(), params);
    ASSERT_TRUE(solution);
    for (size_t k = 0; k < 4; ++k)
        EXPECT_LE(std::abs(solution->rates[k] - solution->rho), params.epsilons[k] / 2 + 1e-12);
    EXPECT_NEAR(solution->rates[0], solution->rho, 1e-12);
    EXPECT_NEAR(std::abs(solution->rates[3] - solution->rho), 0.15, 1e-12);
    EXPECT_LE(std::abs(solution->gap), 1e-12);

    params.epsilons = {0.1, 0.1, 0.1, 0.1};
    const auto alike = solve_ramp(rows.view(), params);
    const auto shared = solve_ramp(rows.view(), {.gamma = 0.1, .epsilon = 0.1});
    ASSERT_TRUE(alike && shared);
    EXPECT_EQ(alike->rule.thresholds, shared->rule.thresholds);
}

TEST(Ramp, WithinStrataParityIsAskedOfEachOnItsOwn) {
    Rows rows = leaning(2000, 12);
    rows.stratum = {0, 1, 0, 1};
    const auto both = solve_ramp(rows.view(), {.gamma = 0.1, .epsilon = 0.02});
    ASSERT_TRUE(both);
    ASSERT_EQ(both->centres.size(), 2u);
    EXPECT_GT(std::abs(both->centres[0] - both->centres[1]), 1e-3);
    // without a budget nothing couples them
    for (const std::vector<int32_t>& pair : {std::vector<int32_t>{0, 2}, {1, 3}}) {
        Rows one;
        one.groups = 2;
        for (size_t i = 0; i < rows.score.size(); ++i)
            for (int32_t k : {0, 1})
                if (rows.group[i] == pair[static_cast<size_t>(k)]) {
                    one.score.push_back(rows.score[i]);
                    one.group.push_back(k);
                }
        const auto alone = solve_ramp(one.view(), {.gamma = 0.1, .epsilon = 0.02});
        ASSERT_TRUE(alone);
        for (size_t k : {0u, 1u})
            EXPECT_NEAR(alone->rates[k], both->rates[static_cast<size_t>(pair[k])], 1e-12);
    }
    // with one they share its price
    const auto fewer =
        solve_ramp(rows.view(), {.gamma = 0.1, .epsilon = 0.02, .overall = {0, 0.2}});
    ASSERT_TRUE(fewer);
    EXPECT_NEAR(fewer->overall_rate, 0.2, 1e-12);
    EXPECT_NEAR(std::abs(fewer->rates[0] - fewer->rates[2]), 0.02, 1e-12);
    EXPECT_NEAR(std::abs(fewer->rates[1] - fewer->rates[3]), 0.02, 1e-12);
    EXPECT_LE(std::abs(fewer->gap), 1e-12);
}

/// Weighted covariance of the rule's q and membership of `later` among the rows of two groups.
double covariance(const Rows& rows, const model::RampRule& rule, int32_t first, int32_t later) {
    double w = 0, q = 0, s = 0, qs = 0;
    for (size_t i = 0; i < rows.score.size(); ++i) {
        if (rows.group[i] != first && rows.group[i] != later) continue;
        const double one = rows.weight.empty() ? 1 : rows.weight[i];
        const double at = rule.apply(rows.score[i], static_cast<size_t>(rows.group[i]));
        const double in = rows.group[i] == later ? 1 : 0;
        w += one, q += one * at, s += one * in, qs += one * at * in;
    }
    return qs / w - q / w * s / w;
}

TEST(Ramp, CovariancesWithinSubgroupsAreKeptAndReported) {
    Rows rows = leaning(1500, 13);
    base::Random random(14);
    for (size_t i = 0; i < rows.score.size(); ++i)
        rows.weight.push_back(static_cast<float>(random.uniform(0.2, 3)));
    rows.stratum = {0, 1, 0, 1};
    RampParams params{.gamma = 0.1, .epsilon = 0.01, .criterion = RampCriterion::kCovariance};
    const auto solution = solve_ramp(rows.view(), params);
    ASSERT_TRUE(solution);
    ASSERT_EQ(solution->covariances.size(), 2u);
    EXPECT_NEAR(solution->covariances[0], covariance(rows, solution->rule, 0, 2), 1e-12);
    EXPECT_NEAR(solution->covariances[1], covariance(rows, solution->rule, 1, 3), 1e-12);
    for (double value : solution->covariances) EXPECT_NEAR(value, 0.01, 1e-12);  // both bind
    EXPECT_LE(std::abs(solution->gap), 1e-12);
    // a quarter is the most that a covariance can be: nothing is asked
    params.epsilon = 0.25;
    const auto free = solve_ramp(rows.view(), params);
    ASSERT_TRUE(free);
    EXPECT_EQ(free->rule.thresholds, std::vector<double>(4, 0.0));
    // a stratum of one group has no covariance
    rows.stratum = {0, 0, 1, 2};
    params.epsilon = 0;
    const auto alone = solve_ramp(rows.view(), params);
    ASSERT_TRUE(alone);
    EXPECT_EQ(alone->covariances[1], 0);
    EXPECT_EQ(alone->rule.thresholds[2], 0);
}

/// Approval expected among the favourable of a group.
double positive_rate(const Rows& rows, const model::RampRule& rule, int32_t group) {
    double hits = 0, all = 0;
    for (size_t i = 0; i < rows.score.size(); ++i) {
        if (rows.group[i] != group) continue;
        const double eta = (rows.score[i] + 1) / 2;
        hits += eta * rule.apply(rows.score[i], static_cast<size_t>(group));
        all += eta;
    }
    return hits / all;
}

TEST(Ramp, EqualOpportunityHoldsAmongTheFavourable) {
    const Rows rows = leaning(4000, 15);
    for (double gamma : {0.0, 0.05, 3.0}) {
        for (double epsilon : {0.0, 0.03}) {
            const auto solution =
                solve_ramp(rows.view(), {.gamma = gamma,
                                         .epsilon = epsilon,
                                         .overall = {0, 0.3},
                                         .criterion = RampCriterion::kEqualOpportunity});
            ASSERT_TRUE(solution);
            EXPECT_NEAR(spread(solution->true_positive_rates), epsilon, 1e-12) << gamma;
            EXPECT_NEAR(solution->overall_rate, 0.3, 1e-12);
            EXPECT_LE(std::abs(solution->gap), 1e-12) << gamma;
            for (int32_t k : {0, 3})
                EXPECT_NEAR(solution->true_positive_rates[static_cast<size_t>(k)],
                            positive_rate(rows, solution->rule, k), 1e-12);
            EXPECT_EQ(solution->rule.slopes.empty(), gamma == 0);  // thresholds need none
        }
    }
}

TEST(Ramp, APriceMovesTheThresholdAndNotWhatTheScoresSayOfLabels) {
    const Rows rows = leaning(1500, 16);
    Rows shifted = rows;
    for (double& score : shifted.score) score = score / 2 - 0.2;
    Rows halved = rows;
    for (double& score : halved.score) score /= 2;
    const auto priced = solve_ramp(halved.view(), {.gamma = 0.1, .epsilon = 0.02, .price = 0.2});
    const auto moved = solve_ramp(shifted.view(), {.gamma = 0.1, .epsilon = 0.02});
    ASSERT_TRUE(priced && moved);
    EXPECT_NEAR(priced->objective, moved->objective, 1e-12);
    for (size_t k = 0; k < 4; ++k) {
        EXPECT_NEAR(priced->rule.thresholds[k], moved->rule.thresholds[k] + 0.2, 1e-9);
        EXPECT_NEAR(priced->rates[k], moved->rates[k], 1e-12);
    }
    for (const auto criterion : {RampCriterion::kEqualOpportunity, RampCriterion::kEqualizedOdds}) {
        const RampParams loose{.gamma = 0.1, .epsilon = 1, .criterion = criterion, .price = 0.3};
        const auto free = solve_ramp(rows.view(), loose);
        ASSERT_TRUE(free);
        for (const double threshold : free->rule.thresholds) EXPECT_NEAR(threshold, 0.3, 1e-12);
        auto tight = loose;
        tight.epsilon = 0;
        const auto equal = solve_ramp(rows.view(), tight);
        ASSERT_TRUE(equal);
        EXPECT_LE(spread(equal->true_positive_rates), 1e-11);
        EXPECT_NEAR(equal->true_positive_rates[0], positive_rate(rows, equal->rule, 0), 1e-12);
    }
    EXPECT_EQ(solve_ramp(rows.view(), {.price = -1.5}).error().reason, "bad_price");
}

TEST(Ramp, EqualizedOddsHoldAmongBoth) {
    Rows rows = leaning(4000, 18);
    RampParams params{.gamma = 0.05,
                      .epsilon = 0.02,
                      .overall = {0, 0.3},
                      .criterion = RampCriterion::kEqualizedOdds};
    const auto solution = solve_ramp(rows.view(), params);
    ASSERT_TRUE(solution);
    EXPECT_NEAR(spread(solution->true_positive_rates), 0.02, 1e-11);
    EXPECT_LE(spread(solution->false_positive_rates), 0.02 + 1e-11);
    EXPECT_NEAR(solution->overall_rate, 0.3, 1e-11);
    EXPECT_LE(std::abs(solution->gap), 1e-12);
    EXPECT_EQ(solution->rule.slopes.size(), 4u);
    for (int32_t k : {0, 3})
        EXPECT_NEAR(solution->true_positive_rates[static_cast<size_t>(k)],
                    positive_rate(rows, solution->rule, k), 1e-11);

    // asking for more cannot cost less
    params.criterion = RampCriterion::kEqualOpportunity;
    const auto less = solve_ramp(rows.view(), params);
    ASSERT_TRUE(less);
    EXPECT_LE(less->objective, solution->objective + 1e-12);

    // within strata, with a centre of its own each
    params = {.gamma = 0.05, .criterion = RampCriterion::kEqualizedOdds};
    rows.stratum = {0, 1, 0, 1};
    const auto within = solve_ramp(rows.view(), params);
    ASSERT_TRUE(within);
    ASSERT_EQ(within->negative_centres.size(), 2u);
    EXPECT_NEAR(within->false_positive_rates[0], within->false_positive_rates[2], 1e-11);
    EXPECT_NEAR(within->true_positive_rates[1], within->true_positive_rates[3], 1e-11);
    EXPECT_GT(std::abs(within->centres[0] - within->centres[1]), 1e-4);
}

TEST(Ramp, EqualizedOddsCentresMayBeGivenAndTooMuchIsRefused) {
    const Rows rows = leaning(2000, 19);
    RampParams params{
        .gamma = 0.1, .rho = 0.5, .criterion = RampCriterion::kEqualizedOdds, .rho_negative = 0.2};
    const auto solution = solve_ramp(rows.view(), params);
    ASSERT_TRUE(solution) << solution.error().message;
    for (size_t k = 0; k < 4; ++k) {
        EXPECT_NEAR(solution->true_positive_rates[k], 0.5, 1e-11);
        EXPECT_NEAR(solution->false_positive_rates[k], 0.2, 1e-11);
    }
    params.rho = 1;  // all favourable rows, but few others
    params.rho_negative = 0.01;
    const auto impossible = solve_ramp(rows.view(), params);
    ASSERT_FALSE(impossible);
    EXPECT_EQ(impossible.error().reason, "infeasible");
    EXPECT_NE(impossible.error().message.find("wider"), std::string::npos);
}

TEST(Ramp, EqualizedOddsNeedAWidthAndBothLabels) {
    const auto reason = [](std::vector<double> score, RampParams params) {
        params.criterion = RampCriterion::kEqualizedOdds;
        const Rows rows{std::move(score), {0, 0, 1}, {}, 2};
        const auto solution = solve_ramp(rows.view(), params);
        return solution ? std::string("none") : solution.error().reason;
    };
    EXPECT_EQ(reason({0.5, 0.1, 0.2}, {}), "none");
    EXPECT_EQ(reason({0.5, 0.1, 0.2}, {.gamma = 0}), "bad_gamma");
    EXPECT_EQ(reason({0.5, 0.1, 1}, {}), "no_negatives");
    EXPECT_EQ(reason({-1, -1, 0.5}, {}), "no_positives");
    EXPECT_EQ(reason({0.5, 0.1, 0.2}, {.rho_negative = 1.5}), "bad_rho");
    const Rows rows{{0.5, 0.1}, {}, {}, 1};
    EXPECT_EQ(solve_ramp(rows.view(), {.rho_negative = 0.5}).error().reason, "bad_rho");
}

TEST(Ramp, EqualOpportunityWithoutFavourableRowsIsRefused) {
    const Rows rows{{-1, -1, 0.5}, {0, 0, 1}, {}, 2};
    const auto solution = solve_ramp(rows.view(), {.criterion = RampCriterion::kEqualOpportunity});
    ASSERT_FALSE(solution);
    EXPECT_EQ(solution.error().reason, "no_positives");
}

TEST(Ramp, ThresholdsForEqualOpportunityDoNotApproveLowScoresToFillABudget) {
    // half of the favourable are approved; those are fewer than half of all rows
    const Rows rows{{-0.8, -0.4, 0.4, 0.8}, {}, {}, 1};
    RampParams params{
        .gamma = 0, .rho = 0.5, .overall = {0.9, 1}, .criterion = RampCriterion::kEqualOpportunity};
    const auto solution = solve_ramp(rows.view(), params);
    ASSERT_FALSE(solution);
    EXPECT_EQ(solution.error().reason, "infeasible_overall");
    params.overall = {0, 1};
    const auto free = solve_ramp(rows.view(), params);
    ASSERT_TRUE(free);
    EXPECT_NEAR(free->true_positive_rates[0], 0.5, 1e-12);
}

TEST(Ramp, AWholeCurveEqualsItsPointsSolvedOneByOne) {
    const Rows rows = leaning(3000, 16);
    std::vector<RampParams> curve;
    for (double gamma : {0.0, 0.1})
        for (double epsilon : {0.0, 0.01, 0.1, 1.0})
            curve.push_back({.gamma = gamma, .epsilon = epsilon});
    curve.push_back({.epsilon = 0.1, .criterion = RampCriterion::kEqualOpportunity});
    const auto solutions = solve_ramps(rows.view(), curve);
    ASSERT_TRUE(solutions);
    ASSERT_EQ(solutions->size(), curve.size());
    for (size_t i = 0; i < curve.size(); ++i) {
        const auto alone = solve_ramp(rows.view(), curve[i]);
        ASSERT_TRUE(alone);
        EXPECT_EQ((*solutions)[i].rule.thresholds, alone->rule.thresholds);
        EXPECT_EQ((*solutions)[i].objective, alone->objective);
    }
    curve[2].gamma = -1;
    const auto bad = solve_ramps(rows.view(), curve);
    ASSERT_FALSE(bad);
    EXPECT_NE(bad.error().message.find("params 2"), std::string::npos) << bad.error().message;
}

TEST(Ramp, ManyRowsOfFewScoresAreSortedAsManyOfMany) {
    // past the size at which rows are sorted by digits; scores that differ in their last bits only
    base::Random random(17);
    Rows rows;
    rows.groups = 2;
    for (size_t i = 0; i < 20'000; ++i) {
        rows.group.push_back(static_cast<int32_t>(random.below(2)));
        const double score = random.bernoulli(0.5)
                                 ? static_cast<double>(random.below(5)) / 2 - 1
                                 : 0.25 + 1e-15 * static_cast<double>(random.below(1000));
        rows.score.push_back(score);
        rows.weight.push_back(static_cast<float>(1 + random.below(3)));
    }
    for (double gamma : {0.0, 1e-3, 0.5}) {
        const auto solution = solve_ramp(rows.view(), {.gamma = gamma, .overall = {0, 0.4}});
        ASSERT_TRUE(solution);
        EXPECT_NEAR(solution->overall_rate, 0.4, 1e-12) << gamma;
        EXPECT_LE(spread(solution->rates), 1e-12) << gamma;
        EXPECT_LE(std::abs(solution->gap), 1e-12) << gamma;
    }
}

TEST(Ramp, CriteriaHaveWords) {
    EXPECT_EQ(to_string(RampCriterion::kStatisticalParity), "statistical_parity");
    EXPECT_EQ(to_string(RampCriterion::kCovariance), "covariance");
    EXPECT_EQ(to_string(RampCriterion::kEqualOpportunity), "equal_opportunity");
    EXPECT_EQ(to_string(RampCriterion::kEqualizedOdds), "equalized_odds");
}

TEST(Ramp, BadStrataAndEpsilonsAreNamed) {
    const auto reason = [](std::vector<int32_t> stratum, const RampParams& params) {
        const Rows rows{{0.5, -0.5, 0.1}, {0, 1, 2}, {}, 3, std::move(stratum)};
        const auto solution = solve_ramp(rows.view(), params);
        return solution ? std::string("none") : solution.error().reason;
    };
    EXPECT_EQ(reason({0, 1, 1}, {}), "none");
    EXPECT_EQ(reason({0, 1}, {}), "size_mismatch");
    EXPECT_EQ(reason({0, 3, 1}, {}), "bad_stratum");
    EXPECT_EQ(reason({0, -1, 1}, {}), "bad_stratum");
    EXPECT_EQ(reason({0, 2, 2}, {}), "bad_stratum");  // no row in 1
    EXPECT_EQ(reason({}, {.epsilons = {0, 0, 1.5}}), "bad_epsilon");
    EXPECT_EQ(reason({}, {.epsilons = {0, 0}}), "size_mismatch");
    EXPECT_EQ(reason({}, {.criterion = RampCriterion::kCovariance}), "bad_covariance");
    EXPECT_EQ(reason({0, 0, 1}, {.rho = 0.5, .criterion = RampCriterion::kCovariance}),
              "bad_covariance");
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
}  // namespace rampart::ramp
