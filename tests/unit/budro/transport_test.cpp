#include "rampart/budro/transport.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "support/budro_problem.hpp"

namespace rampart::budro {
namespace {

/// Three people of one label on a line at 0, 1 and 3, with losses 0, 1 and 2.
MadeTransport on_a_line(double epsilon) {
    MadeTransport p;
    p.points = {3, 1, {0, 1, 3}};
    p.labels = {0, 0, 0};
    p.classes = 1;
    p.losses = {0, 1, 2};
    p.epsilon = epsilon;
    return p;
}

Transport solved(const MadeTransport& p, TransportParams params = {}) {
    params.epsilon = p.epsilon;
    auto solver = TransportSolver::create(p.problem(), params, nullptr);
    EXPECT_TRUE(solver) << solver.error().message;
    auto out = solver->solve(p.losses);
    EXPECT_TRUE(out) << out.error().message;
    return *std::move(out);
}

TEST(BudroTransport, AHandWorkedProblemIsSolved) {
    // gains per distance: 0 -> 1: 1/1, 1 -> 3: 1/4, 0 -> 3: 2/9 (beyond 0 -> 1: 1/8). A mean budget
    // of 1/3 is just what the first move costs; half of it moves half of the first person.
    const Transport one = solved(on_a_line(1.0 / 3));
    EXPECT_NEAR(one.primal, 4.0 / 3, 1e-15);
    EXPECT_NEAR(one.cost, 1.0 / 3, 1e-15);
    const Transport half = solved(on_a_line(1.0 / 6));
    EXPECT_NEAR(half.eta, 1, 1e-12);
    EXPECT_NEAR(half.primal, 1 + 1.0 / 6, 1e-15);
    EXPECT_NEAR(half.performance_gap(), 1.0 / 6, 1e-15);
    ASSERT_EQ(half.moves.size(), 1u);
    EXPECT_EQ(half.moves[0].from, 0u);
    EXPECT_EQ(half.moves[0].to, 1u);
    EXPECT_NEAR(half.moves[0].mass, 1.0 / 6, 1e-15);
    EXPECT_EQ(half.moves[0].squared_distance, 1);
    EXPECT_NEAR(half.mass[0], 1.0 / 6, 1e-15);
    EXPECT_NEAR(half.mass[1], 1.0 / 2, 1e-15);
    EXPECT_NEAR(half.mass[2], 1.0 / 3, 1e-15);
}

TEST(BudroTransport, ABudgetThatIsNotNeededCostsNothing) {
    const Transport out = solved(on_a_line(1000));
    EXPECT_EQ(out.eta, 0);
    EXPECT_EQ(out.primal, 2);
    EXPECT_NEAR(out.cost, 13.0 / 3, 1e-15);
    EXPECT_EQ(out.mass, (std::vector<double>{0, 0, 1}));
    EXPECT_EQ(out.gap, 0);
}

TEST(BudroTransport, WithoutABudgetPeopleGoToTheWorstOfTheirTwinsAndNoFurther) {
    MadeTransport p = on_a_line(0);
    p.points = {4, 1, {0, 0, 1, 0}};
    p.labels = {0, 0, 0, 0};
    p.losses = {0.5, 0.75, 9, 0.75};
    for (const auto method : {TransportMethod::kExact, TransportMethod::kBisection}) {
        const Transport out = solved(p, {.method = method});
        EXPECT_TRUE(std::isinf(out.eta));
        EXPECT_EQ(out.cost, 0);
        EXPECT_EQ(out.mass, (std::vector<double>{0, 0.75, 0.25, 0}));  // the first of equal twins
        EXPECT_EQ(out.gap, 0);
        ASSERT_EQ(out.moves.size(), 2u);
        EXPECT_EQ(out.moves[1].from, 3u);
        EXPECT_EQ(out.moves[1].to, 1u);
    }
    const Transport spread = solved(p, {.method = TransportMethod::kEntropic});
    EXPECT_NEAR(spread.mass[1], 0.375, 1e-12);
    EXPECT_NEAR(spread.mass[3], 0.375, 1e-12);
    EXPECT_EQ(spread.cost, 0);
}

TEST(BudroTransport, EqualLossesMoveNobody) {
    for (const auto method : {TransportMethod::kExact, TransportMethod::kBisection}) {
        MadeTransport p = on_a_line(0.5);
        p.losses = {0.7, 0.7, 0.7};
        const Transport out = solved(p, {.method = method});
        EXPECT_EQ(out.eta, 0);
        EXPECT_EQ(out.cost, 0);
        EXPECT_TRUE(out.moves.empty());
        EXPECT_NEAR(out.performance_gap(), 0, 1e-15);
    }
}

TEST(BudroTransport, OneGreatestLossAmongEqualsIsReachedByWhoIsNearest) {
    MadeTransport p = on_a_line(1000);
    p.points = {4, 1, {0, 10, 2, -2}};
    p.labels = {0, 0, 0, 0};
    p.losses = {0, 5, 5, 5};
    const Transport out = solved(p);  // 2 and -2 are equally far from 0: the lower row
    EXPECT_EQ(out.mass, (std::vector<double>{0, 0.25, 0.5, 0.25}));
    EXPECT_EQ(out.cost, 1);
}

TEST(BudroTransport, OnePersonStays) {
    MadeTransport p;
    p.points = {1, 2, {3, 4}};
    p.labels = {1};
    p.losses = {0.25, 1.5};
    p.epsilon = 1;
    for (const auto method : {TransportMethod::kExact, TransportMethod::kSgd,
                              TransportMethod::kEntropic, TransportMethod::kBisection}) {
        const Transport out = solved(p, {.method = method});
        EXPECT_EQ(out.mass, (std::vector<double>{0, 1})) << to_string(method);
        EXPECT_EQ(out.primal, 1.5);
        EXPECT_EQ(out.loss, 1.5);
        EXPECT_TRUE(out.moves.empty());
    }
}

TEST(BudroTransport, LabelsAreKept) {
    MadeTransport p = on_a_line(1000);
    p.labels = {0, 1, 1};
    p.classes = 2;
    p.losses = {0, 1, 2, 8, 1, 3};  // as label 1, the first person has the greatest loss
    const Transport out = solved(p);
    EXPECT_NEAR(out.mass[0 * 3 + 2], 1.0 / 3, 1e-15);
    EXPECT_NEAR(out.mass[1 * 3 + 0], 2.0 / 3, 1e-15);
}

TEST(BudroTransport, ASingleClassAmongTwoIsSolved) {
    MadeTransport p = on_a_line(1.0 / 3);
    p.classes = 2;
    p.losses = {0, 1, 2, 7, 7, 7};
    EXPECT_NEAR(solved(p).primal, 4.0 / 3, 1e-15);
}

TEST(BudroTransport, AWeightCountsLikeSoManyPeople) {
    MadeTransport many;
    MadeTransport weighted;
    base::Random random(5);
    for (size_t i = 0; i < 12; ++i) {
        const double x = random.normal(), y = random.normal();
        const auto label = static_cast<uint8_t>(i % 2);
        const size_t times = 1 + i % 3;
        weighted.points.values.insert(weighted.points.values.end(), {x, y});
        weighted.labels.push_back(label);
        weighted.weights.push_back(static_cast<double>(times));
        for (size_t k = 0; k < times; ++k) {
            many.points.values.insert(many.points.values.end(), {x, y});
            many.labels.push_back(label);
        }
    }
    weighted.points.rows = 12;
    many.points.rows = many.labels.size();
    weighted.points.dimensions = many.points.dimensions = 2;
    const auto one = made_losses(random, 12, 2, 0);
    weighted.losses = one;
    for (size_t c = 0; c < 2; ++c)
        for (size_t i = 0; i < 12; ++i)
            many.losses.insert(many.losses.end(), 1 + i % 3, one[c * 12 + i]);
    weighted.epsilon = many.epsilon = 0.4;
    EXPECT_NEAR(solved(weighted).primal, solved(many).primal, 1e-13);
    EXPECT_NEAR(solved(weighted).eta, solved(many).eta, 1e-10);
    // a total of 24 · 0.4 says the same
    weighted.epsilon = 24 * 0.4;
    EXPECT_NEAR(solved(weighted, {.epsilon_is_total = true}).primal, solved(many).primal, 1e-13);
}

TEST(BudroTransport, WithoutDistancesEverybodyGoesToTheGreatestLoss) {
    for (const size_t dimensions : {0u, 3u}) {  // projected away, or constant
        MadeTransport p = on_a_line(0.1);
        p.points = {3, dimensions, std::vector<double>(3 * dimensions, 0.5)};
        const Transport out = solved(p);
        EXPECT_EQ(out.mass, (std::vector<double>{0, 0, 1}));
        EXPECT_EQ(out.cost, 0);
        EXPECT_EQ(out.eta, 0);
    }
}

TEST(BudroTransport, LossesOfAlmostImpossibleOutcomesAreFinite) {
    MadeTransport p = made_transport(3, 40, 2);
    for (double& loss : p.losses) loss *= 1e5;  // -log of 1e-40000 and worse
    p.epsilon = 0.2;
    for (const auto method : {TransportMethod::kExact, TransportMethod::kEntropic}) {
        const Transport out = solved(p, {.method = method});
        EXPECT_NEAR(std::accumulate(out.mass.begin(), out.mass.end(), 0.0), 1, 1e-12);
        EXPECT_TRUE(std::isfinite(out.primal) && std::isfinite(out.dual));
        EXPECT_LE(out.gap, out.eta * (p.epsilon - out.cost) + 1e-3);
        EXPECT_GE(out.gap, -1e-9);
    }
}

TEST(BudroTransport, RoundsAfterTheFirstAreSolvedAsWellAsTheFirst) {
    const MadeTransport p = made_transport(8, 200, 3);
    TransportParams params{.epsilon = 0.2};
    auto warm = TransportSolver::create(p.problem(), params, nullptr);
    ASSERT_TRUE(warm);
    base::Random random(9);
    auto losses = p.losses;
    for (int round = 0; round < 20; ++round) {
        for (double& loss : losses) loss = std::max(0.0, loss + 0.02 * random.normal());
        auto cold = TransportSolver::create(p.problem(), params, nullptr);
        const auto first = cold->solve(losses), again = warm->solve(losses);
        EXPECT_NEAR(first->primal, again->primal, 1e-12);
        EXPECT_LE(again->gap, 1e-12);
        EXPECT_NEAR(again->cost, 0.2, 1e-13);
    }
}

TEST(BudroTransport, TheSameSeedDrawsTheSamePeople) {
    const MadeTransport p = made_transport(1, 100, 2);
    const auto run = [&](uint64_t seed) {
        return solved(p, {.method = TransportMethod::kSgd, .sgd = {.batch = 10, .seed = seed}}).eta;
    };
    EXPECT_EQ(run(1), run(1));
    EXPECT_NE(run(1), run(2));
}

TEST(BudroTransport, NamesAreRead) {
    for (const auto method : {TransportMethod::kExact, TransportMethod::kSgd,
                              TransportMethod::kEntropic, TransportMethod::kBisection})
        EXPECT_EQ(*parse_transport_method(to_string(method)), method);
    EXPECT_EQ(parse_transport_method("simplex").error().reason, "unknown_transport_method");
}

TEST(BudroTransport, ParametersOutsideTheirRangesAreRefused) {
    const auto refused = [](const TransportParams& params) {
        const auto status = validate(params);
        return !status && status.error().reason == "bad_transport_parameter";
    };
    EXPECT_TRUE(validate(TransportParams{}));
    EXPECT_TRUE(validate(TransportParams{.epsilon = 0}));
    EXPECT_TRUE(refused({.epsilon = -1}));
    EXPECT_TRUE(refused({.epsilon = 1e-10}));
    EXPECT_TRUE(refused({.epsilon = std::numeric_limits<double>::quiet_NaN()}));
    EXPECT_TRUE(refused({.gap_tolerance = 0.1}));
    EXPECT_TRUE(refused({.eta_tolerance = 0}));
    EXPECT_TRUE(refused({.sgd = {.initial_eta = -0.1}}));
    EXPECT_TRUE(refused({.sgd = {.steps = 0}}));
    EXPECT_TRUE(refused({.sgd = {.batch = 0}}));
    EXPECT_TRUE(refused({.sgd = {.learning_rate = 0}}));
    EXPECT_TRUE(refused({.sgd = {.momentum = 1}}));
    EXPECT_TRUE(refused({.entropic = {.gamma = 0}}));
}

TEST(BudroTransport, WrongInputIsRefused) {
    const MadeTransport good = on_a_line(1);
    const auto reason = [](const MadeTransport& p) {
        auto solver = TransportSolver::create(p.problem(), {}, nullptr);
        if (!solver) return solver.error().reason;
        return solver->solve(p.losses).error().reason;
    };
    MadeTransport p = good;
    p.points.values[1] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(reason(p), "bad_coordinate");
    p = good;
    p.labels[2] = 1;
    EXPECT_EQ(reason(p), "bad_label");
    p = good;
    p.labels.pop_back();
    EXPECT_EQ(reason(p), "bad_size");
    p = good;
    p.weights = {1, 0, 1};
    EXPECT_EQ(reason(p), "bad_weight");
    p = good;
    p.losses.push_back(1);
    EXPECT_EQ(reason(p), "bad_size");
    p = good;
    p.losses[0] = std::numeric_limits<double>::infinity();
    EXPECT_EQ(reason(p), "bad_loss");
    p = good;
    p.classes = 65;
    EXPECT_EQ(reason(p), "bad_size");
    EXPECT_EQ(TransportSolver::create({}, {}, nullptr).error().reason, "no_rows");
}

}  // namespace
}  // namespace rampart::budro
