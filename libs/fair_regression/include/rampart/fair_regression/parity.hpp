#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "rampart/fair_regression/levels.hpp"
#include "rampart/fair_regression/oracles.hpp"
#include "rampart/fair_regression/params.hpp"

/// Fair regression under statistical parity (Agarwal et al. 2019, Algorithm 1): the mixture Q of
/// predictors with the least discretised loss under
///   |P(u >= z | group a) - P(u >= z)| <= epsilon_a   for all z in (0, 1] and groups a.
/// Predictions are discretised (levels.hpp): a member's u becomes middle_of its level, so that the
/// grid's N constraints a group are all that there are, and by Theorem 1 the loss is at most L/N
/// above that of any mixture as fair.
///
/// The best response to multipliers is what a learner has to find; one of three questions stands in
/// (section 4.4). With U_i the level's middle of least cost g_lambda(y_i, a_i, ·):
///   kLoss           appendix F.3: risk minimisation under the loss itself with labels whose best
///                   prediction is U_i. For the logistic loss that is sigmoid(C(2U - 1)), where the
///                   paper has U; a user's loss is asked as least squares
///   kLeastSquares   appendix F.2: least squares on U_i
///   kCostSensitive  appendix G: the sum over z of |c_lambda| · hinge around z, convex in u,
///                   which is one function for each cell (label, group), not N rows for each row
/// Without multipliers all three ask for the plain problem. None of them is g_lambda: U_i stays
/// where it is until a multiplier is large enough, and then jumps. So `refine` trees of boosting,
/// or steps of BFGS for linear models, on g_lambda itself, slopes smoothed over a cell, follow;
/// they are kept where the Lagrangian got less.
/// Constant predictors are known from the start, so parity is always feasible.
///
/// Before the game, where the plain predictor breaks a constraint, up to `warm_start_steps`
/// questions follow a path from it to independence: the answer so far is made independent of the
/// group by moving each group's quantiles to their mean over the groups (the Wasserstein
/// barycentre), the learner is asked for that, and so on until an answer keeps the constraints by
/// itself: alternating projections onto what is independent and what can be learnt. All answers
/// take part in the mixture. Multipliers alone, with an oracle that is no exact minimiser, miss
/// predictors as fair and as simple as these.
namespace rampart::fair_regression {

enum class RegressionReduction { kLoss, kLeastSquares, kCostSensitive };
/// Returns "loss", "least_squares" or "cost_sensitive".
std::string_view to_string(RegressionReduction reduction);
base::Result<RegressionReduction> parse_regression_reduction(std::string_view text);

struct ParityRegressionParams {
    int levels = 40;                      // N, 1 … kMaxLevels
    std::vector<double> epsilon = {0.1};  // one for all groups, or [groups]; [0, 1]
    RegressionReduction reduction = RegressionReduction::kLoss;
    int refine = 30;            // 0 … 1000 trees more, or steps of a linear model
    int warm_start_steps = 10;  // 0 … 100, of game.max_oracle_calls
    GameParams game = {};
};

struct RegressionMember {
    reductions::OracleModel model = {};
    double weight = 1;  // that it predicts, > 0
    LevelSummary train = {};
    std::optional<LevelSummary> validation = {};
};

/// The mixture on some rows, exactly.
struct ParityJudged {
    double loss = 0;                  // discretised
    std::vector<double> tails;        // [groups x N]: P(u >= j/N | group), its distribution
    std::vector<double> disparities;  // [groups x N]
    double disparity = 0;             // largest |…| of them
    double violation = 0;             // largest |…| - epsilon_a, <= 0 when all hold
};

struct ParityRegressionResult {
    std::vector<RegressionMember> members;  // heaviest first, of sum 1: a vertex
    ParityJudged train;
    std::optional<ParityJudged> validation;
    /// Bounds of the loss on the training rows: no mixture of what the oracle can find does better
    /// than `lower`, as far as it finds minima; gap = train.loss - lower.
    double lower = 0, gap = 0;
    double tolerance = 0;             // the gap that was asked for
    bool converged = false;           // the gap is as small
    double discretisation = 0;        // L/N of Theorem 1
    std::vector<double> multipliers;  // [groups x N] that prove `lower`
    double average_loss = 0,
           average_violation = 0;  // figures of the plain average: exponentiated gradient
    std::vector<RegressionRound> rounds;
    int calls = 0;
};

/// Trains under statistical parity. The oracle has to know the same rows, and the validation rows
/// if there are any. Deterministic.
/// Errors: validate(rows) of both, the groups of both; parameters ("bad_parity_parameter",
/// "bad_game_parameter", "bad_levels"); the oracle's, "bad_answer" for scores that are not finite.
base::Result<ParityRegressionResult> fit_parity(const RegressionRows& rows,
                                                const RegressionLoss& loss,
                                                const ParityRegressionParams& params,
                                                reductions::Oracle& oracle,
                                                const RegressionRows* validation = nullptr);

}  // namespace rampart::fair_regression
