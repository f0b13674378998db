#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "rampart/fair_regression/levels.hpp"
#include "rampart/fair_regression/oracles.hpp"
#include "rampart/fair_regression/params.hpp"

/// Fair regression with bounded group loss (Agarwal et al. 2019, section 5 and Algorithm 2): the
/// mixture of predictors with the least mean loss under
///   mean loss in group a <= zeta_a   for all groups a,
/// undiscretised. The best response to multipliers lambda >= 0 is one fit under the loss itself,
/// rows weighted by 1 + lambda_a / p_a.
///
/// It may be that no mixture does. With lambda >= 0 of sum 1, every mixture Q has some group with
///   loss_a(Q) - zeta_a >= sum of lambda_a (loss_a(Q) - zeta_a) >= least of that over predictors,
/// so multipliers whose least is above 0 prove it. They are found by the same column generation,
/// with the largest violation in the place of the loss; where it stays above 0 the answer is
/// "infeasible" (the paper's null) and the proof. The least is over what the oracle finds: with an
/// exact learner (least squares over a linear class) it is a proof outright, else one about that
/// learner.
namespace rampart::fair_regression {

enum class BoundedLossOutcome {
    kFeasible,
    kInfeasible,  // proven
    kUndecided,   // neither was found within the calls
};
std::string_view to_string(BoundedLossOutcome outcome);

struct BoundedLossParams {
    std::vector<double> zeta;  // one for all groups, or [groups]; finite, >= 0
    GameParams game = {};
};

struct InfeasibilityProof {
    std::vector<double> multipliers;  // [groups] >= 0, of sum 1
    double margin = 0;                // least sum of lambda_a (loss_a - zeta_a) found: > 0
};

struct BoundedLossJudged {
    double loss = 0;
    std::vector<double> group_losses;
    double violation = 0;  // largest group_losses - zeta; <= 0 when all hold
};

struct BoundedLossMember {
    reductions::OracleModel model = {};
    double weight = 1;
    BoundedLossJudged train = {};
    std::optional<BoundedLossJudged> validation = {};
};

/// For convex losses: sum of weight · model, one deterministic predictor. By Jensen's inequality it
/// is no worse than the mixture in any group, but for what keeping predictions within [0, 1]
/// changes.
struct AveragedPredictor {
    reductions::OracleModel model = {};
    BoundedLossJudged train = {};
    std::optional<BoundedLossJudged> validation = {};
    bool no_worse = false;  // on the training rows, loss and every group's: checked
};

struct BoundedLossResult {
    BoundedLossOutcome outcome = BoundedLossOutcome::kUndecided;
    std::vector<BoundedLossMember> members;  // when feasible, heaviest first, of sum 1
    BoundedLossJudged train;
    std::optional<BoundedLossJudged> validation;
    std::optional<AveragedPredictor> averaged;
    std::optional<InfeasibilityProof> proof;
    double least_violation = 0;  // least violation of any mixture found; <= 0 when feasible
    double lower = 0, gap = 0;   // as in ParityRegressionResult; of the loss, when feasible
    double tolerance = 0;
    bool converged = false;
    std::vector<double> multipliers;  // [groups] that prove `lower`
    std::vector<RegressionRound> rounds;
    int calls = 0;
};

/// Trains under bounded group loss. The oracle has to know the same rows, and the validation rows
/// if there are any. Deterministic. A user's loss is asked as least squares, and has a predictor
/// averaged where it is convex. Errors: validate(rows) of both; parameters
/// ("bad_bounded_loss_parameter", "bad_game_parameter"); the oracle's, "bad_answer".
base::Result<BoundedLossResult> fit_bounded_loss(const RegressionRows& rows,
                                                 const RegressionLoss& loss,
                                                 const BoundedLossParams& params,
                                                 reductions::Oracle& oracle,
                                                 const RegressionRows* validation = nullptr);

/// Checks from scratch whether a proof holds: the multipliers are what they have to be, and the
/// oracle, asked about them, finds no predictor with sum of lambda_a (loss_a - zeta_a) <= 0; nor
/// does the plain predictor, nor the best constant. Errors as above, and
/// failed_precondition "not_infeasible", which names what refutes it.
base::Status check_infeasible(const RegressionRows& rows, const RegressionLoss& loss,
                              const std::vector<double>& zeta, const InfeasibilityProof& proof,
                              reductions::Oracle& oracle);

/// Returns sum of weight · model as one model: ensembles put together, their numbers scaled.
/// nullopt for models that are not of one kind (ensembles without trees are of any), for none, for
/// an oracle's own, for more trees than limits::kMaxTrees.
std::optional<reductions::OracleModel> averaged(
    std::span<const reductions::OracleModel* const> models, std::span<const double> weights);

}  // namespace rampart::fair_regression
