#include "regression_options.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "rampart/dataset/text.hpp"

namespace rampart::cli {
namespace {

using base::Result;
using fair_regression::RegressionLoss;

/// Of the label's units onto the unit scale.
Result<double> on_unit_scale(double threshold, const fair_regression::LabelRange& range,
                             std::string_view option) {
    if (threshold >= range.lo && threshold <= range.hi)
        return (threshold - range.lo) / (range.hi - range.lo);
    return base::out_of_range("bad_score_threshold",
                              "{} {}: labels lie between {} and {}, and so has the threshold to",
                              option, threshold, range.lo, range.hi);
}

Result<model::ScoreStep> step_of(const RegressionOptions& o,
                                 const fair_regression::LabelRange& range) {
    if (o.at_least && o.at_most)
        return base::invalid_argument("bad_usage",
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
        o.options.push_back(option);
        return option;
    };
    keep(command
             .add_option("--loss", o.loss,
                         "fair-regression: squared, logistic, absolute, quantile, huber, poisson")
             ->check(
                 CLI::IsMember({"squared", "logistic", "absolute", "quantile", "huber", "poisson"}))
             ->capture_default_str());
    keep(command.add_option("--loss-parameter", o.loss_parameter,
                            "scale of logistic and poisson (5), order of quantile (0.5), width of "
                            "huber (0.1)"));
    keep(command.add_option("--grid", o.grid, "fair-regression: levels of scores")
             ->check(CLI::Range(1, fair_regression::kMaxLevels))
             ->capture_default_str());
    o.ridge_option = keep(
        command.add_option("--ridge", o.ridge, "linear oracle: penalty")->capture_default_str());
    o.parity_options.push_back(
        keep(command
                 .add_option("--reduction", o.reduction,
                             "sp: what the oracle is asked: loss, least-squares, cost-sensitive")
                 ->check(CLI::IsMember({"loss", "least-squares", "cost-sensitive"}))
                 ->capture_default_str()));
    o.parity_options.push_back(
        keep(command
                 .add_option("--refine", o.refine,
                             "sp: more trees, or steps of a linear model, on the Lagrangian itself")
                 ->capture_default_str()));
    o.parity_options.push_back(
        keep(command
                 .add_option("--repairs", o.repairs,
                             "sp: questions on the way from the plain predictor to parity")
                 ->capture_default_str()));
    keep(command
             .add_option("--method", o.method,
                         "column-generation; eg: exponentiated gradient; eg-paper: with the "
                         "paper's steps")
             ->check(CLI::IsMember({"column-generation", "eg", "eg-paper"}))
             ->capture_default_str());
    keep(command
             .add_option("--calls", o.game.max_oracle_calls,
                         "fair-regression: questions to the oracle")
             ->check(CLI::Range(1, 100'000))
             ->capture_default_str());
    keep(command.add_option("--gap", o.game.optimality_gap,
                            "fair-regression: ends when the loss is known so well; 0: half its "
                            "standard error"));
    keep(command.add_option("--bound", o.game.multiplier_bound, "eg: of the sum of multipliers"));
}

void add_regression_training_options(CLI::App& command, RegressionOptions& o) {
    const auto keep = [&](CLI::Option* option) {
        o.options.push_back(option);
        return option;
    };
    keep(command
             .add_option("--notion", o.notion,
                         "fair-regression: sp (statistical parity at every threshold, --epsilon) "
                         "or bgl (bounded group loss, --zeta)")
             ->check(CLI::IsMember({"sp", "bgl"}))
             ->capture_default_str());
    o.zeta_option = keep(command
                             .add_option("--zeta", o.zeta,
                                         "bgl: bound of a group's mean loss; one for all, or one "
                                         "for each group in the order of their names")
                             ->delimiter(','));
    keep(command.add_option("--oracle", o.oracle, "fair-regression: gbdt or linear")
             ->check(CLI::IsMember({"gbdt", "linear"}))
             ->capture_default_str());
    keep(command.add_option("--approve-at-least", o.at_least,
                            "fair-regression: approve from this score on, in the label's units "
                            "(default: the middle of their range)"));
    keep(command.add_option("--approve-at-most", o.at_most,
                            "fair-regression: approve up to this score, as of a risk"));
    keep(command.add_option("--report", o.report,
                            "fair-regression: write an HTML page with each group's distribution"));
}

Result<RegressionLoss> parse_loss(const std::string& name, std::optional<double> parameter) {
    if (name == "logistic") return RegressionLoss::logistic(parameter.value_or(5));
    if (name == "quantile") return RegressionLoss::quantile(parameter.value_or(0.5));
    if (name == "huber") return RegressionLoss::huber(parameter.value_or(0.1));
    if (name == "poisson") return RegressionLoss::poisson(parameter.value_or(5));
    if (parameter)
        return base::invalid_argument("bad_usage", "--loss-parameter {}: the {} loss has none",
                                      *parameter, name);
    if (name == "squared") return RegressionLoss::squared();
    if (name == "absolute") return RegressionLoss::absolute();
    return base::invalid_argument("bad_usage", "--loss '{}' is not known", name);
}

std::string loss_text(const RegressionLoss& loss) {
    return loss.parameter() == 0 ? loss.name()
                                 : fmt::format("{} {}", loss.name(), loss.parameter());
}

Result<RegressionLoss> parse_loss_text(const std::string& text) {
    const auto space = text.find(' ');
    if (space == std::string::npos) return parse_loss(text, std::nullopt);
    const auto number = dataset::parse_number(std::string_view(text).substr(space + 1));
    if (!number) return base::data_loss("bad_training_record", "the model's loss is '{}'", text);
    return parse_loss(text.substr(0, space), *number);
}

Result<RegressionJob> regression_job(const RegressionOptions& o, const gbdt::LearnerParams& trees,
                                     fair_regression::LabelRange range) {
    RegressionJob job;
    job.parity = o.notion == "sp";
    job.linear = o.oracle == "linear";
    RAMPART_TRY(job.loss, parse_loss(o.loss, o.loss_parameter));
    auto game = o.game;
    if (o.method != "column-generation")
        game.method = fair_regression::GameMethod::kExponentiatedGradient;
    game.paper_steps = o.method == "eg-paper";
    RAMPART_RETURN_IF_ERROR(validate(game));
    job.sp.levels = o.grid;
    if (!o.epsilon.empty()) job.sp.epsilon = o.epsilon;
    auto reduction = o.reduction;
    std::replace(reduction.begin(), reduction.end(), '-', '_');
    RAMPART_TRY(job.sp.reduction, fair_regression::parse_regression_reduction(reduction));
    job.sp.refine = o.refine;
    job.sp.warm_start_steps = o.repairs;
    job.sp.game = job.bgl.game = game;
    job.bgl.zeta = o.zeta;
    if (!job.parity && o.zeta.empty())
        return base::invalid_argument("bad_usage",
                                      "--notion bgl needs --zeta: the bound of a group's mean {} "
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
    const auto& game = job.parity ? job.sp.game : job.bgl.game;
    std::string text = fmt::format(" notion={} loss={} oracle={}", job.parity ? "sp" : "bgl",
                                   loss_text(job.loss), job.linear ? "linear" : "gbdt");
    if (job.linear) text += fmt::format(" ridge={}", job.line.ridge);
    if (job.parity)
        text += fmt::format(" epsilon={} grid={} reduction={} refine={} repairs={}",
                            fmt::join(job.sp.epsilon, ","), job.sp.levels,
                            to_string(job.sp.reduction), job.sp.refine, job.sp.warm_start_steps);
    else
        text += fmt::format(" zeta={}", fmt::join(job.bgl.zeta, ","));
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
        return base::unavailable("interrupted", "training was interrupted; nothing was written");
    auto answer = oracle_->fit(question);
    ++calls_;
    return answer;
}

}  // namespace rampart::cli
