#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "rampart/base/thread_pool.hpp"
#include "rampart/budro/outcome_loss.hpp"
#include "rampart/budro/points.hpp"
#include "rampart/budro/transport.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/fairgbm/objective.hpp"
#include "rampart/gbdt/learner.hpp"

/// BuDRO: boosting against the adversary of transport.hpp (Vargo et al. 2021, Algorithms 1 and 3).
/// In each round the adversary sees the scores so far and sends people where the model is worst;
/// the next tree is grown for the people where they were sent. With m[c][i] the mass that came to
/// person i with label c (sum 1), k_c the weight of class c and W the sum of the people's weights,
///   g_i = W · sum over c of m[c][i] · k_c · dloss_c(f_i)/df,  h_i likewise:
/// the 2n rows of the paper are never made, and trees come out the same.
///
/// Scales: gradients add up as they do in plain boosting of the same people, so that l1, l2,
/// min_hessian_in_leaf and min_gain mean what they mean there. The paper's are for weights of sum 1
/// instead (its lambda 1e-4 is an l2 of 1e-4·W here): see paper_scale. A row to which no mass is
/// sent weighs nothing in a split or a leaf, but counts for min_rows_in_leaf.
namespace rampart::budro {

/// The tree before the first round, without which all losses of a label are equal and no mass
/// moves.
enum class FirstTree {
    kData,        // a tree of plain boosting on the rows as they are (the paper's program)
    kBothLabels,  // a tree of plain boosting on all rows with both labels (the paper's text)
    kNone,
};

/// Which of the models after 1, 2, … trees is handed over.
enum class ModelSelection {
    kLast,
    kLeastRobustLoss,       // on the validation people, else on the training people
    kMostBalancedAccuracy,  // on the validation people
};
std::string_view to_string(FirstTree first);  // "data", "both-labels", "none"
base::Result<FirstTree> parse_first_tree(std::string_view text);
std::string_view to_string(ModelSelection selection);  // "last", "robust-loss", "balanced-accuracy"
base::Result<ModelSelection> parse_model_selection(std::string_view text);

struct BudroParams {
    /// trees: rounds, the first tree apart. early_stopping_rounds: ends after so many rounds
    /// without a better model by `selection`; 0: never.
    gbdt::LearnerParams learner;
    TransportParams transport;
    FirstTree first_tree = FirstTree::kData;
    /// Weight of class 1 relative to class 0 where trees are grown: > 0, at most 1e6 …
    double positive_class_weight = 1;
    /// … and in the losses that the adversary sees (the paper's program: no).
    bool weighted_attack = false;
    /// The learner's l1, l2, min_hessian_in_leaf and min_gain are for weights of sum 1: from the
    /// second tree on they are multiplied by the sum of the weights (the paper's program; its first
    /// tree takes them as they are).
    bool paper_scale = false;
    std::optional<double> initial_score = {};  // empty: the loss' own
    /// nullptr: log loss.
    std::shared_ptr<const OutcomeLoss> loss = {};
    ModelSelection selection = ModelSelection::kLast;
    /// Group constraints kept in the same training by FairGBM (log loss only). A model
    /// that keeps them is then handed over before one that does not.
    std::optional<fairness::RateConstraints> constraints = {};
    fairgbm::LagrangianParams lagrangian = {};
};
base::Status validate(const BudroParams& params);

/// The model after `trees` trees.
struct BudroRound {
    size_t trees = 0;
    double robust_loss = 0, dual = 0, gap = 0;  // figures of the attack on it, see Transport
    double loss = 0;                            // without an attack
    double eta = 0, cost = 0;
    SearchCounts counts = {};
    std::optional<double> validation_robust_loss = {};
    std::optional<double> validation_balanced_accuracy = {};  // at the loss' threshold
    std::optional<double> violation =
        {};  // violation of the group constraints on the training rows
    std::optional<double> threshold = {};  // decision threshold of that
};

struct BudroOptions {
    /// Other people, for `keep` and the trace; with their points on the training people's scale for
    /// their robust loss. Either may be there without the other but points need the people.
    const dataset::Dataset* validation = nullptr;
    const Points* validation_points = nullptr;
    /// Called with each model; false ends the training.
    std::function<bool(const BudroRound&)> progress = {};
    const gbdt::Bins* bins = nullptr;  // bins of the data, where they have been made
};

struct BudroResult {
    model::Ensemble ensemble;        // the selected model
    size_t selected_round = 0;       // index of its round in `rounds`
    std::vector<BudroRound> rounds;  // every model grown, by trees (with kNone from 0 trees on)
    double threshold = 0;            // the score from which on its decisions are 1
};

/// Trains. points: [n] positions of the rows of `data` in the fair metric. Labels may be all alike.
/// Deterministic like gbdt::train and TransportSolver. `pool` may be nullptr. Errors: those of
/// gbdt::train, TransportSolver::create and, with constraints, of FairGbmObjective::create;
/// bad_budro_parameter, bad_size, no_validation_set.
base::Result<BudroResult> train_budro(const dataset::Dataset& data, const Points& points,
                                      const BudroParams& params, base::ThreadPool* pool,
                                      const BudroOptions& options = {});

}  // namespace rampart::budro
