#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/base/thread_pool.hpp"
#include "rampart/fairgbm/objective.hpp"
#include "rampart/gbdt/learner.hpp"

namespace rampart::fairgbm {

/// What is returned of the iterates (the models after 1, 2, … trees).
enum class Output {
    /// The one with the least loss among those that keep the constraints. Never one that decides
    /// nearly all alike, whose rarer decision is less than a tenth as frequent as that of another
    /// iterate which keeps the targets: its rates are equal for any groups.
    kBest,
    kLast,  // all trees
    /// Each decision by an iterate drawn anew, all of a stretch equally likely: of the longest that
    /// keeps the constraints on average (in the paper: of all iterates).
    kRandomized,
};
std::string_view to_string(Output output);  // "best", "last", "randomized"
base::Result<Output> parse_output(std::string_view text);

struct FairGbmParams {
    /// early_stopping_rounds: where validation rows judge, ends after so many trees without a
    /// better iterate, by the order that chooses among them (keeps the constraints, then loss; else
    /// violation); 0: never.
    gbdt::LearnerParams learner;
    fairness::RateConstraints constraints{{fairness::ParityConstraint{}}, {}};
    LagrangianParams lagrangian;
    Output output = Output::kBest;
    /// An iterate is considered only when it earns at least this share of the best iterate's
    /// gain in loss over the constant model: without it, a first tree that still declines all rows
    /// is "fair".
    double min_gain_share = 0.9;  // [0, 1]
};

enum class Feasibility {
    kFeasible,    // what was kept holds the constraints on the rows that judged, and in training
    kInfeasible,  // nothing that came into question does; the smallest violation was kept
};

/// Which rows chose among the iterates: their loss counts, and constraints have to hold on them as
/// well as on the training rows (few validation rows are fair by luck).
enum class JudgedOn { kTrain, kValidation };

/// A classifier on some rows.
struct Judged {
    fairness::RateValues values;
    double loss = 0;       // weighted mean of (p - y)^2; of a randomized one the mean over iterates
    double threshold = 0;  // raw score that decides: the operating point of the rows that judge
};

struct FairGbmVerdict {
    Feasibility feasibility = Feasibility::kInfeasible;
    JudgedOn judged_on = JudgedOn::kTrain;
    size_t first = 0, trees = 0;  // kept: iterates first … trees (the same but for randomized)
    size_t trees_grown = 0;
    Judged train;
    std::optional<Judged> validation;
    double multiplier_step = 0;  // with which the trees were grown; 0: without constraints
    /// Nothing kept the constraints (or what did decided nearly all alike), and trees that were
    /// grown without them came at least as near (or decide).
    bool plain = false;
    /// The smallest violation among the iterates that came into question, where judged: what can be
    /// reached. Its violation counts the training rows as well.
    fairness::RateValues tightest;
    double rarer = 0;       // share of the people, where judged, who get the rarer decision
    double most_rarer = 0;  // the largest of an iterate worth having that keeps the targets
};

/// Returns the missed constraints in words: "fnr differs by 0.1803 between groups, 0.05 is
/// allowed; fpr is 0.0712, 0.05 is allowed"; empty if all are.
std::string missed_text(const fairness::RateConstraints& constraints,
                        const fairness::RateValues& values);
/// Returns the same text for the chosen model, with the rows on which it misses them.
std::string missed_constraints(const FairGbmVerdict& verdict,
                               const fairness::RateConstraints& constraints);

/// What it takes to go on: the multipliers that belong to the trees.
struct FairGbmState {
    std::vector<double> multipliers;
};

struct FairGbmResult {
    model::Ensemble ensemble;  // trees of the last iterate that was chosen
    double threshold = 0;      // approve from this raw score on; judged on
    /// Thresholds of iterates first … trees of the verdict, each its own: operating points move.
    std::vector<double> thresholds;
    FairGbmState state;                    // after its trees
    std::vector<FairGbmIteration> trace;   // one entry a tree grown
    std::vector<Judged> validation_trace;  // the same on validation rows; empty without
    FairGbmVerdict verdict;
};

struct FairGbmOptions {
    const dataset::Dataset* validation = nullptr;  // its groups must be the training set's
    gbdt::ProgressCallback progress = {};
    const model::Ensemble* start = nullptr;  // goes on from these trees …
    const FairGbmState* state = nullptr;     // … and these multipliers; both or none
};

/// Trains, then keeps what `output` asks for; judged on `validation` when given, else on the
/// training rows. Where no iterate keeps the constraints (kBest), the trees are grown anew without
/// constraints, and before that, at an operating point that moves, with 4, 16 and 64 times the
/// step of the multipliers, until one is kept that does; else the nearest is kept. A step that
/// suits a threshold in the middle of the scores is too short for one where few rows lie: their
/// rates hardly move. So it is where an iterate decides nearly all alike, too. Deterministic like
/// gbdt::train. `pool` may be nullptr. Errors: parameters, groups without the labels needed, other
/// groups in validation.
base::Result<FairGbmResult> train_fairgbm(const dataset::Dataset& data, const FairGbmParams& params,
                                          base::ThreadPool* pool,
                                          const FairGbmOptions& options = {});

}  // namespace rampart::fairgbm
