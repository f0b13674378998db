#pragma once

#include <cstddef>
#include <vector>

#include "rampart/base/result.hpp"

/// How the games of fair regression are played (Agarwal et al. 2019, Algorithms 1 and 2).
///
/// Column generation, the default. The best mixture of the predictors known is a linear program;
/// its dual solution are the multipliers to ask about next.
///  1. Solve it: value, weights, multipliers lambda.
///  2. Ask for the best response at a mean of lambda and of the multipliers that have given the
///     best lower bound so far (smoothed duals jump about less); where the answer does not pay at
///     lambda, ask at lambda itself.
///  3. A lower bound of the game's value is the least Lagrangian of all known predictors, at the
///     best multipliers asked about. Within `optimality_gap` of the value: an exact learner could
///     not do better.
///  4. Ours is none where the question only stands in for the game's (parity), so up to `probes`
///     questions at 2, 0.5, 5 and 0.8 times lambda follow; an answer that pays leads back to 1.
///
/// Exponentiated gradient. lambda = multiplier_bound · exp(theta) / (1 + sum exp theta), theta
/// moved by step · violation; it ends when the plain average of the answers is within
/// `optimality_gap` of the lower bound. Step: practical, 2 / bound, times 0.8 where the gap has
/// come less than a fifth nearer while the rounds grew by 1.6; or the paper's, gap / (8 bound)
/// (Algorithm 1), gap / (2 bound) (Algorithm 2), which is safe and slow, and its check, a second
/// question a round at the mean multipliers.
///
/// Both end with the best mixture of all answers, a vertex of the linear program.
namespace rampart::fair_regression {

enum class GameMethod { kColumnGeneration, kExponentiatedGradient };

struct GameParams {
    GameMethod method = GameMethod::kColumnGeneration;
    bool paper_steps = false;
    int max_oracle_calls = 60;  // most questions to the oracle: 1 … 100,000
    double multiplier_bound =
        10;  // exponentiated gradient: bound of the sum of multipliers; (0, 1e6]
    double optimality_gap =
        0;  // in loss, [0, 1]; 0: half the standard error of the plain predictor's loss
    double smoothing = 0.5;  // weight of the best multipliers so far in step 2; [0, 1)
    int probes = 4;          // 0 … 4
};
/// Fails with out_of_range "bad_game_parameter".
base::Status validate(const GameParams& params);

struct RegressionRound {
    double lower = 0;          // bound of the best mixture's loss, as far as is known
    double upper = 0;          // loss of the best mixture known (and price of violations, if any)
    double average_upper = 0;  // upper bound of the plain average: exponentiated gradient
    double step = 0;
    int calls = 0;  // so far
};

}  // namespace rampart::fair_regression
