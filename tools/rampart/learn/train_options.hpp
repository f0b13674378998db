#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json/fwd.hpp>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "frame/metric_options.hpp"
#include "learn/rate_options.hpp"
#include "learn/regression_options.hpp"
#include "rampart/base/result.hpp"
#include "rampart/budro/train.hpp"
#include "rampart/dataset/feature_schema.hpp"
#include "rampart/evaluation/individual_fairness.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/ramp/solver.hpp"
#include "rampart/report/text_table.hpp"

/// The options of `rampart train`.
namespace rampart::cli {

/// As typed.
struct BudroSettings {
    std::string attack = "exact", first_tree = "data", select = "last", class_weight = "none";
    budro::BudroParams params;
    size_t memory_mib = 1024;
    std::vector<std::string> counterfactuals;
    std::vector<const CLI::Option*> options;  // all, to name those without effect
};
void add_budro_options(CLI::App& command, BudroSettings& settings);

/// What `rampart train` knows of a BuDRO training beside these.
struct BudroTask {
    const dataset::Dataset& train;
    const dataset::Dataset& validation;  // may be empty
    gbdt::LearnerParams learner;
    std::optional<double> epsilon;  // as given
    double favourable_weight = 1;
    const FairGbmOptions* constraints = nullptr;  // where group constraints were asked for
};
/// Errors name the option.
base::Result<budro::BudroParams> budro_params(const BudroSettings& settings, const BudroTask& task);

base::Result<budro::BudroResult> learn_budro(
    const BudroTask& task, const budro::BudroParams& params, const budro::FairMetric& metric,
    base::ThreadPool& pool, const std::function<bool(const budro::BudroRound&)>& progress);

model::LearnedLink budro_link(const budro::BudroResult& result);
/// " epsilon=…", for the model file.
std::string budro_text(const budro::BudroParams& params);
/// First and last round, and what was kept.
report::Table budro_table(const budro::BudroResult& result);
boost::json::object budro_json(const budro::BudroResult& result, const budro::BudroParams& params);
/// Returns a note when group constraints are not kept; empty if they are, or none were asked for.
std::string budro_note(const budro::BudroResult& result);

/// What a user says of features by name, for the trees to keep to.
struct TreeRules {
    std::vector<std::string> monotone;      // "income=increasing", "debt=decreasing"
    std::vector<std::string> interactions;  // "income+debt": may meet on one way down a tree
};

/// As typed.
struct TrainOptions {
    std::string data, schema, out, cache;
    std::string learner = "gbdt", split = "60/20/20", postprocess = "none", baseline = "none";
    std::string save_metric;
    MetricOptions metric;
    BudroSettings budro;
    FairGbmOptions fairgbm;
    fairgbm::FairGbmParams params;
    reductions::ReductionParams reduction;
    int reduction_fits = 30;
    TreeRules rules;
    std::string resume;
    double favourable_weight = 1;
    std::string criterion = kStatisticalParity;
    ramp::RampParams ramp;
    bool allow_infeasible = false;  // a model that misses a constraint is written all the same
    double epsilon = budro::TransportParams{}.epsilon;  // budget of budro and the baselines
    RegressionOptions regression;
    size_t threads = std::max(1u, std::thread::hardware_concurrency());
    std::vector<const CLI::Option*> tree_options;
    // options that another option asks for
    CLI::Option *epsilon_option = nullptr, *ramp_tolerance_option = nullptr,
                *gamma_option = nullptr, *favourable_weight_option = nullptr,
                *reduction_fits_option = nullptr, *early_stopping_option = nullptr,
                *save_metric_option = nullptr, *allow_infeasible_option = nullptr,
                *criterion_option = nullptr;
};
void add_train_options(CLI::App& command, TrainOptions& options);

/// Whether a fair metric has a part in it.
bool needs_metric(const TrainOptions& options);
/// budro: whether group constraints are to be kept, too.
bool asks_for_groups(const TrainOptions& options);
/// Whether the training compares protected groups, so that each has to have training rows.
bool compares_groups(const TrainOptions& options);
/// Options that were given and do nothing in this training, each with what it needs.
std::vector<std::string> ineffective(const TrainOptions& options);

/// Writes the rules into params. Errors name the option and the feature: bad_monotone,
/// bad_interactions.
base::Status apply_rules(const TreeRules& rules, const dataset::FeatureSchema& schema,
                         gbdt::LearnerParams& params);

}  // namespace rampart::cli
