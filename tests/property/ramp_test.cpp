#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rampart/base/random.hpp"
#include "rampart/ramp/solver.hpp"

/// Laws of the ramp solver on random problems: few or many rows, coarse scores with many ties,
/// groups of very different sizes, weights or none, every mode.
namespace rampart::ramp {
namespace {

struct Case {
    std::vector<double> score;
    std::vector<int32_t> group;
    std::vector<float> weight;
    size_t groups = 1;
    RampParams params;
    RampProblem view() const { return {score, group, groups, weight}; }
};

double score_of(base::Random& random, uint64_t kind) {
    if (kind == 0) return random.uniform(-1, 1);
    if (kind == 1) return static_cast<double>(random.below(5)) / 2 - 1;  // -1, -.5, 0, .5, 1
    return std::tanh(3 * random.normal());                               // crowded at the ends
}

Case random_case(uint64_t seed, uint64_t most_rows) {
    base::Random random(seed);
    Case c;
    c.groups = 1 + random.below(5);
    const uint64_t n = c.groups + random.below(most_rows), kind = random.below(3);
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t k =
            i < c.groups ? i : std::min(random.below(c.groups), random.below(c.groups));
        c.group.push_back(static_cast<int32_t>(k));
        c.score.push_back(
            std::clamp(score_of(random, kind) + 0.1 * static_cast<double>(k), -1.0, 1.0));
    }
    if (random.bernoulli(0.5))
        for (uint64_t i = 0; i < n; ++i)
            c.weight.push_back(static_cast<float>(random.uniform(0.1, 5)));
    const double gammas[] = {0, 0.001, 0.05, 0.3, 1, 3};
    c.params.gamma = gammas[random.below(6)];
    c.params.epsilon = random.bernoulli(0.3) ? 0 : random.uniform(0, 0.5);
    c.params.regulariser = random.bernoulli(0.5) ? Regulariser::kCentred : Regulariser::kPaper;
    if (random.bernoulli(0.3)) c.params.rho = random.uniform();
    if (random.bernoulli(0.4)) {
        const double cut = random.uniform();
        c.params.overall =
            random.bernoulli(0.5) ? stats::Interval{0, cut} : stats::Interval{cut, 1};
        if (c.params.rho) {  // keep it feasible
            if (c.params.overall.lo == 0) c.params.overall.hi = std::max(cut, *c.params.rho);
            if (c.params.overall.hi == 1) c.params.overall.lo = std::min(cut, *c.params.rho);
        }
    }
    return c;
}

RampSolution solve(const Case& c) {
    auto solution = solve_ramp(c.view(), c.params);
    RC_ASSERT(solution.has_value());
    return *std::move(solution);
}

RC_GTEST_PROP(RampLaws, RatesKeepParityAndTheBudgetTo1em12, (uint64_t seed)) {
    const Case c = random_case(seed, 300);
    const auto solution = solve(c);
    const auto [lo, hi] = std::minmax_element(solution.rates.begin(), solution.rates.end());
    RC_ASSERT(*hi - *lo <= c.params.epsilon + 1e-12);
    if (c.params.rho) {
        RC_ASSERT(*hi <= *c.params.rho + c.params.epsilon / 2 + 1e-12);
        RC_ASSERT(*lo >= *c.params.rho - c.params.epsilon / 2 - 1e-12);
    }
    RC_ASSERT(solution.overall_rate <= c.params.overall.hi + 1e-12);
    RC_ASSERT(solution.overall_rate >= c.params.overall.lo - 1e-12);
}

RC_GTEST_PROP(RampLaws, ThePrimalDualGapProvesEverySolution, (uint64_t seed)) {
    const auto solution = solve(random_case(seed, 300));
    RC_ASSERT(std::abs(solution.gap) <= 1e-12);
}

/// The largest difference of rates and thresholds between the rule of the rows as they are and that
/// of the rows in another order with other group numbers.
double moved_by_order(uint64_t seed) {
    const Case c = random_case(seed, 200);
    base::Random random(seed + 1);
    std::vector<uint32_t> order(c.score.size());
    std::iota(order.begin(), order.end(), 0u);
    random.shuffle(std::span(order));
    std::vector<int32_t> label(c.groups);
    std::iota(label.begin(), label.end(), 0);
    random.shuffle(std::span(label));
    Case other = c;
    for (size_t i = 0; i < order.size(); ++i) {
        other.score[i] = c.score[order[i]];
        other.group[i] = label[static_cast<size_t>(c.group[order[i]])];
        if (!c.weight.empty()) other.weight[i] = c.weight[order[i]];
    }
    const auto a = solve(c), b = solve(other);
    double moved = std::abs(a.objective - b.objective) <= 1e-12 ? 0 : 1;
    for (size_t k = 0; k < c.groups; ++k) {
        const auto there = static_cast<size_t>(label[k]);
        moved = std::max({moved, std::abs(a.rates[k] - b.rates[there]),
                          std::abs(a.rule.thresholds[k] - b.rule.thresholds[there])});
    }
    return moved;
}

RC_GTEST_PROP(RampLaws, RowOrderAndGroupNumbersDoNotMatter, (uint64_t seed)) {
    RC_ASSERT(moved_by_order(seed) <= 1e-9);
}

// Two groups meet at one shift, at which the third has a flat piece whose end is rounded by more
// than 1e-14; one order of the rows in a million shows it.
TEST(RampLaws, AFlatPieceWhoseEndsAreRoundedIsFlat) {
    EXPECT_LE(moved_by_order(937334632974547236), 1e-9);
}

RC_GTEST_PROP(RampLaws, WholeWeightsMeanRepeatedRows, (uint64_t seed)) {
    Case weighted = random_case(seed, 100);
    base::Random random(seed + 1);
    Case repeated = weighted;
    repeated.score.clear();
    repeated.group.clear();
    repeated.weight.clear();
    weighted.weight.clear();
    for (size_t i = 0; i < weighted.score.size(); ++i) {
        const uint64_t times = 1 + random.below(4);
        weighted.weight.push_back(static_cast<float>(times));
        for (uint64_t t = 0; t < times; ++t) {
            repeated.score.push_back(weighted.score[i]);
            repeated.group.push_back(weighted.group[i]);
        }
    }
    const auto a = solve(weighted), b = solve(repeated);
    RC_ASSERT(std::abs(a.objective - b.objective) <= 1e-12);
    for (size_t k = 0; k < a.rates.size(); ++k) {
        RC_ASSERT(std::abs(a.rates[k] - b.rates[k]) <= 1e-9);
        RC_ASSERT(std::abs(a.rule.thresholds[k] - b.rule.thresholds[k]) <= 1e-9);
    }
}

RC_GTEST_PROP(RampLaws, LooserConstraintsNeverCostMore, (uint64_t seed)) {
    Case c = random_case(seed, 200);
    const auto tight = solve(c);
    c.params.epsilon = std::min(1.0, c.params.epsilon + 0.1);
    const auto wider = solve(c);
    c.params.rho.reset();
    const auto uncentred = solve(c);
    c.params.overall = {0, 1};
    const auto unbudgeted = solve(c);
    RC_ASSERT(wider.objective <= tight.objective + 1e-12);
    RC_ASSERT(uncentred.objective <= wider.objective + 1e-12);
    RC_ASSERT(unbudgeted.objective <= uncentred.objective + 1e-12);
}

/// Returns the least cost of rate r in the given rows, by filling: the cheapest q of a fine grid of
/// multipliers.
double cheapest(const std::vector<double>& scores, double rate, const RampParams& params) {
    // brute force over t on a grid; the q of each t is optimal for its own rate, and convexity
    // gives the rest
    const double offset = params.regulariser == Regulariser::kCentred ? 0.5 : 0;
    double best = -1e9;  // sup over t of the dual function = the cost
    for (int step = -4000; step <= 4000; ++step) {
        const double t = step * (1 + params.gamma) / 4000.0;
        double value = -t * rate;
        for (double f : scores) {
            const double q = std::clamp((f - t) / params.gamma + offset, 0.0, 1.0);
            value += (params.gamma / 2 * (q - offset) * (q - offset) - (f - t) * q) /
                     static_cast<double>(scores.size());
        }
        best = std::max(best, value);
    }
    return best;
}

TEST(RampLaws, AgreesWithABruteForceGridOnSmallCases) {
    for (uint64_t seed = 1; seed <= 12; ++seed) {
        base::Random random(seed);
        std::vector<double> scores[2];
        Case c;
        c.groups = 2;
        for (int i = 0; i < 12; ++i) {
            const size_t k = i < 4 ? 0 : 1;
            scores[k].push_back(random.uniform(-1, k == 0 ? 0.3 : 1));
            c.score.push_back(scores[k].back());
            c.group.push_back(static_cast<int32_t>(k));
        }
        c.params.gamma = 0.4;
        c.params.epsilon = seed % 3 == 0 ? 0 : 0.1 * static_cast<double>(seed % 3);
        if (seed % 2 == 0) c.params.overall = {0, 0.25};
        const auto solution = solve_ramp(c.view(), c.params);
        ASSERT_TRUE(solution);

        std::vector<double> cost[2];
        for (size_t k : {0, 1})
            for (int step = 0; step <= 100; ++step)
                cost[k].push_back(cheapest(scores[k], step / 100.0, c.params));
        double best = 1e9;
        for (int a = 0; a <= 100; ++a)
            for (int b = 0; b <= 100; ++b) {
                const double rates[] = {a / 100.0, b / 100.0};
                const double overall = (rates[0] * 4 + rates[1] * 8) / 12;
                if (std::abs(rates[0] - rates[1]) > c.params.epsilon + 1e-9) continue;
                if (overall > c.params.overall.hi + 1e-9) continue;
                best = std::min(best, (cost[0][static_cast<size_t>(a)] * 4 +
                                       cost[1][static_cast<size_t>(b)] * 8) /
                                          12);
            }
        EXPECT_LE(solution->objective, best + 1e-5) << seed;   // no grid point beats it
        EXPECT_NEAR(solution->objective, best, 2e-3) << seed;  // and one is close
    }
}

}  // namespace
}  // namespace rampart::ramp
