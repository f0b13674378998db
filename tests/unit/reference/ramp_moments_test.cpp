#include "reference/ramp_moments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rampart/base/limits.hpp"
#include "rampart/base/random.hpp"

namespace rampart::reference {
namespace {

struct Rows {
    std::vector<double> score;
    std::vector<float> weight;
    std::vector<int32_t> block;
    size_t blocks = 1;
    std::vector<double> features;
    size_t d = 1;
    MomentProblem view() const { return {score, weight, block, blocks, features, d}; }
};

/// Two features, the first of which goes with the score.
Rows two_features(size_t n, uint64_t seed) {
    base::Random random(seed);
    Rows rows;
    rows.d = 2;
    for (size_t i = 0; i < n; ++i) {
        rows.score.push_back(random.uniform(-1, 1));
        rows.features.push_back(1 + 0.9 * rows.score.back());
        rows.features.push_back(random.uniform(0, 2));
    }
    return rows;
}

TEST(RampMoments, WithoutAnythingToKeepTheRampIsThatOfTheScore) {
    const Rows rows = two_features(50, 1);
    const auto solution =
        solve_moments(rows.view(), {.gamma = 0.5, .windows = {{-9, 9, -1}, {-9, 9, -1}}});
    ASSERT_TRUE(solution);
    EXPECT_EQ(solution->multipliers, (std::vector<double>{0, 0}));
    EXPECT_EQ(solution->shift, 0);
    double rate = 0;
    for (double f : rows.score) rate += std::clamp(f / 0.5 + 0.5, 0.0, 1.0) / 50;
    EXPECT_NEAR(solution->overall_rate, rate, 1e-14);
}

TEST(RampMoments, AHandWorkedCase) {
    // two rows, f = ±0.5, z = 1, gamma 1, centred: unconstrained q = 1, 0; mean at most 0.25: t
    // with clip(1 - t) + clip(-t) = 0.5 is 0.5
    const Rows rows{{0.5, -0.5}, {}, {}, 1, {1, 1}, 1};
    const auto solution = solve_moments(rows.view(), {.gamma = 1, .windows = {{0, 0.25, -1}}});
    ASSERT_TRUE(solution);
    EXPECT_NEAR(solution->multipliers[0], 0.5, 1e-14);
    EXPECT_NEAR(solution->moments[0], 0.25, 1e-14);
    // q = 0.5, 0: mean of (q - 0.5)^2 / 2 - f q
    EXPECT_NEAR(solution->objective, (0 - 0.25 + 0.125 - 0) / 2, 1e-14);
    EXPECT_NEAR(solution->dual, solution->objective, 1e-14);
}

TEST(RampMoments, AFamilyHasACentreOfItsOwnAndAWindowWithoutOneHasNone) {
    const Rows rows = two_features(500, 2);
    const auto shared =
        solve_moments(rows.view(), {.gamma = 0.1, .windows = {{0, 0, 0}, {0, 0, 0}}});
    ASSERT_TRUE(shared);
    EXPECT_NEAR(shared->moments[0], shared->moments[1], 1e-13);
    EXPECT_NEAR(shared->centres[0], shared->moments[0], 1e-13);
    EXPECT_NEAR(shared->multipliers[0] + shared->multipliers[1], 0, 1e-14);
    EXPECT_LE(std::abs(shared->gap), 1e-13);
    const auto fixed = solve_moments(
        rows.view(),
        {.gamma = 0.1, .windows = {{0.5, 0.5, -1}, {0.4, 0.6, -1}}, .overall = {0.48, 0.49}});
    ASSERT_TRUE(fixed);
    EXPECT_NEAR(fixed->moments[0], 0.5, 1e-13);
    EXPECT_GE(fixed->moments[1], 0.4 - 1e-13);
    EXPECT_LE(fixed->overall_rate, 0.49 + 1e-13);
    EXPECT_LE(std::abs(fixed->gap), 1e-13);
}

TEST(RampMoments, ManyRowsAndTheSmallestGammaAreSolvedToo) {
    // past the size at which a sample of the rows gives the beginning
    const Rows rows = two_features(100'000, 3);
    for (double gamma : {1e-6, 1e-3, 0.1, 100.0}) {
        const auto solution = solve_moments(
            rows.view(),
            {.gamma = gamma, .windows = {{-.01, .01, 0}, {-.01, .01, 0}}, .overall = {0, 0.4}});
        ASSERT_TRUE(solution) << gamma;
        EXPECT_LE(std::abs(solution->gap), 1e-12) << gamma;
        EXPECT_LE(solution->violation, 1e-12) << gamma;
        EXPECT_LE(solution->moments[0] - solution->moments[1], 0.02 + 1e-12) << gamma;
        EXPECT_LE(solution->overall_rate, 0.4 + 1e-12) << gamma;
    }
}

double relaxation(const base::Error& error) {
    const std::string_view before = "wider by ";
    const size_t at = error.message.find(before);
    return at == std::string::npos ? -1 : std::stod(error.message.substr(at + before.size()));
}

TEST(RampMoments, WindowsThatNoRuleKeepsAreRefusedWithTheLeastThatWouldHelp) {
    // one feature that is 1 for all rows: the mean of q cannot be 1.25, nor 0.2 and 0.3
    const Rows rows{{0.5, -0.5, 0.1}, {}, {}, 1, {1, 1, 1}, 1};
    const auto far = solve_moments(rows.view(), {.gamma = 0.1, .windows = {{1.25, 2, -1}}});
    ASSERT_FALSE(far);
    EXPECT_EQ(far.error().reason, "infeasible");
    EXPECT_NEAR(relaxation(far.error()), 0.25, 0.001);
    const auto both = solve_moments(
        rows.view(), {.gamma = 0.1, .windows = {{0.2, 0.2, -1}}, .overall = {0.3, 1}});
    ASSERT_FALSE(both);
    EXPECT_NEAR(relaxation(both.error()), 0.05, 0.005);  // half of what lies between, each
    EXPECT_LE(relaxation(both.error()), 0.05);
}

TEST(RampMoments, FlatPiecesAreNoObstacle) {
    // gamma small and few scores: between them the dual is flat or linear
    const Rows rows{{-1, -1, 0, 0, 1, 1}, {}, {}, 1, {2, 0, 2, 0, 2, 0}, 1};
    for (double rate : {0.0, 0.25, 1.0 / 3, 0.5, 2.0 / 3, 1.0}) {
        const auto solution =
            solve_moments(rows.view(), {.gamma = 1e-3, .windows = {{rate, rate, -1}}});
        ASSERT_TRUE(solution) << rate;
        EXPECT_NEAR(solution->moments[0], rate, 1e-12);
        EXPECT_LE(std::abs(solution->gap), 1e-12) << rate;
    }
}

TEST(RampMoments, BadInputIsNamed) {
    const MomentParams good{.windows = {{0, 1, -1}}};
    const auto reason = [](const Rows& rows, const MomentParams& params) {
        const auto solution = solve_moments(rows.view(), params);
        return solution ? std::string("none") : solution.error().reason;
    };
    const Rows rows{{0.5, -0.5}, {}, {}, 1, {1, 1}, 1};
    EXPECT_EQ(reason(rows, good), "none");
    EXPECT_EQ(reason({{}, {}, {}, 1, {}, 1}, good), "size_mismatch");
    EXPECT_EQ(reason({{0.5}, {}, {}, 1, {1, 1}, 1}, good), "size_mismatch");
    EXPECT_EQ(reason({{0.5}, {1, 1}, {}, 1, {1}, 1}, good), "size_mismatch");
    EXPECT_EQ(reason({{std::nan("")}, {}, {}, 1, {1}, 1}, good), "bad_score");
    EXPECT_EQ(reason({{0.5}, {0}, {}, 1, {1}, 1}, good), "bad_weight");
    EXPECT_EQ(reason({{0.5}, {}, {1}, 1, {1}, 1}, good), "bad_block");
    EXPECT_EQ(reason({{0.5}, {}, {}, 1, {INFINITY}, 1}, good), "bad_feature");
    EXPECT_EQ(reason({{0.5}, {}, {}, 2 * base::limits::kMaxGroups + 1, {1}, 1}, good),
              "bad_moments");
    EXPECT_EQ(reason(rows, {.gamma = 0, .windows = {{0, 1, -1}}}), "bad_gamma");
    EXPECT_EQ(reason(rows, {.gamma = 101, .windows = {{0, 1, -1}}}), "bad_gamma");
    EXPECT_EQ(reason(rows, {}), "size_mismatch");
    EXPECT_EQ(reason(rows, {.windows = {{1, 0, -1}}}), "bad_window");
    EXPECT_EQ(reason(rows, {.windows = {{0, 1, 1}}}), "bad_window");
    EXPECT_EQ(reason(rows, {.windows = {{0, 1, -1}}, .overall = {-1, 1}}), "bad_overall");
}

TEST(RampMoments, AsManyMomentsAsTheLimitAllowsAreSolved) {
    base::Random random(4);
    Rows rows;
    rows.d = 2 * base::limits::kMaxGroups;
    MomentParams params{.gamma = 0.2};
    for (size_t i = 0; i < 1000; ++i) {
        rows.score.push_back(random.uniform(-1, 1));
        for (size_t j = 0; j < rows.d; ++j)
            rows.features.push_back(random.uniform(0, 2) *
                                    (1 + (j % 2 == 0 ? 0.3 : 0) * rows.score.back()));
    }
    for (size_t j = 0; j < rows.d; ++j)
        params.windows.push_back({-0.02, 0.02, static_cast<int32_t>(j % 2)});
    const auto solution = solve_moments(rows.view(), params);
    ASSERT_TRUE(solution) << solution.error().message;
    EXPECT_LE(std::abs(solution->gap), 1e-12);
    EXPECT_LE(solution->violation, 1e-12);
}

}  // namespace
}  // namespace rampart::reference
