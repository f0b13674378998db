#include "rampart/ramp/blind.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rampart/base/random.hpp"

namespace rampart::ramp {
namespace {

struct Rows {
    std::vector<double> score, posterior;
    std::vector<int32_t> group;  // drawn from the posterior
    size_t groups = 3;
    std::vector<float> weight = {};
    BlindProblem view() const { return {score, posterior, groups, weight}; }
};

/// Groups that a feature predicts in part, and that the scores favour more and more.
Rows told_in_part(size_t n, uint64_t seed) {
    base::Random random(seed);
    Rows rows;
    for (size_t i = 0; i < n; ++i) {
        const double x = random.normal();
        double part[3], sum = 0;
        for (int k = 0; k < 3; ++k) sum += part[k] = std::exp(-0.5 * (x - k + 1) * (x - k + 1));
        const double u = random.uniform() * sum;
        rows.group.push_back(u < part[0] ? 0 : u < part[0] + part[1] ? 1 : 2);
        for (double p : part) rows.posterior.push_back(p / sum);
        rows.score.push_back(std::tanh(0.8 * random.normal() + 0.5 * x - 0.3));
    }
    return rows;
}

double spread(const std::vector<double>& rates) {
    const auto [lo, hi] = std::minmax_element(rates.begin(), rates.end());
    return *hi - *lo;
}

TEST(BlindRamp, ConstraintsHoldInExpectationAndBlindnessCostsSomething) {
    const Rows rows = told_in_part(3000, 1);
    for (double epsilon : {0.0, 0.05}) {
        const auto solution = solve_blind_ramp(rows.view(), {.gamma = 0.1, .epsilon = epsilon});
        ASSERT_TRUE(solution);
        EXPECT_NEAR(spread(solution->rates), epsilon, 1e-11);
        EXPECT_LE(std::abs(solution->gap), 1e-12);
        EXPECT_GT(solution->objective, solution->aware_objective + 1e-4);
        EXPECT_EQ(solution->positive_pulls, std::vector<double>(3, 0.0));
        EXPECT_EQ(solution->rule.thresholds.size(), 1u);
    }
}

TEST(BlindRamp, TheRatesToldAreThoseOfTheRule) {
    Rows rows = told_in_part(800, 2);
    base::Random random(3);
    for (size_t i = 0; i < rows.score.size(); ++i)
        rows.weight.push_back(static_cast<float>(random.uniform(0.5, 2)));
    const auto solution =
        solve_blind_ramp(rows.view(), {.gamma = 0.1, .epsilon = 0.02, .overall = {0, 0.3}});
    ASSERT_TRUE(solution);
    double hits = 0, of_group = 0, all_hits = 0, all = 0;
    for (size_t i = 0; i < rows.score.size(); ++i) {
        const double* p = &rows.posterior[3 * i];
        double f = rows.score[i];
        for (size_t k = 0; k < 3; ++k) f -= p[k] * solution->pulls[k];
        const double q = std::clamp((f - solution->rule.thresholds[0]) / 0.1 + 0.5, 0.0, 1.0);
        EXPECT_NEAR(q, solution->apply(rows.score[i], {p, 3}), 1e-12);
        hits += rows.weight[i] * p[1] * q;
        of_group += rows.weight[i] * p[1];
        all_hits += rows.weight[i] * q;
        all += rows.weight[i];
    }
    EXPECT_NEAR(solution->rates[1], hits / of_group, 1e-12);
    EXPECT_NEAR(solution->overall_rate, all_hits / all, 1e-12);
    EXPECT_NEAR(solution->overall_rate, 0.3, 1e-12);
}

TEST(BlindRamp, EqualOpportunityAndOddsHoldInExpectation) {
    const Rows rows = told_in_part(2000, 4);
    RampParams params{.gamma = 0.05, .criterion = RampCriterion::kEqualOpportunity};
    const auto opportunity = solve_blind_ramp(rows.view(), params);
    params.criterion = RampCriterion::kEqualizedOdds;
    params.epsilon = 0.01;
    const auto odds = solve_blind_ramp(rows.view(), params);
    ASSERT_TRUE(opportunity && odds);
    EXPECT_LE(spread(opportunity->true_positive_rates), 1e-11);
    EXPECT_EQ(opportunity->negative_pulls, std::vector<double>(3, 0.0));
    EXPECT_LE(spread(odds->true_positive_rates), 0.01 + 1e-11);
    EXPECT_LE(spread(odds->false_positive_rates), 0.01 + 1e-11);
    for (const auto& solution : {*opportunity, *odds}) {
        EXPECT_LE(std::abs(solution.gap), 1e-12);
        EXPECT_GE(solution.objective, solution.aware_objective - 1e-12);
    }
}

TEST(BlindRamp, WhereTheFeaturesTellTheGroupItIsTheGroupAwareRule) {
    Rows rows = told_in_part(1000, 5);
    for (size_t i = 0; i < rows.group.size(); ++i)
        for (int32_t k = 0; k < 3; ++k)
            rows.posterior[3 * i + static_cast<size_t>(k)] = rows.group[i] == k ? 1 : 0;
    for (const auto criterion : {RampCriterion::kStatisticalParity,
                                 RampCriterion::kEqualOpportunity, RampCriterion::kEqualizedOdds}) {
        const RampParams params{
            .gamma = 0.1, .epsilon = 0.03, .criterion = criterion, .price = 0.1};
        const auto blind = solve_blind_ramp(rows.view(), params);
        const auto aware = solve_ramp({rows.score, rows.group, 3, {}}, params);
        ASSERT_TRUE(blind && aware);
        EXPECT_NEAR(blind->objective, aware->objective, 1e-12);
        EXPECT_NEAR(blind->aware_objective, aware->objective, 1e-12);
        for (size_t i = 0; i < rows.score.size(); i += 37)
            EXPECT_NEAR(blind->apply(rows.score[i], {&rows.posterior[3 * i], 3}),
                        aware->rule.apply(rows.score[i], static_cast<size_t>(rows.group[i])), 1e-9);
    }
}

TEST(BlindRamp, OnOtherRowsTheConstraintsHoldWithinSamplingError) {
    const Rows fitting = told_in_part(20'000, 6), others = told_in_part(20'000, 7);
    const auto solution = solve_blind_ramp(fitting.view(), {.gamma = 0.1, .epsilon = 0});
    ASSERT_TRUE(solution);
    double hits[3] = {}, rows[3] = {};
    for (size_t i = 0; i < others.score.size(); ++i) {
        const auto k = static_cast<size_t>(others.group[i]);  // the group itself, not its posterior
        hits[k] += solution->apply(others.score[i], {&others.posterior[3 * i], 3});
        rows[k] += 1;
    }
    // five standard errors of a difference of rates of q, of variance at most 1/4, on these rows
    // and on as many to fit on
    for (size_t k : {1u, 2u}) {
        const double bound = 5 * std::sqrt(2 * (1 / rows[0] + 1 / rows[k]) / 4);
        EXPECT_LE(std::abs(hits[k] / rows[k] - hits[0] / rows[0]), bound);
        EXPECT_LE(bound, 0.07);
    }
}

TEST(BlindRamp, ACentreThatBlindnessCannotReachIsRefused) {
    // no feature distinguishes the groups: they cannot all be approved at 0.5 while at most 0.2 are
    Rows rows = told_in_part(100, 8);
    std::fill(rows.posterior.begin(), rows.posterior.end(), 1.0 / 3);
    const auto solution =
        solve_blind_ramp(rows.view(), {.gamma = 0.1, .rho = 0.5, .overall = {0, 0.2}});
    ASSERT_FALSE(solution);
    EXPECT_EQ(solution.error().reason, "infeasible");
}

TEST(BlindRamp, BadInputIsNamed) {
    const auto reason = [](const Rows& rows, const RampParams& params) {
        const auto solution = solve_blind_ramp(rows.view(), params);
        return solution ? std::string("none") : solution.error().reason;
    };
    const Rows good{{0.5, -0.5}, {0.3, 0.7, 0.6, 0.4}, {}, 2};
    EXPECT_EQ(reason(good, {}), "none");
    EXPECT_EQ(reason(good, {.gamma = 0}), "bad_gamma");
    EXPECT_EQ(reason(good, {.criterion = RampCriterion::kCovariance}), "bad_criterion");
    EXPECT_EQ(reason(good, {.epsilons = {0.1}}), "size_mismatch");
    EXPECT_EQ(reason({{0.5, -0.5}, {0.3, 0.7, 0.6}, {}, 2}, {}), "size_mismatch");
    EXPECT_EQ(reason({{0.5, -0.5}, {0.3, 0.7, 0.6, 0.5}, {}, 2}, {}), "bad_posterior");
    EXPECT_EQ(reason({{0.5, -0.5}, {0.3, 0.7, 1.2, -0.2}, {}, 2}, {}), "bad_posterior");
    EXPECT_EQ(reason({{0.5, -0.5}, {1, 0, 1, 0}, {}, 2}, {}), "empty_group");
    EXPECT_EQ(reason({{0.5, 1.5}, {0.3, 0.7, 0.6, 0.4}, {}, 2}, {}), "bad_score");
    EXPECT_EQ(reason({{}, {}, {}, 2}, {}), "size_mismatch");
    EXPECT_EQ(reason({{0.5}, {}, {}, 0}, {}), "bad_group_count");
    EXPECT_NE(
        solve_blind_ramp(Rows{{0.5}, {0.2, 0.7}, {}, 2}.view(), {}).error().message.find("row 0"),
        std::string::npos);
}

/// Who is favourable depends on the group besides the score: P(group | x) alone misleads.
TEST(BlindRamp, GivenTheLabelRatesAmongTheFavourableAreRight) {
    base::Random random(31);
    constexpr size_t kRows = 20'000;
    Rows rows;
    rows.groups = 2;
    std::vector<double> favourable, unfavourable;  // P(group | x, label)
    std::vector<double> of_favourable[2];          // P(favourable, group | x)
    for (size_t i = 0; i < kRows; ++i) {
        const double first = random.uniform(0.1, 0.9);
        // more rows of the first group are favourable than of the second, at the same x
        const double p[2] = {random.uniform(0.5, 1), random.uniform(0, 0.5)};
        const double eta = first * p[0] + (1 - first) * p[1];
        rows.score.push_back(2 * eta - 1);
        for (const double share : {first, 1 - first}) rows.posterior.push_back(share);
        favourable.insert(favourable.end(), {first * p[0] / eta, (1 - first) * p[1] / eta});
        unfavourable.insert(unfavourable.end(),
                            {first * (1 - p[0]) / (1 - eta), (1 - first) * (1 - p[1]) / (1 - eta)});
        of_favourable[0].push_back(first * p[0]);
        of_favourable[1].push_back((1 - first) * p[1]);
    }
    const auto true_positive_gap = [&](const BlindProblem& problem, RampCriterion criterion) {
        const auto found =
            solve_blind_ramp(problem, {.gamma = 0.1, .epsilon = 0, .criterion = criterion});
        EXPECT_TRUE(found);
        double rate[2];
        for (size_t k = 0; k < 2; ++k) {
            double hits = 0, all = 0;
            for (size_t i = 0; i < kRows; ++i) {
                const auto part = [&](std::span<const double> of) {
                    return of.empty() ? of : of.subspan(2 * i, 2);
                };
                hits += of_favourable[k][i] * found->apply(rows.score[i], part(problem.posterior),
                                                           part(problem.posterior_unfavourable));
                all += of_favourable[k][i];
            }
            rate[k] = hits / all;
        }
        return std::abs(rate[0] - rate[1]);
    };
    BlindProblem problem = rows.view();
    EXPECT_GT(true_positive_gap(problem, RampCriterion::kEqualOpportunity), 0.02);
    problem.posterior = favourable;
    problem.given_label = true;
    EXPECT_LT(true_positive_gap(problem, RampCriterion::kEqualOpportunity), 1e-9);
    EXPECT_EQ(
        solve_blind_ramp(problem, {.criterion = RampCriterion::kEqualizedOdds}).error().reason,
        "bad_posterior");
    EXPECT_EQ(solve_blind_ramp(problem, {}).error().reason, "bad_posterior");
    problem.posterior_unfavourable = unfavourable;
    EXPECT_LT(true_positive_gap(problem, RampCriterion::kEqualizedOdds), 1e-9);
}

}  // namespace
}  // namespace rampart::ramp
