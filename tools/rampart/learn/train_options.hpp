#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "frame/metric_options.hpp"
#include "learn/learner_flags.hpp"
#include "learn/table_parts.hpp"
#include "rampart/base/result.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/ramp/solver.hpp"
#include "rampart/training/recipe.hpp"

/// The options of `rampart train`.
namespace rampart::cli {

/// As typed.
struct TrainOptions {
    std::string data, schema, out, cache, resume, recipe, report, save_metric, search_state;
    SplitWords split;
    std::string learner = "gbdt", baseline = "none", postprocess = "none",
                criterion = "statistical_parity";
    bool print_recipe = false;
    bool allow_infeasible = false;  // a model that misses a constraint is written all the same
    double ramp_tolerance = ramp::RampParams{}.epsilon, gamma = ramp::RampParams{}.gamma;
    uint64_t seed = gbdt::LearnerParams{}.seed;
    size_t threads = std::max(1u, std::thread::hardware_concurrency());
    MetricOptions metric;
    std::vector<std::string> counterfactuals;
    std::unique_ptr<LearnerFlags> flags;
    // options to name where they have no effect or do not go with --recipe
    std::vector<const CLI::Option*> of_ramp, of_metric, of_recipe;
    CLI::Option *report_option = nullptr, *allow_infeasible_option = nullptr,
                *search_option = nullptr;
};
void add_train_options(CLI::App& command, TrainOptions& options);
/// Adds those that say how a model is trained: learner or recipe with all their options, seed and
/// threads; no files, no split.
void add_recipe_options(CLI::App& command, TrainOptions& options);

/// How a model is to be trained, whether flags say so or a recipe file.
struct TrainPlan {
    training::Recipe written;  // as flags or file say
    training::Recipe recipe;   // by which is trained: with what its search has found
    const learning::Learner* learner = nullptr;
    learning::Capabilities can = {};
    const learning::OptionValues& values() const { return recipe.options; }
    bool has_ramp() const;  // the recipe puts a rule on the score
};
/// Errors: those of the learner's options, by flag or by line of the recipe; of what does not go
/// together; bad_usage for flags beside --recipe, and for keys that only the loop reads.
base::Result<TrainPlan> plan_of(const TrainOptions& options);

/// Returns whether a recipe file can say all that is asked for. Errors: bad_usage names what not.
base::Status check_recipe_says_all(const TrainOptions& options);

/// Returns the options that were given and do nothing in this training, each with what it needs.
std::vector<std::string> ineffective(const TrainOptions& options, const TrainPlan& plan);

/// Returns whether a fair metric has a part in it.
bool needs_metric(const TrainOptions& options, const TrainPlan& plan);

}  // namespace rampart::cli
