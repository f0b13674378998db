#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rampart/base/thread_pool.hpp"
#include "rampart/fairgbm/train.hpp"
#include "rampart/fairness/operating_point.hpp"
#include "rampart/fairness/rate_system.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/reductions/cell_costs.hpp"
#include "rampart/reductions/oracle.hpp"

/// Learners that are fair by asking an ordinary one many times, with other labels and weights: what
/// FairGBM is measured against (Cruz et al. 2023, section 3).
///
///  eg  exponentiated gradient (Agarwal et al. 2018, Algorithm 1): a randomized classifier
///  gs  grid search (there, section 3.4): multipliers on a grid, the best classifier
///  rs  random search over weights of the cells (Cruz et al. 2023): the best classifier
///
/// eg. The game of L(a, μ, λ) in cell_costs.hpp: multipliers of all pairs and targets, >= 0 and at
/// most `bound` in sum, against classifiers.
///  1. λ_k = bound · exp(θ_k) / (1 + sum exp θ); θ = 0 at first. A target takes part together with
///     its mirror image (rate >= τ), and what is left of the two below 0 counts as 0: so all
///     multipliers are 0 at first, and the first fit is the unconstrained one.
///  2. The classifier that minimises L at them: one fit.
///  3. θ_k += η · violation of k by that classifier. η = (1 + number of λ) / (bound · most groups
///     compared), whatever their number a similar pace; halved where the average of all classifiers
///     so far has come less than a fifth nearer to the value of the game since the number of rounds
///     has doubled.
///  4. The best mixture of all classifiers found, by linear programming: least loss + price ·
///     largest violation. Its dual values are multipliers as well, and get a fit of their own. The
///     price starts where it outweighs a row of the rarest group and doubles up to `bound` as long
///     as violations are worth it.
///  5. The least loss + bound · violation of a mixture is an upper bound of the value of the game.
///     A lower one is the largest, over all multipliers asked about, of the least L that a
///     classifier has (as far as the oracle finds minima). When they are within `gap`, or the fits
///     are used up, it ends; else back to 1. Where other rows judge, fits that are left go to step
///     4 on those rows, as long as they make their best mixture better.
/// What is returned is the mixture with the least loss among those that keep the constraints on the
/// rows that judge; it has at most as many members as constraints that bind, and one. (The paper
/// returns the plain average of step 2's classifiers, whose loss and violation are larger.)
///
/// gs. Points of a lattice in the space of μ (sum 0 by constraint) and λ, as fine as the number of
/// fits allows, the origin among them; what is left over is drawn at random.
namespace rampart::reductions {

enum class Reduction { kExponentiatedGradient, kGridSearch, kRandomReweighing };

struct ReductionParams {
    Reduction method = Reduction::kExponentiatedGradient;
    gbdt::LearnerParams learner;  // early_stopping_rounds has to be 0
    fairness::RateConstraints constraints{{fairness::ParityConstraint{}}, {}};
    /// A threshold is a price: see cell_costs.hpp. With `meets`, gs and rs move each classifier to
    /// that point and eg is an error: its members are no scores; give it a target.
    fairness::OperatingPoint operating_point;
    /// At most so many, 1 … kMaxFits. (Questions that come up again are not asked again.)
    int fits = 30;
    static constexpr int kMaxFits = 1000;
    /// eg: of the sum of all multipliers, in units of loss by rate. (0, 1e6]
    double bound = 100;
    /// eg: ends when it knows the value of the game so well, >= 0. 0: half the standard error of
    /// the unconstrained classifier's loss, which is not known better anyway.
    double gap = 0;
    /// gs: of the multipliers that push in one direction, in sum; 1 is what outweighs a row of the
    /// rarest group's own label at threshold 1/2. (0, 1e6]
    double grid_limit = 2;
    /// rs: weights of cells are between 1/spread and spread, equally likely on a logarithmic scale.
    double spread = 4;  // [1, 1e6]
    uint64_t seed = 0;  // seed of gs and rs; the learner has its own
    /// gs and rs: a classifier comes into question only when it earns at least this share of what
    /// the best one gains in loss over deciding all rows alike, which is always fair.
    double min_gain_share = 0.5;  // [0, 1]
};
base::Status validate(const ReductionParams& params);

/// Decisions on some rows: their rates and the loss of cell_costs.hpp, at threshold 1/2 the error.
struct ReductionJudged {
    fairness::RateValues values;
    double loss = 0;
};

/// Approves from a raw score on.
struct ReductionMember {
    model::Ensemble ensemble;
    double threshold = 0;
    double weight = 1;  // that the member decides, > 0
};

/// One fit.
struct ReductionTrial {
    std::vector<double> costs;  // costs of cells, as handed to the oracle
    double threshold = 0;
    ReductionJudged train;
    std::optional<ReductionJudged> validation;
    double weight = 0;  // in what was kept
};

struct EgRound {
    std::vector<double> multipliers;  // multipliers of step 2, see cell_costs.hpp
    double step = 0;                  // η
    double lower = 0, upper = 0;      // bounds of the value of the game
    double average_upper = 0;         // upper for the plain average of step 2's classifiers
    size_t fits = 0;                  // so far
};

struct ReductionVerdict {
    fairgbm::Feasibility feasibility = fairgbm::Feasibility::kInfeasible;
    fairgbm::JudgedOn judged_on = fairgbm::JudgedOn::kTrain;
    ReductionJudged train;
    std::optional<ReductionJudged> validation;
    /// The smallest violation found, where judged: what can be reached. eg: by any mixture.
    fairness::RateValues tightest;
    double gap = 0;          // eg: between the bounds of the value of the game, at the end
    bool converged = false;  // eg: that is as small as asked for
};

struct ReductionResult {
    std::vector<ReductionMember> members;  // weights add up to 1; gs and rs: one
    std::vector<ReductionTrial> trials;    // all fits, in order
    std::vector<EgRound> rounds;           // eg
    ReductionVerdict verdict;
};

struct ReductionProgress {
    size_t fits = 0, of = 0;
    double gap = 0;  // eg: see EgRound; infinite before the first round is over
};
/// Returns false to stop: what has been found so far is kept.
using ReductionCallback = std::function<bool(const ReductionProgress&)>;

struct ReductionOptions {
    const dataset::Dataset* validation = nullptr;  // judges; its groups must be the training set's
    ReductionCallback progress = {};
    Oracle* oracle = nullptr;  // asked instead of params.learner; has to know both sets of rows
};

/// Trains. The result is judged on `validation` when given, else on the training rows; multipliers
/// are always moved by the training rows. Constraints count as kept up to kRateRounding.
/// Deterministic like gbdt::train, which it calls; `pool` may be nullptr. Errors: parameters;
/// groups without the labels needed; other groups or features in validation; the oracle's.
base::Result<ReductionResult> train_reduction(const dataset::Dataset& data,
                                              const ReductionParams& params, base::ThreadPool* pool,
                                              const ReductionOptions& options = {});

/// Mixtures come from linear programs, which are exact to about as much.
inline constexpr double kRateRounding = 1e-6;

/// Returns the members as a link of a policy, with exact propensities: for one member its ensemble
/// and a threshold, for more a mixture, the member of the greatest weight first; those whose score
/// reads a feature before those that give all rows the same. At least one member.
model::LearnedLink link_of(std::span<const ReductionMember> members);

}  // namespace rampart::reductions
