#include "rampart/numeric/cma_es.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace rampart::numeric {
namespace {

using Point = std::span<const double>;

double sphere(Point x) {
    double sum = 0;
    for (const double v : x) sum += v * v;
    return sum;
}

/// Condition 1e6, turned by 45 degrees in pairs of coordinates so that no axis is the right one.
double ellipsoid(Point x) {
    double sum = 0;
    const size_t n = x.size();
    for (size_t i = 0; i < n; ++i) {
        const double turned =
            (x[i] + (i % 2 == 0 ? x[(i + 1) % n] : -x[i - 1])) / std::numbers::sqrt2;
        sum += std::pow(1e6, static_cast<double>(i) / static_cast<double>(n - 1)) * turned * turned;
    }
    return sum;
}

double rosenbrock(Point x) {
    double sum = 0;
    for (size_t i = 0; i + 1 < x.size(); ++i) {
        const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        sum += 100 * a * a + b * b;
    }
    return sum;
}

double rastrigin(Point x) {
    double sum = 0;
    for (const double v : x) sum += v * v + 10 * (1 - std::cos(2 * std::numbers::pi * v));
    return sum;
}

Minimum search(const Cost& cost, const std::vector<std::vector<double>>& starts,
               const CmaEsOptions& options, const Box& box = {}) {
    const auto result = minimise(cost, starts, box, options);
    EXPECT_TRUE(result) << result.error().message;
    return result.value_or(Minimum{});
}

CmaEsOptions options_of(double scale, size_t evaluations, uint64_t seed) {
    CmaEsOptions options;
    options.scale = scale;
    options.max_evaluations = evaluations;
    options.seed = seed;
    return options;
}

TEST(CmaEs, FindsTheBottomOfASphere) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
        CmaEsOptions options = options_of(1, 4000, seed);
        options.target = 1e-16;
        options.cost_tolerance = 0;
        const auto found = search(sphere, {std::vector<double>(8, 3.0)}, options);
        EXPECT_LE(found.cost, 1e-16);
        EXPECT_EQ(found.stopped, Stopped::kTarget);
        EXPECT_EQ(found.cost, sphere(found.x));
    }
}

TEST(CmaEs, LearnsTheShapeOfATurnedEllipsoid) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
        CmaEsOptions options = options_of(1, 20000, seed);
        options.target = 1e-12;
        EXPECT_LE(search(ellipsoid, {std::vector<double>(8, 3.0)}, options).cost, 1e-12);
    }
}

TEST(CmaEs, FollowsTheValleyOfRosenbrock) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
        CmaEsOptions options = options_of(0.5, 60000, seed);
        options.target = 1e-12;
        const auto found = search(rosenbrock, {std::vector<double>(6, -1.0)}, options);
        EXPECT_LE(found.cost, 1e-12);
        for (const double v : found.x) EXPECT_NEAR(v, 1, 1e-5);
    }
}

TEST(CmaEs, RestartsWithLargerPopulationsLeaveTheMinimaOfRastrigin) {
    size_t without = 0, with = 0;
    for (uint64_t seed = 0; seed < 5; ++seed) {
        CmaEsOptions options = options_of(2, 200000, seed);
        options.target = 1e-9;
        const Box box{std::vector<double>(5, -5.0), std::vector<double>(5, 5.0)};
        with += search(rastrigin, {std::vector<double>(5, 4.0)}, options, box).cost <= 1e-9;
        options.max_restarts = 0;
        without += search(rastrigin, {std::vector<double>(5, 4.0)}, options, box).cost <= 1e-9;
    }
    EXPECT_EQ(with, 5u);
    EXPECT_LT(without, 5u);
}

TEST(CmaEs, TheSameSeedGivesTheSameBits) {
    const auto options = options_of(0.5, 2000, 7);
    const std::vector<std::vector<double>> starts{{-1, -1, 2}, {2, 0, 0}};
    const auto a = search(rosenbrock, starts, options), b = search(rosenbrock, starts, options);
    EXPECT_EQ(a.x, b.x);
    EXPECT_EQ(a.cost, b.cost);
    EXPECT_EQ(a.evaluations, b.evaluations);
    CmaEsOptions other = options;
    other.seed = 8;
    EXPECT_NE(search(rosenbrock, starts, other).x, a.x);
}

TEST(CmaEs, OnlyTheOrderOfTheCostsMatters) {
    CmaEsOptions options = options_of(1, 600, 3);
    options.cost_tolerance = 0;
    const std::vector<std::vector<double>> starts{{2, -1, 1}};
    const auto plain = search(sphere, starts, options);
    const auto bent = search([](Point x) { return std::sqrt(sphere(x)) - 5; }, starts, options);
    EXPECT_EQ(plain.x, bent.x);
}

TEST(CmaEs, StaysInTheBoxAndFindsTheMinimumOnItsEdge) {
    const Box box{{1, -std::numeric_limits<double>::infinity()}, {2, 4}};
    const auto found = search(
        [&](Point x) {
            EXPECT_GE(x[0], 1);
            EXPECT_LE(x[0], 2);
            EXPECT_LE(x[1], 4);
            return sphere(x);
        },
        {{9, 9}}, options_of(0.5, 3000, 1), box);
    EXPECT_EQ(found.x[0], 1);
    EXPECT_NEAR(found.x[1], 0, 1e-5);
}

TEST(CmaEs, NaNIsTheWorstCost) {
    const auto hole = [](Point x) { return x[0] < 0.5 ? std::nan("") : sphere(x); };
    const auto found = search(hole, {{3, 3}}, options_of(0.5, 4000, 2));
    EXPECT_NEAR(found.x[0], 0.5, 1e-3);
    const auto nothing =
        search([](Point) { return std::nan(""); }, {{3, 3}}, options_of(1, 500, 2));
    EXPECT_EQ(nothing.cost, std::numeric_limits<double>::infinity());
    EXPECT_EQ(nothing.x, (std::vector<double>{3, 3}));
}

TEST(CmaEs, NeverSpendsMoreThanItsBudgetAndNeverLosesAStart) {
    for (const size_t budget : {1u, 2u, 7u, 50u, 333u}) {
        size_t calls = 0;
        const auto counted = [&](Point x) {
            ++calls;
            return rosenbrock(x);
        };
        const auto found = search(counted, {{1, 1, 1}, {5, 5, 5}}, options_of(1, budget, 4));
        EXPECT_LE(calls, budget);
        EXPECT_EQ(calls, found.evaluations);
        EXPECT_EQ(found.cost, 0);  // the first start
    }
}

TEST(CmaEs, StopsWhenItIsToldTo) {
    size_t asked = 0;
    const std::vector<std::vector<double>> starts{{3, 3}};
    const auto found =
        minimise(sphere, starts, {}, options_of(1, 1'000'000, 5), [&] { return ++asked > 3; });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->stopped, Stopped::kCancelled);
    EXPECT_LT(found->evaluations, 100u);
}

TEST(CmaEs, RefusesWhatItCannotSearch) {
    const auto refused = [](std::vector<std::vector<double>> starts, Box box,
                            CmaEsOptions options) {
        const auto result = minimise(sphere, starts, box, options);
        return !result && result.error().reason == "bad_search";
    };
    const double inf = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(refused({}, {}, {}));
    EXPECT_TRUE(refused({{}}, {}, {}));
    EXPECT_TRUE(refused({{1, 2}, {1}}, {}, {}));
    EXPECT_TRUE(refused({{1, inf}}, {}, {}));
    EXPECT_TRUE(refused({std::vector<double>(kMaxDimension + 1, 0.0)}, {}, {}));
    EXPECT_TRUE(refused(std::vector<std::vector<double>>(kMaxStarts + 1, {0.0}), {}, {}));
    EXPECT_TRUE(refused({{1, 2}}, {{0}, {1}}, {}));
    EXPECT_TRUE(refused({{1, 2}}, {{0, 3}, {1, 2}}, {}));
    const auto with = [](auto change) {
        CmaEsOptions options;
        change(options);
        return options;
    };
    EXPECT_TRUE(refused({{1, 2}}, {}, with([](auto& o) { o.scale = 0; })));
    EXPECT_TRUE(refused({{1, 2}}, {}, with([](auto& o) { o.scales = {1}; })));
    EXPECT_TRUE(refused({{1, 2}}, {}, with([](auto& o) { o.population = 3; })));
    EXPECT_TRUE(refused({{1, 2}}, {}, with([](auto& o) { o.max_evaluations = 0; })));
    EXPECT_TRUE(refused({{1, 2}}, {}, with([](auto& o) { o.max_restarts = 21; })));
    EXPECT_TRUE(refused({{1, 2}}, {}, with([](auto& o) { o.cost_tolerance = std::nan(""); })));
    EXPECT_FALSE(refused({std::vector<double>(kMaxDimension, 0.0)}, {},
                         with([](auto& o) { o.max_evaluations = 1; })));
}

}  // namespace
}  // namespace rampart::numeric
