#include <coin/Clp_C_Interface.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <memory>
#include <numeric>

#include "support/budro_problem.hpp"

/// That BuDRO's inner problem is solved: by Clp, and by its own certificate.
namespace rampart::budro {
namespace {

struct FreeClp {
    void operator()(Clp_Simplex* model) const { Clp_deleteModel(model); }
};

/// The linear program (BuDRO, Vargo et al. 2021, eq. 2.8) as it stands: a variable for each pair.
double by_clp(const MadeTransport& p) {
    const size_t n = p.rows();
    std::vector<CoinBigIndex> start{0};
    std::vector<int> index;
    std::vector<double> value, cost, upper, low(n + 1, 1), high(n + 1, 1);
    low[n] = -DBL_MAX;
    high[n] = p.epsilon;
    for (size_t j = 0; j < n; ++j) {
        for (size_t i = 0; i < n; ++i) {
            const double distance = squared_distance(p.points.row(i), p.points.row(j));
            // without a budget Clp's tolerance would be one
            upper.push_back(p.epsilon == 0 && distance > 0 ? 0 : DBL_MAX);
            cost.push_back(-p.weight(j) * p.losses[p.labels[j] * n + i]);
            index.insert(index.end(), {static_cast<int>(j), static_cast<int>(n)});
            value.insert(value.end(), {1, p.weight(j) * distance});
            start.push_back(static_cast<CoinBigIndex>(index.size()));
        }
    }
    const std::vector<double> lower(n * n, 0);
    const std::unique_ptr<Clp_Simplex, FreeClp> model(Clp_newModel());
    Clp_setLogLevel(model.get(), 0);
    Clp_loadProblem(model.get(), static_cast<int>(n * n), static_cast<int>(n + 1), start.data(),
                    index.data(), value.data(), lower.data(), upper.data(), cost.data(), low.data(),
                    high.data());
    Clp_setPrimalTolerance(model.get(), 1e-11);
    Clp_setDualTolerance(model.get(), 1e-11);
    Clp_primal(model.get(), 0);
    EXPECT_EQ(Clp_status(model.get()), 0);
    return -Clp_objectiveValue(model.get());
}

Transport solved(const MadeTransport& p, TransportParams params) {
    params.epsilon = p.epsilon;
    auto solver = TransportSolver::create(p.problem(), params, nullptr);
    EXPECT_TRUE(solver) << solver.error().message;
    auto out = solver->solve(p.losses);
    EXPECT_TRUE(out) << out.error().message;
    return *std::move(out);
}

/// What any answer has to satisfy, whatever the method: it is the transport that its moves tell.
void expect_consistent(const MadeTransport& p, const Transport& out) {
    const size_t n = p.rows();
    double loss = 0, cost = 0;
    for (size_t k = 0; k < out.mass.size(); ++k) {
        EXPECT_GE(out.mass[k], 0);
        loss += out.mass[k] * p.losses[k];
    }
    EXPECT_NEAR(std::accumulate(out.mass.begin(), out.mass.end(), 0.0), 1, 1e-12);
    EXPECT_NEAR(loss, out.primal, 1e-11);
    std::vector<double> mass(out.mass.size());
    std::vector<double> left(n);
    for (size_t i = 0; i < n; ++i) left[i] = p.weight(i);
    for (const Move& move : out.moves) {
        EXPECT_NE(move.from, move.to);
        EXPECT_EQ(move.squared_distance,
                  squared_distance(p.points.row(move.from), p.points.row(move.to)));
        cost += move.mass * move.squared_distance;
        left[move.from] -= move.mass;
        mass[p.labels[move.from] * n + move.to] += move.mass;
    }
    EXPECT_NEAR(cost, out.cost, 1e-11 * (1 + out.cost));
    for (size_t i = 0; i < n; ++i) {
        EXPECT_GT(left[i], -1e-12);
        mass[p.labels[i] * n + i] += left[i];
    }
    for (size_t k = 0; k < mass.size(); ++k) EXPECT_NEAR(mass[k], out.mass[k], 1e-12);
}

constexpr uint64_t kSeeds = 1000;

MadeTransport small(uint64_t seed) {
    base::Random random(seed);
    const size_t n = 1 + random.below(60);
    return made_transport(seed, n, random.below(5));
}

TEST(BudroLaws, TheExactAnswerIsThatOfALinearProgramAndSpendsTheBudget) {
    size_t tight = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        const MadeTransport p = small(seed);
        const double best = by_clp(p);
        const Transport out = solved(p, {});
        ASSERT_NEAR(out.primal, best, 1e-9);
        ASSERT_NEAR(out.dual, best, 1e-9);
        ASSERT_LE(out.cost, p.epsilon * (1 + 1e-12));
        ASSERT_LE(std::abs(out.gap), 2e-12);
        if (out.eta > 0 && std::isfinite(out.eta)) {
            ++tight;
            ASSERT_NEAR(out.cost, p.epsilon, 1e-12 * (1 + p.epsilon));
        }
        expect_consistent(p, out);
    }
    EXPECT_GT(tight, kSeeds / 3);
    EXPECT_LT(tight, kSeeds);
}

TEST(BudroLaws, BisectionStaysWithinTheBudgetAndItsGapIsWhatItLeavesUnspent) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        const MadeTransport p = small(seed);
        const Transport out = solved(p, {.method = TransportMethod::kBisection});
        ASSERT_LE(out.cost, p.epsilon * (1 + 1e-12));
        ASSERT_GE(out.gap, -1e-12);
        const double eta = std::isfinite(out.eta) ? out.eta : 0;
        ASSERT_NEAR(out.gap, eta * (p.epsilon - out.cost), 1e-7 * (1 + eta));
        expect_consistent(p, out);
    }
}

TEST(BudroLaws, TheEntropicAnswerSpendsTheBudgetAndIsWithinItsEntropyOfTheBest) {
    constexpr double kGamma = 0.01;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        const MadeTransport p = small(seed);
        const Transport out =
            solved(p, {.method = TransportMethod::kEntropic, .entropic = {.gamma = kGamma}});
        const auto n = static_cast<double>(p.rows());
        ASSERT_LE(out.cost, p.epsilon * (1 + 1e-6) + 1e-12);
        ASSERT_GE(out.gap, -1e-9);
        const double eta = std::isfinite(out.eta) ? out.eta : 0;
        ASSERT_LE(out.gap, kGamma * std::log(n) + eta * (p.epsilon - out.cost) + 1e-9);
        expect_consistent(p, out);
    }
}

TEST(BudroLaws, StochasticStepsEndNearTheExactPrice) {
    for (uint64_t seed = 0; seed < 25; ++seed) {
        SCOPED_TRACE(seed);
        MadeTransport p = made_transport(seed, 60, 3);
        p.epsilon = 0.3;
        const Transport exact = solved(p, {});
        const SgdParams steps{
            .initial_eta = 0.1, .steps = 1500, .batch = 40, .learning_rate = 1e-3, .seed = seed};
        const Transport out = solved(p, {.method = TransportMethod::kSgd, .sgd = steps});
        ASSERT_GE(out.eta, 0);
        ASSERT_GE(out.dual, exact.dual - 1e-12);
        ASSERT_NEAR(out.dual, exact.dual, 0.02);
        ASSERT_NEAR(out.dual - out.primal, out.eta * (p.epsilon - out.cost), 1e-9);
        expect_consistent(p, out);
    }
}

}  // namespace
}  // namespace rampart::budro
