#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "learn/regression_frontier.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/fairness/frontier.hpp"
#include "rampart/fairness/rate_constraints.hpp"
#include "rampart/model/policy.hpp"

/// The trials of `rampart frontier`: random settings of learners.
namespace rampart::cli {

struct FrontierJob {
    dataset::Dataset train, validation, test;
    fairness::RateConstraints constraints;  // parity; tolerances are drawn
    std::optional<fairness::RateTarget> operate_at;
    std::vector<std::string> constraint_texts;  // as learners' options take them
    std::string operate_at_text;                // empty: none
    std::vector<std::string> attributes;        // protected columns
    double most_tolerance = 0.05;
    int most_trees = 400;
    int reduction_fits = 10;  // fits of one trial of eg, gs or rs
    uint64_t seed = 0;
};

struct TrialRow {
    std::string learner;
    size_t number = 0;
    std::string settings;  // "trees=120 …"
    fairness::FrontierTrial figures;
    double seconds = 0;
};

/// Thresholds by group on gbdt: a post-processor, compared like a learner.
inline constexpr std::string_view kThresholds = "thresholds";

/// Runs trial `number` of a learner of rampart/learning, or of kThresholds. Its settings follow
/// from the job's seed and the number alone, and are the same for all learners that have them;
/// those with a fair metric take smaller steps and are under no constraint on rates.
/// Performance is the accuracy or, at an operating point, the share of label 1 approved; unfairness
/// is the largest gap of the constraints.
base::Result<TrialRow> run_trial(const FrontierJob& job, std::string_view name, size_t number,
                                 base::ThreadPool& pool);

/// The file of trials: `job` in the first line, so that no other run's are taken for this one's.
std::string trials_text(std::string_view job, const std::vector<TrialRow>& rows);
/// Returns none where there is no such file. Errors: those of ResultFile.
base::Result<std::vector<TrialRow>> read_trials(const std::filesystem::path& path,
                                                std::string_view job);

/// What one learner reached.
struct LearnerFrontier {
    std::string learner;
    std::vector<TrialRow> trials;
    std::vector<size_t> undominated;  // in trials, by validation
    std::vector<fairness::FrontierBand> bands;
    double seconds = 0;  // seconds of all trials
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
