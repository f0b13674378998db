#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rampart/fair_regression/bounded_loss.hpp"
#include "rampart/fair_regression/loss.hpp"
#include "rampart/fair_regression/parity.hpp"
#include "rampart/fair_regression/serving.hpp"
#include "rampart/gbdt/learner.hpp"

/// Fair regression on the command line.
namespace rampart::cli {

inline constexpr std::string_view kFairRegression = "fair-regression";

inline constexpr const char* kStatisticalParity = "statistical_parity";
inline constexpr const char* kBoundedGroupLoss = "bounded_group_loss";

/// As typed.
struct RegressionOptions {
    std::string notion = kStatisticalParity, loss = "squared", oracle = "gbdt", reduction = "loss",
                method = "column-generation", report;
    std::optional<double> loss_parameter, at_least, at_most;
    std::vector<double> epsilon, zeta;
    int grid = 40, refine = fair_regression::ParityRegressionParams{}.refine;
    int repairs = fair_regression::ParityRegressionParams{}.warm_start_steps;
    double ridge = 1e-6;
    fair_regression::GameParams game;
    // to name those without effect: all with other learners
    std::vector<const CLI::Option*> options;
    const CLI::Option *zeta_option = nullptr, *ridge_option = nullptr, *tolerance_option = nullptr;
    std::vector<const CLI::Option*> parity_options;  // options of statistical parity alone
};
/// What train and frontier have in common: loss, grid, oracle, reduction, game.
void add_regression_options(CLI::App& command, RegressionOptions& options);
/// --notion, --disparity-tolerance, --zeta, --oracle, the policy on the score, --report.
void add_regression_training_options(CLI::App& command, RegressionOptions& options);

/// As meant.
struct RegressionJob {
    bool parity = true;  // else bounded group loss
    bool linear = false;
    fair_regression::RegressionLoss loss = fair_regression::RegressionLoss::squared();
    fair_regression::ParityRegressionParams statistical_parity;
    fair_regression::BoundedLossParams bounded_group_loss;
    fair_regression::LinearParams line;
    gbdt::LearnerParams trees;
    model::ScoreStep step;              // on the unit scale
    fair_regression::LabelRange range;  // range of the label
};
/// range: of a numeric label; 0 to 1 for labels of two values. --approve-at-… is in its units.
/// Errors: invalid_argument "bad_usage", "bad_…" of the library.
base::Result<RegressionJob> regression_job(const RegressionOptions& options,
                                           const gbdt::LearnerParams& trees,
                                           fair_regression::LabelRange range);

/// " notion=statistical_parity …", for the model file.
std::string regression_text(const RegressionJob& job);

/// An oracle that knows the rows, shows how far it is and ends when asked to. Keeps references.
class WatchedOracle : public reductions::Oracle {
  public:
    /// false: stop, with unavailable "interrupted".
    using Progress = std::function<bool(int calls)>;
    static base::Result<std::unique_ptr<WatchedOracle>> create(const RegressionJob& job,
                                                               const dataset::Dataset& train,
                                                               const dataset::Dataset* validation,
                                                               base::ThreadPool& pool,
                                                               Progress progress);
    base::Result<reductions::OracleAnswer> fit(const reductions::OracleQuestion& question) override;

  private:
    WatchedOracle(std::unique_ptr<reductions::Oracle> oracle, Progress progress)
        : oracle_(std::move(oracle)), progress_(std::move(progress)) {}
    std::unique_ptr<reductions::Oracle> oracle_;
    Progress progress_;
    int calls_ = 0;
};

}  // namespace rampart::cli
