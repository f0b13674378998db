#include "rampart/fair_regression/params.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rampart::fair_regression {
namespace {

TEST(GameParams, TheDefaultsAreGoodAndRangesAreKept) {
    EXPECT_TRUE(validate(GameParams{}));
    const auto refused = [](const auto& change) {
        GameParams params;
        change(params);
        const auto status = validate(params);
        return !status && status.error().reason == "bad_game_parameter";
    };
    EXPECT_TRUE(refused([](auto& p) { p.max_oracle_calls = 0; }));
    EXPECT_TRUE(refused([](auto& p) { p.max_oracle_calls = 100'001; }));
    EXPECT_TRUE(refused([](auto& p) { p.multiplier_bound = 0; }));
    EXPECT_TRUE(refused([](auto& p) { p.multiplier_bound = std::nan(""); }));
    EXPECT_TRUE(refused([](auto& p) { p.optimality_gap = -0.1; }));
    EXPECT_TRUE(refused([](auto& p) { p.optimality_gap = 1.1; }));
    EXPECT_TRUE(refused([](auto& p) { p.smoothing = 1; }));
    EXPECT_TRUE(refused([](auto& p) { p.probes = 5; }));
    EXPECT_FALSE(refused([](auto& p) { p.max_oracle_calls = 1; }));
}

}  // namespace
}  // namespace rampart::fair_regression
