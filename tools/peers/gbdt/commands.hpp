#pragma once

#include <string>

#include "rampart/base/result.hpp"
#include "rampart/gbdt/learner.hpp"

namespace rampart::peer_gbdt {

struct TrainJob {
    std::string data;         // table file
    std::string test;         // table file to predict; empty: none
    std::string predictions;  // output file for its raw scores, double[n]
    gbdt::LearnerParams params;
    size_t threads = 1;
};

/// Trains, and prints one JSON object: seconds (wall and CPU) of binning and of boosting, memory.
///
/// Binning is part of gbdt::train. Its time is estimated from the first tree: trees take equal time
/// on average, so binning is the excess of the first tree over the mean of the others.
base::Status train(const TrainJob& job);

struct PredictJob {
    std::string data;  // table file: our model is trained on it, and its first rows are scored
    std::string lightgbm_library, lightgbm_model, xgboost_library, xgboost_model;
    gbdt::LearnerParams params;
    size_t batch_rows = 100'000;
    int rounds = 9;
};

/// Times scoring in one process, all libraries in every round, and prints one JSON object:
/// nanoseconds per row by library, one per round.
/// - "single": one row per call, ours and LightGBM, each with its own model
/// - "batch_1", "batch_2": all rows in one call, on one and on two threads, each with its own model
/// - "single_same", "batch_same": one thread, LightGBM's model in both; fails if our engines
///   give other bits
/// Measured by the process' CPU time for one thread, by wall time for two.
base::Status predict(const PredictJob& job);

}  // namespace rampart::peer_gbdt
