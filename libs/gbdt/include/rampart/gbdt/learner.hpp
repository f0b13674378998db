#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/gbdt/objective.hpp"
#include "rampart/model/ensemble.hpp"

namespace rampart::gbdt {

struct LearnerParams {
    int trees = 200;             // 1 … limits::kMaxTrees
    double learning_rate = 0.1;  // (0, 1]
    int leaves = 31;             // 2 … limits::kMaxLeaves
    int max_depth = 0;           // 0: no limit
    int min_rows_in_leaf = 20;
    double min_hessian_in_leaf = 1e-3;
    double l1 = 0, l2 = 0;
    double min_gain = 0;
    int max_bins = 255;           // 2 … 255, missing apart
    double feature_fraction = 1;  // (0, 1], by tree
    double row_fraction = 1;      // (0, 1], by tree, without replacement
    double category_smooth = 10;  // many-vs-many splits, sorted by g / (h + smooth)
    int max_category_threshold = 32;
    int early_stopping_rounds = 0;  // 0: off; else on the validation set's loss
    uint64_t seed = 0;
};

/// Checks every field against its range; the error names field, value and range.
base::Status validate(const LearnerParams& params);

struct Progress {
    int iteration;                   // trees grown so far
    int trees;                       // asked for
    std::span<const double> scores;  // of the training rows
};
/// Returns false to stop early (the ensemble so far is kept).
using ProgressCallback = std::function<bool(const Progress&)>;

/// Histogram GBDT, leaf-wise. Deterministic: the same data, parameters and seed give the same
/// ensemble whatever the number of threads. `pool` may be nullptr. `validation` may be nullptr
/// (needed for early stopping: log loss on it; the best iterate is restored).
base::Result<model::Ensemble> train(const dataset::Dataset& data, Objective& objective,
                                    const LearnerParams& params, base::ThreadPool* pool,
                                    const dataset::Dataset* validation = nullptr,
                                    const ProgressCallback& progress = {});

}  // namespace rampart::gbdt
