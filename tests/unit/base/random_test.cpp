#include "rampart/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace rampart::base {
namespace {

TEST(Random, TheSameSeedGivesTheSameNumbers) {
    Random a(7), b(7), c(8);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
    EXPECT_NE(a.next(), c.next());
}

TEST(Random, MixesAsPublished) {
    // SplitMix64 with seed 1234567, first output (Vigna's reference sequence)
    EXPECT_EQ(mix64(1234567), 6457827717110365317ULL);
}

TEST(Random, UniformHasTheMomentsOfAUniform) {
    Random random(1);
    double sum = 0, squares = 0;
    constexpr int kDraws = 200'000;
    for (int i = 0; i < kDraws; ++i) {
        const double u = random.uniform();
        ASSERT_GE(u, 0);
        ASSERT_LT(u, 1);
        sum += u;
        squares += u * u;
    }
    EXPECT_NEAR(sum / kDraws, 0.5, 4 * 0.2887 / std::sqrt(kDraws));
    EXPECT_NEAR(squares / kDraws, 1.0 / 3, 0.005);
}

TEST(Random, NormalHasMeanZeroAndVarianceOne) {
    Random random(2);
    double sum = 0, squares = 0;
    constexpr int kDraws = 200'000;
    for (int i = 0; i < kDraws; ++i) {
        const double z = random.normal();
        sum += z;
        squares += z * z;
    }
    EXPECT_NEAR(sum / kDraws, 0, 4 / std::sqrt(kDraws));
    EXPECT_NEAR(squares / kDraws, 1, 0.02);
}

TEST(Random, BelowIsEvenOverItsRange) {
    Random random(3);
    std::array<int, 7> counts{};
    for (int i = 0; i < 70'000; ++i) ++counts[random.below(7)];
    for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
}

TEST(Random, ShuffleIsAPermutationAndMoves) {
    std::vector<int> values(100);
    std::iota(values.begin(), values.end(), 0);
    auto shuffled = values;
    Random(4).shuffle(std::span(shuffled));
    EXPECT_NE(shuffled, values);
    std::sort(shuffled.begin(), shuffled.end());
    EXPECT_EQ(shuffled, values);
}

TEST(Random, AForkDoesNotDependOnHowFarItsParentGot) {
    Random a(5), b(5);
    a.next();
    EXPECT_EQ(a.fork(1).next(), b.fork(1).next());
    EXPECT_NE(b.fork(1).next(), b.fork(2).next());
}

}  // namespace
}  // namespace rampart::base
