#include <gtest/gtest.h>

#include <cmath>

#include "rampart/base/thread_pool.hpp"
#include "support/budro_problem.hpp"

/// The searches of BuDRO find the same result, bit for bit, as a search of every pair.
namespace rampart::budro {
namespace {

void expect_same(const Transport& a, const Transport& b) {
    ASSERT_EQ(a.eta, b.eta);
    ASSERT_EQ(a.cost, b.cost);
    ASSERT_EQ(a.primal, b.primal);
    ASSERT_EQ(a.dual, b.dual);
    ASSERT_EQ(a.mass, b.mass);
    ASSERT_EQ(a.moves.size(), b.moves.size());
    for (size_t k = 0; k < a.moves.size(); ++k) {
        ASSERT_EQ(a.moves[k].from, b.moves[k].from);
        ASSERT_EQ(a.moves[k].to, b.moves[k].to);
        ASSERT_EQ(a.moves[k].mass, b.moves[k].mass);
        ASSERT_EQ(a.moves[k].squared_distance, b.moves[k].squared_distance);
    }
}

/// Rounds with losses that change slowly, and sometimes fast.
struct Rounds {
    base::Random random;
    std::vector<double> losses;
    void next(uint64_t round) {
        if (round % 5 == 4) {  // ties
            for (double& loss : losses) loss = std::round(4 * loss) / 4;
            return;
        }
        const double step = round % 3 == 2 ? 0.5 : 0.02;
        for (double& loss : losses) loss = std::max(0.0, loss + step * random.normal());
    }
};

/// Two solvers that must agree, in every round.
void expect_agreement(const MadeTransport& p, TransportParams one, TransportParams other,
                      uint64_t rounds, base::ThreadPool* pool) {
    one.epsilon = other.epsilon = p.epsilon;
    auto a = TransportSolver::create(p.problem(), one, nullptr);
    auto b = TransportSolver::create(p.problem(), other, pool);
    ASSERT_TRUE(a) << a.error().message;
    ASSERT_TRUE(b) << b.error().message;
    Rounds made{base::Random(p.rows()), p.losses};
    for (uint64_t round = 0; round < rounds; ++round) {
        SCOPED_TRACE(round);
        const auto x = a->solve(made.losses), y = b->solve(made.losses);
        ASSERT_TRUE(x && y);
        ASSERT_NO_FATAL_FAILURE(expect_same(*x, *y));
        made.next(round);
    }
}

TransportParams searching(TransportSearch search,
                          TransportMethod method = TransportMethod::kExact) {
    TransportParams params;
    params.search = search;
    params.method = method;
    params.sgd.steps = 20;
    params.sgd.batch = 8;
    params.entropic.gamma = 0.02;
    return params;
}

MadeTransport any(uint64_t seed, size_t most_rows) {
    base::Random random(base::mix64(seed + 77));
    constexpr size_t kDimensions[] = {0, 1, 2, 5, 8, 9, 34};
    MadeTransport p =
        made_transport(seed, 1 + random.below(most_rows), kDimensions[random.below(7)]);
    // far from the origin and on any scale
    const double scale = std::pow(10, random.uniform(-3, 3)), shift = random.uniform(-1e3, 1e3);
    if (seed % 3 == 0) {
        for (double& x : p.points.values) x = scale * x + shift;
        p.epsilon *= scale * scale;
        if (p.epsilon < 1e-9) p.epsilon = 0;
    }
    return p;
}

TEST(BudroSearchLaws, TilesFindWhatLookingAtEveryPairFinds) {
    base::ThreadPool pool(2);
    for (uint64_t seed = 0; seed < 150; ++seed) {
        SCOPED_TRACE(seed);
        const MadeTransport p = any(seed, seed % 10 == 0 ? 700 : 150);
        ASSERT_NO_FATAL_FAILURE(expect_agreement(p, searching(TransportSearch::kBruteForce),
                                                 searching(TransportSearch::kTiles), 7, &pool));
    }
}

TEST(BudroSearchLaws, TablesOfGroupsOfTilesFindTheSame) {
    for (uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        const MadeTransport p = any(seed, 700);
        auto tight = searching(TransportSearch::kTiles);
        // the smallest accepted budget: the largest groups
        auto solver =
            base::Result<TransportSolver>(base::Error{base::ErrorCode::kInternal, "none", "none"});
        for (tight.memory_budget = 1024; !solver; tight.memory_budget += 2048) {
            tight.epsilon = p.epsilon;
            solver = TransportSolver::create(p.problem(), tight, nullptr);
            ASSERT_TRUE(solver || solver.error().reason == "memory_budget");
            EXPECT_LE(solver ? solver->bytes() : 0, tight.memory_budget);
        }
        ASSERT_NO_FATAL_FAILURE(
            expect_agreement(p, searching(TransportSearch::kBruteForce), tight, 5, nullptr));
    }
}

TEST(BudroSearchLaws, OtherMethodsFindTheSame) {
    for (const auto method : {TransportMethod::kSgd, TransportMethod::kBisection}) {
        for (uint64_t seed = 0; seed < 60; ++seed) {
            SCOPED_TRACE(seed);
            const MadeTransport p = any(seed, 200);
            ASSERT_NO_FATAL_FAILURE(
                expect_agreement(p, searching(TransportSearch::kBruteForce, method),
                                 searching(TransportSearch::kTiles, method), 4, nullptr));
        }
    }
}

TEST(BudroSearchLaws, EntropyIsSpreadTheSame) {
    base::ThreadPool pool(2);
    for (uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        const MadeTransport p = any(seed, 200);
        ASSERT_NO_FATAL_FAILURE(expect_agreement(
            p, searching(TransportSearch::kBruteForce, TransportMethod::kEntropic),
            searching(TransportSearch::kTiles, TransportMethod::kEntropic), 3, &pool));
    }
}

TEST(BudroSearchLaws, InstructionsChangeNothing) {
    for (uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        auto portable = searching(TransportSearch::kTiles);
        portable.instructions = model::InstructionSet::kPortable;
        ASSERT_NO_FATAL_FAILURE(expect_agreement(any(seed, 400), searching(TransportSearch::kTiles),
                                                 portable, 4, nullptr));
    }
}

TEST(BudroSearchLaws, MostPairsAreNeverLookedAt) {
    MadeTransport p = made_transport(3, 6000, 3);
    p.epsilon = 0.02;
    auto solver = TransportSolver::create(p.problem(), {.epsilon = p.epsilon}, nullptr);
    const auto out = solver->solve(p.losses);
    ASSERT_TRUE(out);
    EXPECT_LT(out->counts.screened, out->counts.pairs / 10);
    EXPECT_LT(out->counts.decided, out->counts.screened / 4);
}

}  // namespace
}  // namespace rampart::budro
