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

}  // namespace rampart::peer_gbdt
