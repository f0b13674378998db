#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>

#include "learners.hpp"
#include "rampart/fair_regression/bounded_loss.hpp"
#include "rampart/fair_regression/loss_names.hpp"
#include "rampart/fair_regression/parity.hpp"
#include "rampart/fair_regression/serving.hpp"
#include "rampart/learning/reasons.hpp"
#include "tree_options.hpp"

namespace rampart::learning {
namespace {

using base::Result;
using fair_regression::RegressionLoss;
using reductions::Oracle;

/// What the options say, but for what needs data.
struct Settings {
    bool parity = true;  // else bounded group loss
    bool linear = false;
    RegressionLoss loss = RegressionLoss::squared();
    fair_regression::ParityRegressionParams statistical_parity;
    fair_regression::BoundedLossParams bounded_group_loss;
    fair_regression::LinearParams line;
};

/// An oracle that reports its calls, and ends when asked to.
class WatchedOracle : public Oracle {
  public:
    WatchedOracle(std::unique_ptr<Oracle> oracle, const Task& task, int most)
        : oracle_(std::move(oracle)), task_(&task), most_(static_cast<size_t>(most)) {}
    Result<reductions::OracleAnswer> fit(const reductions::OracleQuestion& question) override {
        if (!task_->progress({calls_++, most_, "calls"}))
            return base::make_error(Reason::kTrainingStopped, "the training was stopped");
        return oracle_->fit(question);
    }

  private:
    std::unique_ptr<Oracle> oracle_;
    const Task* task_;
    size_t calls_ = 0, most_;
};

Result<Settings> settings_of(const OptionValues& values) {
    Settings s;
    s.parity = values.text("notion") == "statistical_parity";
    s.linear = values.text("oracle") == "linear";
    const auto& parameter = values.numbers("loss_parameter");
    RAMPART_TRY(s.loss, fair_regression::parse_loss(
                            values.text("loss"),
                            parameter.empty() ? std::nullopt : std::optional(parameter.front())));
    fair_regression::GameParams game;
    const auto& method = values.text("method");
    if (method != "column-generation")
        game.method = fair_regression::GameMethod::kExponentiatedGradient;
    game.paper_steps = method == "eg-paper";
    game.max_oracle_calls = values.integer("max_oracle_calls");
    game.optimality_gap = values.number("optimality_gap");
    game.multiplier_bound = values.number("multiplier_bound");
    RAMPART_RETURN_IF_ERROR(validate(game));
    auto& parity = s.statistical_parity;
    parity.levels = values.integer("grid");
    parity.epsilon = values.numbers("disparity_tolerance");
    auto reduction = values.text("reduction");
    std::replace(reduction.begin(), reduction.end(), '-', '_');
    RAMPART_TRY(parity.reduction, fair_regression::parse_regression_reduction(reduction));
    parity.refine = values.integer("refine");
    parity.warm_start_steps = values.integer("warm_start_steps");
    parity.game = s.bounded_group_loss.game = game;
    s.bounded_group_loss.zeta = values.numbers("zeta");
    if (!s.parity && s.bounded_group_loss.zeta.empty())
        return base::make_error(Reason::kBadOption,
                                "zeta is missing: notion bounded_group_loss needs the bound of a "
                                "group's mean {} loss",
                                values.text("loss"));
    s.line.ridge = values.number("ridge");
    return s;
}

/// Returns the position of a label in its range.
Result<double> on_unit_scale(double label, const Task& task, std::string_view option) {
    if (label >= task.label_lo && label <= task.label_hi)
        return (label - task.label_lo) / (task.label_hi - task.label_lo);
    return base::make_error(Reason::kBadOption, "{} is '{}': labels lie between {} and {}", option,
                            label, task.label_lo, task.label_hi);
}

/// Returns the least score that stands for a mean label of at least `mean`.
double score_at(const RegressionLoss& loss, double mean) {
    double lo = 0, hi = 1;
    for (int i = 0; i < 60; ++i) {
        const double middle = (lo + hi) / 2;
        (loss.label_of(middle) >= mean ? hi : lo) = middle;
    }
    return hi;
}

/// Returns the step of the policy: by approve_at_least or approve_at_most in the label's units,
/// else by the threshold.
Result<model::ScoreStep> step_of(const OptionValues& values, const RegressionLoss& loss,
                                 const Task& task) {
    const auto &least = values.numbers("approve_at_least"),
               &most = values.numbers("approve_at_most");
    if (least.size() + most.size() > 1)
        return base::make_error(Reason::kBadOption,
                                "approve_at_least, approve_at_most: give one number for one of "
                                "them");
    model::ScoreStep step;
    if (!most.empty()) {
        step.at_least = false;
        RAMPART_TRY(step.threshold, on_unit_scale(most.front(), task, "approve_at_most"));
    } else if (!least.empty()) {
        RAMPART_TRY(step.threshold, on_unit_scale(least.front(), task, "approve_at_least"));
    } else {
        const double threshold = values.number("threshold");
        step.threshold = task.train.numeric() ? threshold : score_at(loss, threshold);
    }
    return step;
}

Result<std::unique_ptr<Oracle>> oracle_of(const Settings& settings, const OptionValues& values,
                                          const Task& task) {
    if (settings.linear) {
        RAMPART_TRY(auto made, fair_regression::LinearOracle::create(task.train, settings.line,
                                                                     task.validation));
        return std::make_unique<fair_regression::LinearOracle>(std::move(made));
    }
    RAMPART_TRY(auto trees, tree_params(values, task));
    RAMPART_TRY(auto made,
                fair_regression::create_tree_oracle(task.train, trees, task.pool, task.validation));
    return std::make_unique<reductions::GbdtOracle>(std::move(made));
}

/// What is served, with how many levels.
struct Served {
    std::vector<fair_regression::ServedModel> models;
    int levels = 0;
};

Served served_of(const fair_regression::ParityRegressionResult& fit, int levels) {
    Served out{{}, levels};
    for (const auto& member : fit.members) out.models.push_back({&member.model, member.weight});
    return out;
}

Served served_of(const fair_regression::BoundedLossResult& fit) {
    if (fit.averaged && fit.averaged->no_worse) return {{{&fit.averaged->model, 1}}, 0};
    Served out;
    for (const auto& member : fit.members) out.models.push_back({&member.model, member.weight});
    return out;
}

boost::json::object figures_of(const fair_regression::ParityRegressionResult& fit) {
    boost::json::object out{{"notion", "statistical_parity"},
                            {"loss", fit.train.loss},
                            {"lower", fit.lower},
                            {"gap", fit.gap},
                            {"converged", fit.converged},
                            {"disparity", fit.train.disparity},
                            {"calls", fit.calls}};
    if (fit.validation) out["validation_disparity"] = fit.validation->disparity;
    return out;
}

boost::json::object figures_of(const fair_regression::BoundedLossResult& fit) {
    return {{"notion", "bounded_group_loss"},
            {"loss", fit.train.loss},
            {"group_losses", boost::json::value_from(fit.train.group_losses)},
            {"lower", fit.lower},
            {"gap", fit.gap},
            {"converged", fit.converged},
            {"calls", fit.calls}};
}

class FairRegression : public Learner {
  public:
    std::string_view name() const override { return "fair-regression"; }
    std::string_view summary() const override {
        return "a number or a risk whose scores are alike in all groups, or whose loss is bounded "
               "in each";
    }
    std::string_view source() const override {
        return "Agarwal et al. 2019, Fair Regression: Quantitative Definitions and Reduction-Based "
               "Algorithms, Algorithms 1 and 2";
    }
    std::vector<Option> options() const override;
    Capabilities capabilities(const OptionValues& values) const override {
        const bool parity = values.text("notion") == "statistical_parity";
        return {.numbers = true,
                .groups = true,
                .monotone = values.text("oracle") == "gbdt",
                .output = parity ? Output::kDrawnScore : Output::kDecision};
    }
    base::Status check(const OptionValues& values) const override {
        RAMPART_RETURN_IF_ERROR(check_trees(values));
        const auto settings = settings_of(values);
        return settings ? base::ok() : settings.error();
    }

  protected:
    Result<Learned> learn(const Task& task, const OptionValues& values) const override;
};

/// Options of what is promised and of how rows are decided.
std::vector<Option> notion_options() {
    const std::vector<double> none;
    return {
        {"notion",
         std::string("statistical_parity"),
         "statistical_parity: the scores of all groups have the same distribution, up to "
         "disparity_tolerance; bounded_group_loss: the mean loss of each group is at most zeta",
         0,
         0,
         {"statistical_parity", "bounded_group_loss"}},
        {"loss",
         std::string("squared"),
         "what is minimised",
         0,
         0,
         {"squared", "logistic", "absolute", "quantile", "huber", "poisson"}},
        {"loss_parameter", none,
         "scale of logistic and poisson (default 5), order of quantile (0.5), width of huber (0.1)",
         0, 30},
        {"disparity_tolerance", fair_regression::ParityRegressionParams{}.epsilon,
         "statistical parity: allowed difference of P(score >= z) between a group and all rows, at "
         "every z; one value for all groups, or one for each in the order of their names",
         0, 1},
        {"zeta", none,
         "bounded group loss: bound on a group's mean loss; one value for all groups, or one for "
         "each in the order of their names",
         0, 1e6},
        {"threshold", 0.5,
         "approve from this P(favourable) on; of numeric labels from this share of their range on",
         1e-6, 1 - 1e-6},
        {"approve_at_least", none, "approve from this score on, in the label's units"},
        {"approve_at_most", none, "approve up to this score, for a label that is a risk"},
    };
}

/// Options of how the game between learner and multipliers is solved.
std::vector<Option> game_options() {
    const fair_regression::ParityRegressionParams parity;
    const fair_regression::GameParams game;
    return {
        {"oracle",
         std::string("gbdt"),
         "predictors: boosted trees or linear models",
         0,
         0,
         {"gbdt", "linear"}},
        {"ridge", fair_regression::LinearParams{}.ridge, "oracle linear: ridge penalty", 1e-9, 1e6},
        {"grid", int64_t{parity.levels}, "number of score levels", 1, fair_regression::kMaxLevels},
        {"reduction",
         std::string("loss"),
         "statistical parity: the problem that the oracle solves",
         0,
         0,
         {"loss", "least-squares", "cost-sensitive"}},
        {"refine", int64_t{parity.refine},
         "statistical parity: more trees, or steps of a linear model, on the Lagrangian itself", 0,
         1000},
        {"warm_start_steps", int64_t{parity.warm_start_steps},
         "statistical parity: oracle calls from the unconstrained predictor to the first one that "
         "keeps the tolerance",
         0, 100},
        {"method",
         std::string("column-generation"),
         "column-generation; eg: exponentiated gradient; eg-paper: with the paper's step sizes",
         0,
         0,
         {"column-generation", "eg", "eg-paper"}},
        {"max_oracle_calls", int64_t{game.max_oracle_calls}, "oracle calls at most", 1, 100'000},
        {"optimality_gap", game.optimality_gap,
         "stop when the loss is within this of the optimum; 0: half the loss's standard error", 0,
         1},
        {"multiplier_bound", game.multiplier_bound,
         "method eg: bound on the sum of the multipliers", 1e-6, 1e6},
    };
}

std::vector<Option> FairRegression::options() const {
    auto options = tree_options();
    for (auto* more : {&notion_options, &game_options})
        for (auto& option : more()) options.push_back(std::move(option));
    return options;
}

/// Returns the error of a training without a model: proven impossible, or nothing was found.
base::Error no_model(const fair_regression::BoundedLossResult& fit) {
    if (fit.proof)
        return base::make_error(Reason::kProvenImpossible,
                                "no mixture of predictors keeps every group's loss below its bound "
                                "zeta: proven with a margin of {:.6f}",
                                fit.proof->margin);
    return base::make_error(Reason::kNoModelFound,
                            "no mixture was found that keeps every group's loss below its bound "
                            "zeta (least excess {:.6f}), nor a proof that there is none",
                            fit.least_violation);
}

Result<Learned> FairRegression::learn(const Task& task, const OptionValues& values) const {
    RAMPART_TRY(const auto settings, settings_of(values));
    const fair_regression::LabelRange range{task.label_lo, task.label_hi};
    RAMPART_TRY(const auto table, fair_regression::regression_table(task.train, range));
    std::optional<fair_regression::RegressionTable> held;
    if (task.validation != nullptr) {
        RAMPART_TRY(held, fair_regression::regression_table(*task.validation, range));
    }
    const auto rows = table.rows();
    const auto judges = held ? std::optional(held->rows()) : std::nullopt;
    RAMPART_TRY(const auto step, step_of(values, settings.loss, task));
    RAMPART_TRY(auto asked, oracle_of(settings, values, task));
    WatchedOracle oracle(std::move(asked), task, values.integer("max_oracle_calls"));
    const auto learned = [&](const Served& served, boost::json::object figures) -> Result<Learned> {
        Learned out;
        RAMPART_TRY(out.link, fair_regression::score_link(served.models, served.levels, step));
        figures["members"] = served.models.size();
        figures["trees"] = out.link.trees();
        out.figures = boost::json::serialize(figures);
        out.state.regression_loss = fair_regression::stored(settings.loss);
        return out;
    };
    const auto* judge = judges ? &*judges : nullptr;
    if (settings.parity) {
        RAMPART_TRY(const auto fit,
                    fair_regression::fit_parity(rows, settings.loss, settings.statistical_parity,
                                                oracle, judge));
        return learned(served_of(fit, settings.statistical_parity.levels), figures_of(fit));
    }
    RAMPART_TRY(const auto fit,
                fair_regression::fit_bounded_loss(rows, settings.loss, settings.bounded_group_loss,
                                                  oracle, judge));
    if (fit.outcome != fair_regression::BoundedLossOutcome::kFeasible) return no_model(fit);
    return learned(served_of(fit), figures_of(fit));
}

}  // namespace

const Learner& fair_regression_learner() {
    static const FairRegression learner;
    return learner;
}

}  // namespace rampart::learning
