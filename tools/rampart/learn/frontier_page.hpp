#pragma once

#include <string>
#include <vector>

#include "learn/frontier_trials.hpp"

namespace rampart::cli {

/// What one learner reached.
struct LearnerFrontier {
    std::string learner;
    std::vector<TrialRow> trials;
    std::vector<size_t> undominated;  // in trials, by validation
    std::vector<fairness::FrontierBand> bands;
    double seconds = 0;  // of all trials
};

struct FrontierReport {
    std::string data, constraints, performance;  // for people
    size_t tries = 0;
    std::vector<LearnerFrontier> learners;
};

/// One page: fairness against performance on the test rows, and the figures.
std::string frontier_page(const FrontierReport& report);
/// learner, alpha, mean and band of both.
std::string frontier_csv(const FrontierReport& report);

}  // namespace rampart::cli
