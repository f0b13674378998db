#include "learn/regression_options.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "frame/reasons.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/text.hpp"
#include "rampart/fair_regression/loss_names.hpp"
#include "rampart/model/reasons.hpp"

namespace rampart::cli {
namespace {

constexpr const char* kRegressionGroup = "Fair regression (fair-regression)";

using base::Result;

/// Maps a threshold in the label's units onto the unit scale.
Result<double> on_unit_scale(double threshold, const fair_regression::LabelRange& range,
                             std::string_view option) {
    if (threshold >= range.lo && threshold <= range.hi)
        return (threshold - range.lo) / (range.hi - range.lo);
    return base::make_error(model::Reason::kBadScoreThreshold,
                            "{} {}: labels lie between {} and {}, and so has the threshold to",
                            option, threshold, range.lo, range.hi);
}

Result<model::ScoreStep> step_of(const RegressionOptions& o,
                                 const fair_regression::LabelRange& range) {
    if (o.at_least && o.at_most)
        return base::make_error(base::Reason::kBadUsage,
                                "give --approve-at-least or --approve-at-most, not both");
    model::ScoreStep step;
    if (o.at_most) {
        step.at_least = false;
        RAMPART_TRY(step.threshold, on_unit_scale(*o.at_most, range, "--approve-at-most"));
    } else if (o.at_least) {
        RAMPART_TRY(step.threshold, on_unit_scale(*o.at_least, range, "--approve-at-least"));
    }
    return step;
}

}  // namespace

void add_regression_options(CLI::App& command, RegressionOptions& o) {
    const auto keep = [&](CLI::Option* option) {
        o.options.push_back(option->group(kRegressionGroup));
        return option;
    };
    const auto of_parity = [&](CLI::Option* option) { o.parity_options.push_back(keep(option)); };
    keep(command.add_option("--loss", o.loss, "what is minimised")
             ->check(
                 CLI::IsMember({"squared", "logistic", "absolute", "quantile", "huber", "poisson"}))
             ->capture_default_str());
    keep(command.add_option("--loss-parameter", o.loss_parameter,
                            "scale of logistic and poisson (default 5), order of quantile (0.5), "
                            "width of huber (0.1)"));
    keep(command.add_option("--grid", o.grid, "number of score levels")
             ->check(CLI::Range(1, fair_regression::kMaxLevels))
             ->capture_default_str());
    o.ridge_option =
        keep(command.add_option("--ridge", o.ridge, "ridge penalty of linear models, 1e-9 to 1e6")
                 ->capture_default_str());
    of_parity(command
                  .add_option("--reduction", o.reduction,
                              "statistical parity: the problem that the oracle solves")
                  ->check(CLI::IsMember({"loss", "least-squares", "cost-sensitive"}))
                  ->capture_default_str());
    of_parity(command
                  .add_option("--refine", o.refine,
                              "statistical parity: more trees, or steps of a linear model, on the "
                              "Lagrangian itself, 0 to 1000")
                  ->capture_default_str());
    of_parity(command
                  .add_option("--warm-start-steps", o.repairs,
                              "statistical parity: oracle calls from the unconstrained predictor "
                              "to the first one that keeps the tolerance, 0 to 100")
                  ->capture_default_str());
    keep(command
             .add_option("--method", o.method,
                         "column-generation; eg: exponentiated gradient; eg-paper: with the "
                         "step sizes of the paper")
             ->check(CLI::IsMember({"column-generation", "eg", "eg-paper"}))
             ->capture_default_str());
    keep(command.add_option("--max-oracle-calls", o.game.max_oracle_calls, "oracle calls at most")
             ->check(CLI::Range(1, 100'000))
             ->capture_default_str());
    keep(
        command.add_option("--optimality-gap", o.game.optimality_gap,
                           "stop when the loss is within this of the optimum; 0, the default: half "
                           "the loss's standard error"));
    keep(command.add_option("--multiplier-bound", o.game.multiplier_bound,
                            "--method eg: bound on the sum of the multipliers; default: 10"));
}

void add_regression_training_options(CLI::App& command, RegressionOptions& o) {
    const auto keep = [&](CLI::Option* option) {
        o.options.push_back(option->group(kRegressionGroup));
        return option;
    };
    keep(command
             .add_option("--notion", o.notion,
                         "statistical_parity: the scores of all groups have the same distribution, "
                         "up to --disparity-tolerance; bounded_group_loss: the mean loss of each "
                         "group is at most --zeta")
             ->check(CLI::IsMember({kStatisticalParity, kBoundedGroupLoss}))
             ->capture_default_str());
    o.tolerance_option =
        keep(command
                 .add_option("--disparity-tolerance", o.epsilon,
                             "statistical parity: allowed difference of P(score >= z) between a "
                             "group and all rows, at every z; one value for all groups, or one for "
                             "each in the order of their names (default 0.1)")
                 ->check(CLI::Range(0.0, 1.0))
                 ->delimiter(','));
    o.parity_options.push_back(o.tolerance_option);
    o.zeta_option = keep(command
                             .add_option("--zeta", o.zeta,
                                         "bounded group loss: bound on a group's mean loss; one "
                                         "value for all groups, or one for each in the order of "
                                         "their names")
                             ->delimiter(','));
    keep(command.add_option("--oracle", o.oracle, "predictors: boosted trees or linear models")
             ->check(CLI::IsMember({"gbdt", "linear"}))
             ->capture_default_str());
    keep(command.add_option("--approve-at-least", o.at_least,
                            "approve from this score on, in the label's units (default: the middle "
                            "of their range)"));
    keep(command.add_option("--approve-at-most", o.at_most,
                            "approve up to this score, for a label that is a risk"));
    keep(command.add_option("--report", o.report,
                            "HTML page with the distribution of the scores in each group"));
}

Result<RegressionJob> regression_job(const RegressionOptions& o, const gbdt::LearnerParams& trees,
                                     fair_regression::LabelRange range) {
    RegressionJob job;
    job.parity = o.notion == kStatisticalParity;
    job.linear = o.oracle == "linear";
    RAMPART_TRY(job.loss, fair_regression::parse_loss(o.loss, o.loss_parameter));
    auto game = o.game;
    if (o.method != "column-generation")
        game.method = fair_regression::GameMethod::kExponentiatedGradient;
    game.paper_steps = o.method == "eg-paper";
    RAMPART_RETURN_IF_ERROR(validate(game));
    job.statistical_parity.levels = o.grid;
    if (!o.epsilon.empty()) job.statistical_parity.epsilon = o.epsilon;
    auto reduction = o.reduction;
    std::replace(reduction.begin(), reduction.end(), '-', '_');
    RAMPART_TRY(job.statistical_parity.reduction,
                fair_regression::parse_regression_reduction(reduction));
    job.statistical_parity.refine = o.refine;
    job.statistical_parity.warm_start_steps = o.repairs;
    job.statistical_parity.game = job.bounded_group_loss.game = game;
    job.bounded_group_loss.zeta = o.zeta;
    if (!job.parity && o.zeta.empty())
        return base::make_error(
            base::Reason::kBadUsage,
            "--notion bounded_group_loss needs --zeta: the bound of a group's mean {} "
            "loss",
            o.loss);
    job.line.ridge = o.ridge;
    job.trees = trees;
    job.trees.early_stopping_rounds = 0;  // targets change from fit to fit
    job.range = range;
    RAMPART_TRY(job.step, step_of(o, range));
    return job;
}

std::string regression_text(const RegressionJob& job) {
    const auto& game = job.parity ? job.statistical_parity.game : job.bounded_group_loss.game;
    std::string text = fmt::format(
        " notion={} loss={} oracle={}", job.parity ? kStatisticalParity : kBoundedGroupLoss,
        fair_regression::loss_text(job.loss), job.linear ? "linear" : "gbdt");
    if (job.linear) text += fmt::format(" ridge={}", job.line.ridge);
    if (job.parity)
        text +=
            fmt::format(" tolerance={} grid={} reduction={} refine={} warm_start_steps={}",
                        fmt::join(job.statistical_parity.epsilon, ","),
                        job.statistical_parity.levels, to_string(job.statistical_parity.reduction),
                        job.statistical_parity.refine, job.statistical_parity.warm_start_steps);
    else
        text += fmt::format(" zeta={}", fmt::join(job.bounded_group_loss.zeta, ","));
    const bool gradient = game.method == fair_regression::GameMethod::kExponentiatedGradient;
    text += fmt::format(" method={}{} calls={}", gradient ? "eg" : "column-generation",
                        game.paper_steps ? "-paper" : "", game.max_oracle_calls);
    return text + fmt::format(" approve={}{}", job.step.at_least ? ">=" : "<=",
                              job.range.lo + job.step.threshold * (job.range.hi - job.range.lo));
}

Result<std::unique_ptr<WatchedOracle>> WatchedOracle::create(const RegressionJob& job,
                                                             const dataset::Dataset& train,
                                                             const dataset::Dataset* validation,
                                                             base::ThreadPool& pool,
                                                             Progress progress) {
    std::unique_ptr<reductions::Oracle> oracle;
    if (job.linear) {
        RAMPART_TRY(auto made, fair_regression::LinearOracle::create(train, job.line, validation));
        oracle = std::make_unique<fair_regression::LinearOracle>(std::move(made));
    } else {
        RAMPART_TRY(auto made,
                    fair_regression::create_tree_oracle(train, job.trees, &pool, validation));
        oracle = std::make_unique<reductions::GbdtOracle>(std::move(made));
    }
    return std::unique_ptr<WatchedOracle>(
        new WatchedOracle(std::move(oracle), std::move(progress)));
}

Result<reductions::OracleAnswer> WatchedOracle::fit(const reductions::OracleQuestion& question) {
    if (!progress_(calls_))
        return base::make_error(Reason::kInterrupted,
                                "training was interrupted; nothing was written");
    auto answer = oracle_->fit(question);
    ++calls_;
    return answer;
}

}  // namespace rampart::cli
