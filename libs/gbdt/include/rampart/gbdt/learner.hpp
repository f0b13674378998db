#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/gbdt/bins.hpp"
#include "rampart/gbdt/objective.hpp"
#include "rampart/model/ensemble.hpp"
#include "rampart/model/instruction_set.hpp"

namespace rampart::gbdt {

struct LearnerParams {
    int trees = 200;              // 1 … limits::kMaxTrees
    double learning_rate = 0.05;  // (0, 1]
    int leaves = 31;              // 2 … limits::kMaxLeaves
    int max_depth = 0;            // 0: no limit
    int min_rows_in_leaf = 20;
    double min_hessian_in_leaf = 1e-3;
    double l1 = 0, l2 = 0;
    double min_gain = 0;
    int max_bins = 255;           // 2 … 255, missing apart
    double feature_fraction = 1;  // (0, 1], by tree
    double row_fraction = 1;      // (0, 1], by tree, without replacement
    // Where a feature has more than four categories, many are split off against many:
    double category_smooth = 10;        // sorted by g / (h + smooth)
    double category_l2 = 10;            // on top of l2: sorting by the target fits its noise
    int max_category_threshold = 32;    // at most so many on one side
    int min_category_rows = 10;         // rarer ones in a leaf stay with the rest
    int min_category_group_rows = 100;  // so many more rows from one candidate to the next
    int early_stopping_rounds = 0;      // 0: off; else on the validation set's loss
    uint64_t seed = 0;
    /// By feature: 1 the score may only rise with it, -1 only fall, 0 free. [d], or empty for all
    /// free. Numeric features only; says nothing of missing values.
    std::vector<int> monotone;
    /// Sets of features that may meet on the way from root to leaf; a feature in no set meets no
    /// other. Empty: all may.
    std::vector<std::vector<uint32_t>> interactions;
    /// How to compute, not what: all give the same model.
    model::InstructionSet instructions = model::fastest_supported();
};

/// Checks every field against its range; the error names field, value and range.
base::Status validate(const LearnerParams& params);

struct Progress {
    int iteration;                              // trees grown so far, those of `start` among them
    int trees;                                  // asked for
    std::span<const double> scores;             // of the training rows
    std::span<const double> validation_scores;  // empty without a validation set
};
/// Returns false to stop early (the ensemble so far is kept).
using ProgressCallback = std::function<bool(const Progress&)>;

/// What a run may be given beside data, objective and parameters.
struct TrainingOptions {
    const dataset::Dataset* validation = nullptr;  // early stopping needs it
    /// Loss of scores of the validation rows, smaller is better; default: mean log loss on labels.
    std::function<double(std::span<const double>)> validation_loss = {};
    ProgressCallback progress = {};
    /// Goes on from these trees, on the same features: `trees` counts them too, so that a run cut
    /// in two gives the same ensemble as one in a piece (with an objective without state, and
    /// without early stopping).
    const model::Ensemble* start = nullptr;
    /// The training set in bins, where many fits share them (made with params.max_bins); the same
    /// ensemble as without. The fits' labels and weights may differ: they are the objective's. Only
    /// `cover` is of the data set's weights.
    const Bins* bins = nullptr;
};

/// Histogram GBDT, leaf-wise. Deterministic: the same data, parameters and seed give the same
/// ensemble whatever the number of threads and the instruction set. Splits are chosen by sums of
/// gradients of 14 bits, rounded at random so that they are right on average; leaf values come from
/// the gradients themselves. `pool` may be nullptr.
base::Result<model::Ensemble> train(const dataset::Dataset& data, Objective& objective,
                                    const LearnerParams& params, base::ThreadPool* pool,
                                    const TrainingOptions& options);

/// The same with a validation set and progress alone; early stopping by log loss, the best iterate
/// restored.
base::Result<model::Ensemble> train(const dataset::Dataset& data, Objective& objective,
                                    const LearnerParams& params, base::ThreadPool* pool,
                                    const dataset::Dataset* validation = nullptr,
                                    const ProgressCallback& progress = {});

}  // namespace rampart::gbdt
