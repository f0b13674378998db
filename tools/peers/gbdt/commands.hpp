#pragma once

#include <string>

#include "rampart/base/result.hpp"
#include "rampart/gbdt/learner.hpp"

namespace rampart::peer_gbdt {

struct TrainJob {
    std::string data;         // table file
    std::string test;         // table file to predict; empty: none
    std::string predictions;  // where raw scores of it go, double[n]
    gbdt::LearnerParams params;
    size_t threads = 1;
};

/// Trains, and prints one JSON object: seconds (wall and CPU) of binning and of boosting, memory.
///
/// Binning happens inside gbdt::train. Its time is told apart by the time of the first tree: trees
/// take the same time on average, so that binning is what the first took more than the others.
base::Status train(const TrainJob& job);

struct PredictJob {
    std::string data;  // table file: ours is trained on it, and its first rows are scored
    std::string lightgbm_library, lightgbm_model, xgboost_library, xgboost_model;
    gbdt::LearnerParams params;
    size_t batch_rows = 100'000;
    int rounds = 9;
};

/// Times scoring in one process, all libraries in every round, and prints one JSON object:
/// nanoseconds a row by library, one a round.
/// - "single": one row a call, ours and LightGBM, each with its own model
/// - "batch_1", "batch_2": all rows in one call, on one and on two threads, each with its own model
/// - "single_same", "batch_same": one thread, LightGBM's model in both; an error if our engines
///   give other bits
/// By the process' CPU time for one thread, by the wall clock for two.
base::Status predict(const PredictJob& job);

}  // namespace rampart::peer_gbdt
