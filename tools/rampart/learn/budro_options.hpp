#pragma once

#include <CLI/CLI.hpp>
#include <boost/json/fwd.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "learn/rate_options.hpp"
#include "rampart/budro/train.hpp"
#include "rampart/evaluation/individual_fairness.hpp"
#include "rampart/report/text_table.hpp"

/// BuDRO on the command line.
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

}  // namespace rampart::cli
