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
    int max_bins = 255;           // 2 … 255, without the bin for missing
    double feature_fraction = 1;  // (0, 1], per tree
    double row_fraction = 1;      // (0, 1], per tree, without replacement
    // With more than four categories, splits of many against many categories:
    double category_smooth = 10;        // sorted by g / (h + smooth)
    double category_l2 = 10;            // added to l2, because sorting by the target overfits
    int max_category_threshold = 32;    // largest number on one side
    int min_category_rows = 10;         // rarer ones stay together on one side
    int min_category_group_rows = 100;  // minimum rows between two candidates
    int early_stopping_rounds = 0;      // 0: off; otherwise on the validation set's loss
    uint64_t seed = 0;
    /// Per feature: 1 the score may only increase with it, -1 only decrease, 0 unconstrained. [d],
    /// or empty: all unconstrained. Numeric features only; does not constrain missing values.
    std::vector<int> monotone;
    /// Sets of features that may occur together on a path from root to leaf; a feature in no set
    /// occurs with no other. Empty: no restriction.
    std::vector<std::vector<uint32_t>> interactions;
    /// Instruction set; every choice gives the same model.
    model::InstructionSet instructions = model::fastest_supported();
};

/// Checks every field against its range; the error names field, value and range.
base::Status validate(const LearnerParams& params);

struct Progress {
    int iteration;                              // trees so far, including those of `start`
    int trees;                                  // number requested
    std::span<const double> scores;             // for the training rows
    std::span<const double> validation_scores;  // empty without a validation set
};
/// Returns false to stop early (the trees so far are kept).
using ProgressCallback = std::function<bool(const Progress&)>;

/// Optional inputs of a run besides data, objective and parameters.
struct TrainingOptions {
    const dataset::Dataset* validation = nullptr;  // required by early stopping
    /// Loss of the validation rows' scores, lower is better; default: mean log loss on labels.
    std::function<double(std::span<const double>)> validation_loss = {};
    ProgressCallback progress = {};
    /// Model to continue from, on the same features: `trees` includes its trees, so that a run
    /// in two parts gives the same ensemble as one run (for an objective without state, and
    /// without early stopping).
    const model::Ensemble* start = nullptr;
    /// The binned training set, to be shared by many fits (made with params.max_bins); the ensemble
    /// is the same as without it. Labels and weights of the fits may differ, as they belong to the
    /// objective; only `cover` uses the data set's weights.
    const Bins* bins = nullptr;
};

/// Trains a histogram GBDT, leaf-wise. Deterministic: the same data, parameters and seed give the
/// same ensemble for any number of threads and any instruction set. Splits are chosen by sums of
/// 14-bit gradients with unbiased stochastic rounding; leaf values use the unrounded gradients.
/// `pool` may be nullptr.
base::Result<model::Ensemble> train(const dataset::Dataset& data, Objective& objective,
                                    const LearnerParams& params, base::ThreadPool* pool,
                                    const TrainingOptions& options);

/// Trains with a validation set and progress only; early stopping by log loss, with the
/// best iterate restored.
base::Result<model::Ensemble> train(const dataset::Dataset& data, Objective& objective,
                                    const LearnerParams& params, base::ThreadPool* pool,
                                    const dataset::Dataset* validation = nullptr,
                                    const ProgressCallback& progress = {});

}  // namespace rampart::gbdt
