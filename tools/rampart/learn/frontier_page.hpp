#pragma once

#include <string>
#include <vector>

#include "learn/frontier_trials.hpp"
#include "learn/regression_frontier.hpp"

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

/// Returns one page: fairness against performance on the test rows, and the figures.
std::string frontier_page(const FrontierReport& report);
/// Returns a line for each learner and alpha: mean and band of both.
std::string frontier_csv(const FrontierReport& report);

/// Returns the page of fair regression: loss against disparity on the test rows, and the figures.
std::string regression_frontier_page(const std::string& data, const std::string& loss,
                                     const std::vector<RegressionPoint>& points);

}  // namespace rampart::cli
