#include <coin/Clp_C_Interface.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <memory>

#include "rampart/base/random.hpp"
#include "rampart/ramp/blind.hpp"
#include "rampart/ramp/solver.hpp"
#include "reference/ramp_moments.hpp"

/// The solvers of the ramp are exact: by their own proof, by comparison with each other, and by
/// Clp.
namespace rampart::ramp {
namespace {

using reference::MomentParams;
using reference::solve_moments;

struct Problem {
    std::vector<double> score;
    std::vector<int32_t> group, stratum;
    std::vector<float> weight;
    std::vector<double> posterior;  // [n * groups] for the group-blind rule
    size_t groups = 1;
    RampParams params;
    RampProblem view() const { return {score, group, groups, weight, stratum}; }
    BlindProblem blind() const { return {score, posterior, groups, weight}; }
    double weight_of(size_t i) const { return weight.empty() ? 1.0 : weight[i]; }
    double half(size_t k) const {
        return (params.epsilons.empty() ? params.epsilon : params.epsilons[k]) / 2;
    }
    int32_t stratum_of(size_t k) const { return stratum.empty() ? 0 : stratum[k]; }
};

double score_of(base::Random& random, uint64_t kind) {
    if (kind == 0) return random.uniform(-1, 1);
    if (kind == 1) return static_cast<double>(random.below(5)) / 2 - 1;  // ties, flat pieces
    return std::tanh(3 * random.normal());                               // crowded at the ends
}

void add_rows(base::Random& random, uint64_t most_rows, Problem& p) {
    const uint64_t n = p.groups + random.below(most_rows), kind = random.below(3);
    const bool weighted = random.bernoulli(0.5);
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t k =
            i < p.groups ? i : std::min(random.below(p.groups), random.below(p.groups));
        p.group.push_back(static_cast<int32_t>(k));
        const double score = score_of(random, kind) + 0.1 * static_cast<double>(k);
        p.score.push_back(std::clamp(score, -0.98, 0.98));
        if (weighted) p.weight.push_back(static_cast<float>(random.uniform(0.1, 5)));
        double sum = 0;
        for (size_t l = 0; l < p.groups; ++l) {
            p.posterior.push_back(std::pow(random.uniform(), 4) + (l == k ? 0.5 : 0) + 1e-3);
            sum += p.posterior.back();
        }
        for (size_t l = 0; l < p.groups; ++l) p.posterior[i * p.groups + l] /= sum;
    }
}

/// Every criterion, with epsilons, strata, centres and budgets, also at their edges.
Problem any_problem(uint64_t seed, uint64_t most_rows) {
    base::Random random(seed);
    Problem p;
    p.groups = 1 + random.below(5);
    add_rows(random, most_rows, p);
    auto& params = p.params;
    constexpr RampCriterion kCriteria[] = {
        RampCriterion::kStatisticalParity, RampCriterion::kCovariance,
        RampCriterion::kEqualOpportunity, RampCriterion::kEqualizedOdds};
    params.criterion = kCriteria[random.below(4)];
    const double gammas[] = {0, 0.02, 0.1, 0.5, 3, 30};
    params.gamma = gammas[random.below(6)];
    if (params.criterion == RampCriterion::kEqualizedOdds && params.gamma == 0) params.gamma = 0.05;
    const double edges[] = {0, 1};
    params.epsilon = random.bernoulli(0.3) ? edges[random.below(2)] : random.uniform(0, 0.5);
    params.regulariser = random.bernoulli(0.5) ? Regulariser::kCentred : Regulariser::kPaper;
    const bool covariance = params.criterion == RampCriterion::kCovariance;
    if (random.bernoulli(0.4) || covariance)
        for (size_t k = 0; k < p.groups; ++k) p.stratum.push_back(static_cast<int32_t>(k / 2));
    if (random.bernoulli(0.3) && !covariance)
        for (size_t k = 0; k < p.groups; ++k)
            params.epsilons.push_back(random.bernoulli(0.2) ? 0 : random.uniform(0, 0.5));
    const bool one_rate = !covariance && params.criterion != RampCriterion::kEqualizedOdds;
    if (random.bernoulli(0.25) && one_rate)
        params.rho = random.bernoulli(0.3) ? edges[random.below(2)] : random.uniform();
    if (random.bernoulli(0.4) && !params.rho) {
        const double cut = random.bernoulli(0.2) ? edges[random.below(2)] : random.uniform();
        params.overall = random.bernoulli(0.5) ? stats::Interval{0, cut} : stats::Interval{cut, 1};
    }
    return p;
}

TEST(RampOptimality, TheGapIsAtMost1em12OnTenThousandProblemsOfEveryCriterion) {
    for (uint64_t seed = 1; seed <= 10'000; ++seed) {
        Problem p = any_problem(seed, seed % 20 == 0 ? 2000 : 100);
        if (seed % 3 == 0) p.params.price = static_cast<double>(seed % 19) / 10 - 0.9;
        const auto solution = solve_ramp(p.view(), p.params);
        ASSERT_TRUE(solution) << seed << ": " << solution.error().message;
        EXPECT_LE(std::abs(solution->gap), 1e-12) << seed;
        EXPECT_LE(solution->overall_rate, p.params.overall.hi + 1e-12) << seed;
        EXPECT_GE(solution->overall_rate, p.params.overall.lo - 1e-12) << seed;
        const bool parity = p.params.criterion == RampCriterion::kStatisticalParity;
        for (const double value : solution->covariances)
            EXPECT_LE(std::abs(value), p.params.epsilon + 1e-12) << seed;
        if (p.params.criterion == RampCriterion::kCovariance) continue;
        const auto& rates = parity ? solution->rates : solution->true_positive_rates;
        for (size_t k = 0; k < p.groups; ++k) {
            const auto s = static_cast<size_t>(p.stratum_of(k));
            EXPECT_LE(std::abs(rates[k] - solution->centres[s]), p.half(k) + 1e-11) << seed;
            if (p.params.criterion != RampCriterion::kEqualizedOdds) continue;
            EXPECT_LE(std::abs(solution->false_positive_rates[k] - solution->negative_centres[s]),
                      p.half(k) + 1e-11)
                << seed;
        }
    }
}

/// The constraints of a group-aware problem as windows on moments of features: one feature per row
/// and a block per group, or two.
struct Moments {
    std::vector<double> features;
    MomentParams params;
    size_t d = 1;
};

Moments as_moments(const Problem& p) {
    std::vector<double> weight(p.groups), positive(p.groups);
    double total = 0;
    for (size_t i = 0; i < p.score.size(); ++i) {
        const auto k = static_cast<size_t>(p.group[i]);
        weight[k] += p.weight_of(i);
        positive[k] += p.weight_of(i) * (p.score[i] + 1) / 2;
        total += p.weight_of(i);
    }
    const auto criterion = p.params.criterion;
    Moments m{.features = {},
              .params = {.gamma = p.params.gamma,
                         .windows = {},
                         .overall = p.params.overall,
                         .regulariser = p.params.regulariser},
              .d = criterion == RampCriterion::kEqualizedOdds ? 2u : 1u};
    for (size_t i = 0; i < p.score.size(); ++i) {
        const auto k = static_cast<size_t>(p.group[i]);
        const double eta = (p.score[i] + 1) / 2;
        if (criterion == RampCriterion::kStatisticalParity)
            m.features.push_back(total / weight[k]);
        else
            m.features.push_back(eta * total / positive[k]);
        if (m.d == 2) m.features.push_back((1 - eta) * total / (weight[k] - positive[k]));
    }
    const int32_t strata =
        p.stratum.empty() ? 1 : 1 + *std::max_element(p.stratum.begin(), p.stratum.end());
    for (size_t k = 0; k < p.groups; ++k)
        for (int32_t j = 0; j < static_cast<int32_t>(m.d); ++j) {
            if (p.params.rho)
                m.params.windows.push_back(
                    {*p.params.rho - p.half(k), *p.params.rho + p.half(k), -1});
            else
                m.params.windows.push_back({-p.half(k), p.half(k), j * strata + p.stratum_of(k)});
        }
    return m;
}

TEST(RampOptimality, TheGeneralSolverAgreesWithTheSeparableOne) {
    size_t compared = 0;
    for (uint64_t seed = 1; seed <= 2000; ++seed) {
        const Problem p = any_problem(seed, 120);
        if (p.params.gamma == 0 || p.params.criterion == RampCriterion::kCovariance) continue;
        const auto special = solve_ramp(p.view(), p.params);
        ASSERT_TRUE(special) << seed;
        const Moments m = as_moments(p);
        const auto general = solve_moments({.score = p.score,
                                            .weight = p.weight,
                                            .block = p.group,
                                            .blocks = p.groups,
                                            .features = m.features,
                                            .features_per_row = m.d},
                                           m.params);
        ASSERT_TRUE(general) << seed << ": " << general.error().message;
        EXPECT_NEAR(general->objective, special->objective, 1e-10) << seed;
        EXPECT_LE(std::abs(general->gap), 1e-11) << seed;
        EXPECT_NEAR(general->overall_rate, special->overall_rate, 1e-7) << seed;
        ++compared;
    }
    EXPECT_GT(compared, 1000u);
}

TEST(RampOptimality, ACovarianceOfAnAttributeIsTwoGroupParityInEverySubgroup) {
    // appendix E.1 as printed, z_i = 1_S(i) - rho_k, against parity with epsilon / (p (1 - p))
    for (uint64_t seed = 1; seed <= 100; ++seed) {
        base::Random random(seed);
        Problem p;
        p.groups = 4;
        p.stratum = {0, 0, 1, 1};
        add_rows(random, 200, p);
        p.params.gamma = random.bernoulli(0.5) ? 0.1 : 1;
        p.params.epsilon = random.uniform(0, 0.05);
        p.params.criterion = RampCriterion::kCovariance;
        const auto parity = solve_ramp(p.view(), p.params);
        ASSERT_TRUE(parity);
        double in_stratum[2] = {}, in_later[2] = {}, total = 0;
        for (size_t i = 0; i < p.score.size(); ++i) {
            const auto k = static_cast<size_t>(p.group[i]);
            in_stratum[k / 2] += p.weight_of(i);
            if (k % 2 == 1) in_later[k / 2] += p.weight_of(i);
            total += p.weight_of(i);
        }
        std::vector<double> features;
        std::vector<int32_t> block;
        for (const int32_t k : p.group) {
            const auto s = static_cast<size_t>(k / 2);
            features.push_back((k % 2 - in_later[s] / in_stratum[s]) * total / in_stratum[s]);
            block.push_back(k / 2);
        }
        const double e = p.params.epsilon;
        const auto general = solve_moments({.score = p.score,
                                            .weight = p.weight,
                                            .block = block,
                                            .blocks = 2,
                                            .features = features,
                                            .features_per_row = 1},
                                           {.gamma = p.params.gamma,
                                            .windows = {{-e, e, -1}, {-e, e, -1}},
                                            .regulariser = p.params.regulariser});
        ASSERT_TRUE(general) << seed;
        EXPECT_NEAR(general->objective, parity->objective, 1e-12) << seed;
        for (size_t s : {0u, 1u})
            EXPECT_NEAR(general->moments[s], parity->covariances[s], 1e-9) << seed;
    }
}

struct FreeClp {
    void operator()(Clp_Simplex* model) const { Clp_deleteModel(model); }
};

/// A constraint lo <= sum of terms·x <= hi.
struct Row {
    std::vector<double> terms;  // one a variable
    double lo, hi;
};

/// Returns the minimum of the problem's objective by Clp: variables are q of every row, then the
/// centres.
double by_clp(const Problem& p, const std::vector<Row>& rows, size_t centres) {
    const size_t n = p.score.size(), columns = n + centres;
    const double offset = p.params.regulariser == Regulariser::kCentred ? 0.5 : 0;
    const double gamma = p.params.gamma;
    double total = 0;
    for (size_t i = 0; i < n; ++i) total += p.weight_of(i);
    std::vector<double> lower(columns, 0), upper(columns, 1), cost(columns, 0), value, low, high;
    std::vector<double> square;
    std::vector<CoinBigIndex> start{0}, square_start{0};
    std::vector<int> index, square_index;
    for (size_t j = 0; j < columns; ++j) {
        for (size_t r = 0; r < rows.size(); ++r) {
            if (rows[r].terms[j] == 0) continue;
            index.push_back(static_cast<int>(r));
            value.push_back(rows[r].terms[j]);
        }
        start.push_back(static_cast<CoinBigIndex>(index.size()));
        if (j < n) {
            const double share = p.weight_of(j) / total;
            cost[j] = -share * (p.score[j] + gamma * offset);
            square_index.push_back(static_cast<int>(j));
            square.push_back(share * gamma);
        }
        square_start.push_back(static_cast<CoinBigIndex>(square_index.size()));
    }
    for (const Row& row : rows) low.push_back(row.lo), high.push_back(row.hi);
    const std::unique_ptr<Clp_Simplex, FreeClp> model(Clp_newModel());
    Clp_setLogLevel(model.get(), 0);
    Clp_loadProblem(model.get(), static_cast<int>(columns), static_cast<int>(rows.size()),
                    start.data(), index.data(), value.data(), lower.data(), upper.data(),
                    cost.data(), low.data(), high.data());
    Clp_setPrimalTolerance(model.get(), 1e-11);
    Clp_setDualTolerance(model.get(), 1e-11);
    if (gamma > 0) {
        Clp_loadQuadraticObjective(model.get(), static_cast<int>(columns), square_start.data(),
                                   square_index.data(), square.data());
        Clp_primal(model.get(), 0);
    } else {
        Clp_dual(model.get(), 0);
    }
    EXPECT_EQ(Clp_status(model.get()), 0);
    const double* x = Clp_primalColumnSolution(model.get());
    double objective = gamma / 2 * offset * offset;
    for (size_t j = 0; j < n; ++j)
        objective += cost[j] * x[j] + gamma / 2 * p.weight_of(j) / total * x[j] * x[j];
    return objective;
}

/// Constraints with features as coefficients: those of the windows of moments, then that of the
/// overall rate.
std::vector<Row> rows_of(const Problem& p, const Moments& m, const std::vector<int32_t>& block,
                         size_t centres) {
    const size_t n = p.score.size();
    double total = 0;
    for (size_t i = 0; i < n; ++i) total += p.weight_of(i);
    std::vector<Row> rows;
    for (size_t j = 0; j < m.params.windows.size(); ++j) {
        const auto& window = m.params.windows[j];
        Row row{std::vector<double>(n + centres), window.lo, window.hi};
        for (size_t i = 0; i < n; ++i) {
            const size_t own = block.empty() ? 0 : static_cast<size_t>(block[i]);
            if (j / m.d == own)
                row.terms[i] = p.weight_of(i) / total * m.features[i * m.d + j % m.d];
        }
        if (window.family >= 0) row.terms[n + static_cast<size_t>(window.family)] = -1;
        rows.push_back(std::move(row));
    }
    Row overall{std::vector<double>(n + centres), p.params.overall.lo, p.params.overall.hi};
    for (size_t i = 0; i < n; ++i) overall.terms[i] = p.weight_of(i) / total;
    rows.push_back(std::move(overall));
    return rows;
}

size_t families_of(const Moments& m) {
    int32_t last = -1;
    for (const auto& window : m.params.windows) last = std::max(last, window.family);
    return static_cast<size_t>(last + 1);
}

TEST(RampOptimality, ClpFindsNothingBetterOnSmallProblems) {
    size_t linear = 0, quadratic = 0;
    for (uint64_t seed = 1; seed <= 600; ++seed) {
        Problem p = any_problem(seed, 12);
        if (p.params.criterion == RampCriterion::kCovariance) continue;
        p.params.overall.lo = 0;  // thresholds for equal opportunity do not approve low scores
        const auto solution = solve_ramp(p.view(), p.params);
        ASSERT_TRUE(solution) << seed;
        const Moments m = as_moments(p);
        const size_t centres = families_of(m);
        const double least = by_clp(p, rows_of(p, m, p.group, centres), centres);
        EXPECT_NEAR(solution->objective, least, 1e-9) << seed;
        ++(p.params.gamma > 0 ? quadratic : linear);
    }
    EXPECT_GT(linear, 30u);
    EXPECT_GT(quadratic, 250u);
}

TEST(RampOptimality, ClpFindsNoBetterGroupBlindRuleOnSmallProblems) {
    for (uint64_t seed = 1; seed <= 200; ++seed) {
        Problem p = any_problem(seed, 12);
        if (p.params.criterion == RampCriterion::kCovariance || p.params.gamma == 0) continue;
        p.stratum.clear();
        const auto solution = solve_blind_ramp(p.blind(), p.params);
        if (!solution) {  // with a given centre, blind to groups, it may be infeasible
            EXPECT_TRUE(p.params.rho && solution.error().reason == "infeasible") << seed;
            continue;
        }
        EXPECT_LE(std::abs(solution->gap), 1e-11) << seed;
        const bool odds = p.params.criterion == RampCriterion::kEqualizedOdds;
        Moments m{.features = {}, .params = {}, .d = p.groups * (odds ? 2 : 1)};
        std::vector<double> mean(m.d);
        double total = 0;
        for (size_t i = 0; i < p.score.size(); ++i) {
            const double eta = (p.score[i] + 1) / 2;
            total += p.weight_of(i);
            for (size_t j = 0; j < m.d; ++j) {
                const double factor = p.params.criterion == RampCriterion::kStatisticalParity ? 1
                                      : j < p.groups                                          ? eta
                                                     : 1 - eta;
                m.features.push_back(factor * p.posterior[i * p.groups + j % p.groups]);
                mean[j] += p.weight_of(i) * m.features.back();
            }
        }
        for (size_t i = 0; i < m.features.size(); ++i) m.features[i] *= total / mean[i % m.d];
        for (size_t j = 0; j < m.d; ++j) {
            const double half = p.half(j % p.groups), at = p.params.rho.value_or(0);
            m.params.windows.push_back(
                {at - half, at + half, p.params.rho ? -1 : static_cast<int32_t>(j / p.groups)});
        }
        const size_t centres = families_of(m);
        EXPECT_NEAR(solution->objective, by_clp(p, rows_of(p, m, {}, centres), centres), 1e-9)
            << seed;
    }
}

}  // namespace
}  // namespace rampart::ramp
