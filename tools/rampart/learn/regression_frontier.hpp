#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frame/frame.hpp"
#include "learn/table_parts.hpp"
#include "rampart/dataset/table_schema.hpp"
#include "rampart/learning/learner.hpp"
#include "rampart/stats/metrics.hpp"

/// `rampart frontier` of fair regression: loss against disparity (Agarwal et al. 2019, figure 1).
namespace rampart::cli {

/// fair-regression, unconstrained (boosted trees); both with "-linear" behind for linear models;
/// seo (linear, without correlation); fair-classification (exponentiated gradient on labels of two
/// values, its members' scores).
bool is_regression_learner(const std::string& learner);
const std::vector<std::string>& regression_learners();

/// The learner of the room whose options the frontier takes.
inline constexpr std::string_view kRegressionLearner = "fair-regression";

struct RegressionFrontier {
    learning::OptionValues values;  // options of kRegressionLearner
    TableSource source;
    dataset::TableSchema schema = {};
    std::vector<std::string> learners;
    std::vector<double> epsilons;
    std::string out;  // a folder
    int reduction_fits = 10;
    size_t threads = 1;
};

/// One predictor or mixture, its scores rounded to the grid.
struct RegressionPoint {
    std::string learner;
    size_t number = 0;  // number of the tolerance; 0 where there is none
    double epsilon = 0;
    double train_loss = 0, train_disparity = 0;
    double loss = 0, disparity = 0;             // on the test rows
    stats::Interval loss_band, disparity_band;  // 95 %, over resamples of the test rows
    size_t members = 1;
    double seconds = 0;  // to learn it
};

/// Runs what is missing; after each point the folder's points.csv holds all so far, so that the
/// same command goes on where it was broken off. Writes frontier.csv and frontier.html.
base::Result<Answer> regression_frontier(const RegressionFrontier& job, const Context& context);

}  // namespace rampart::cli
