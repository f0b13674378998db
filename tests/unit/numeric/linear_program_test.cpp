#include "rampart/numeric/linear_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace rampart::numeric {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

/// maximise 3x + 2y subject to x + y <= 4, x + 3y <= 9, 0 <= x <= 3.
LinearProgram corner() {
    LinearProgram program;
    const auto x = program.add({.lower = 0, .upper = 3, .cost = -3});
    const auto y = program.add({.cost = -2});
    program.rows = {{.upper = 4, .terms = {{x, 1}, {y, 1}}},
                    {.upper = 9, .terms = {{x, 1}, {y, 3}}}};
    return program;
}

TEST(LinearProgram, FindsTheVertexOfAProblemSolvedByHand) {
    const auto found = solve(corner());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->status, LinearStatus::kOptimal);
    EXPECT_NEAR(found->objective, -11, 1e-9);
    EXPECT_THAT(found->primal, ElementsAre(DoubleNear(3, 1e-9), DoubleNear(1, 1e-9)));
}

TEST(LinearProgram, DualsAreTheChangeOfTheObjectiveWithARowsBound) {
    auto program = corner();
    const auto before = solve(program);
    program.rows[0].upper += 0.25;
    const auto after = solve(program);
    ASSERT_TRUE(before && after);
    EXPECT_NEAR(before->dual[0] * 0.25, after->objective - before->objective, 1e-9);
    EXPECT_NEAR(before->dual[1], 0, 1e-9) << "the second row has slack";
}

TEST(LinearProgram, SaysThatNothingKeepsTheRowsOrThatNothingBoundsTheCost) {
    auto program = corner();
    program.rows.push_back({.lower = 5, .terms = {{0, 1}}});
    const auto infeasible = solve(program);
    ASSERT_TRUE(infeasible);
    EXPECT_EQ(infeasible->status, LinearStatus::kInfeasible);
    EXPECT_TRUE(infeasible->primal.empty());

    LinearProgram free;
    free.add({.cost = -1});
    free.rows.push_back({.lower = 0, .terms = {{0, 1}}});
    const auto unbounded = solve(free);
    ASSERT_TRUE(unbounded);
    EXPECT_EQ(unbounded->status, LinearStatus::kUnbounded);
}

TEST(LinearProgram, RefusesNumbersThatAreNoProgram) {
    const auto reason = [](const LinearProgram& program) {
        const auto answer = solve(program);
        return answer ? "" : answer.error().reason;
    };
    auto crossed = corner();
    crossed.columns[0].lower = 4;
    EXPECT_EQ(reason(crossed), "bad_linear_program");
    auto nowhere = corner();
    nowhere.rows[0].terms[0].column = 2;
    EXPECT_EQ(reason(nowhere), "bad_linear_program");
    auto no_number = corner();
    no_number.rows[0].terms[0].value = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(reason(no_number), "bad_linear_program");
}

}  // namespace
}  // namespace rampart::numeric
