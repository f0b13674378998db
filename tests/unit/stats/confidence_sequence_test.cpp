#include "rampart/stats/confidence_sequence.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "rampart/base/random.hpp"
#include "support/golden_numbers.hpp"

namespace rampart::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Values in [-2, 3], mostly near the middle, of mean 0.5.
std::vector<double> sample(size_t n, uint64_t seed) {
    base::Random random(seed);
    std::vector<double> out;
    for (size_t i = 0; i < n; ++i) out.push_back(0.5 + 0.5 * (random.uniform() - random.uniform()));
    return out;
}

/// The values that the golden bounds are of.
std::vector<double> golden_values(const test::GoldenNumbers& golden) {
    auto values = golden.array({"Z", "pair_ctr"});
    for (double& x : values) x += 0.02;
    return values;
}

TEST(AsymptoticSequence, AgreesWithTheGoldenVectors) {
    const test::GoldenNumbers golden("elf_vectors.json");
    const auto values = golden_values(golden);
    AsymptoticSequence sequence(0.1, values.size());
    for (const double x : values) sequence.add(x);
    EXPECT_NEAR(sequence.lower(), golden.number({"bounds", "asympcs_lcb"}), 1e-10);
}

TEST(AsymptoticSequence, MarginIsThatOfTheFormula) {
    AsymptoticSequence sequence(0.05, 100);
    const auto values = sample(100, 4);
    for (const double x : values) sequence.add(x);
    const Moments m = moments(values);
    const double l = -2 * std::log(0.1), r = (l + std::log(1 + l)) / 100;
    const double margin =
        std::sqrt(m.variance) *
        std::sqrt(2 * (100 * r + 1) / (1e4 * r) * std::log(1 + std::sqrt(100 * r + 1) / 0.1));
    EXPECT_NEAR(sequence.mean(), m.mean, 1e-12);
    EXPECT_NEAR(sequence.lower(), m.mean - margin, 1e-12);
    EXPECT_NEAR(sequence.upper(), m.mean + margin, 1e-12);
}

TEST(AsymptoticSequence, IsWiderThanTheIntervalOfOneLook) {
    AsymptoticSequence sequence(0.05, 500);
    const auto values = sample(500, 5);
    for (const double x : values) sequence.add(x);
    EXPECT_LT(sequence.lower(), t_lower_bound(moments(values), 0.05));
}

TEST(AsymptoticSequence, WhatCannotBeComputedSaysNothing) {
    for (const auto& [delta, tuned] : {std::pair{0.0, 9}, {0.5, 9}, {std::nan(""), 9}, {0.1, 0}}) {
        AsymptoticSequence sequence(delta, static_cast<size_t>(tuned));
        for (const double x : sample(50, 6)) sequence.add(x);
        EXPECT_EQ(sequence.lower(), -kInfinity);
        EXPECT_EQ(sequence.upper(), kInfinity);
    }
    AsymptoticSequence broken(0.1, 9), constant(0.1, 9), young(0.1, 9);
    for (const double x : {1.0, std::nan(""), 2.0}) broken.add(x);
    for (int i = 0; i < 9; ++i) constant.add(1);
    young.add(1);
    for (const auto* s : {&broken, &constant, &young}) EXPECT_EQ(s->lower(), -kInfinity);
}

}  // namespace
}  // namespace rampart::stats
