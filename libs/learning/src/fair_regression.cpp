#include <fmt/ranges.h>

#include <algorithm>

#include "learners.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/fair_regression/bounded_loss.hpp"
#include "rampart/fair_regression/loss_names.hpp"
#include "rampart/fair_regression/parity.hpp"
#include "rampart/fair_regression/serving.hpp"
#include "rampart/learning/groups_to_come.hpp"
#include "rampart/learning/reasons.hpp"
#include "regression_options.hpp"
#include "regression_story.hpp"
#include "tree_options.hpp"

namespace rampart::learning {
namespace {

using base::Result;
using fair_regression::RegressionLoss;
using reductions::Oracle;

/// Condition under which options of statistical parity have an effect.
constexpr std::string_view kParity = "notion=statistical_parity";

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
    RAMPART_TRY(s.loss, loss_of(values));
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
                                "`zeta` is missing: notion bounded_group_loss needs the bound of a "
                                "group's mean {} loss",
                                values.text("loss"));
    s.line.ridge = values.number("ridge");
    return s;
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
    std::string text;  // for people
};

Served served_of(const fair_regression::ParityRegressionResult& fit, int levels) {
    Served out{{}, levels, ""};
    for (const auto& member : fit.members) out.models.push_back({&member.model, member.weight});
    out.text = fmt::format("one of {} members is drawn, its score is one of {} levels",
                           out.models.size(), levels + 1);
    return out;
}

Served served_of(const fair_regression::BoundedLossResult& fit) {
    if (fit.averaged && fit.averaged->no_worse)
        return {{{&fit.averaged->model, 1}},
                0,
                fmt::format("one predictor, the mean of {}", fit.members.size())};
    Served out;
    for (const auto& member : fit.members) out.models.push_back({&member.model, member.weight});
    out.text = fmt::format("a mixture of {} members", out.models.size());
    return out;
}

class FairRegression : public Learner {
  public:
    std::string_view name() const override { return "fair-regression"; }
    std::string_view summary() const override {
        return "a number or a risk whose scores are alike in all groups, or whose loss is bounded "
               "in each";
    }
    std::string_view family() const override { return "regression"; }
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
        RAMPART_RETURN_IF_ERROR(check_steps(values));
        const auto settings = settings_of(values);
        return settings ? base::ok() : settings.error();
    }
    base::Status check_labels(const OptionValues& values,
                              const LabelsToCome& labels) const override {
        return check_step_labels(values, labels);
    }

  protected:
    Result<Learned> learn(const Task& task, const OptionValues& values) const override;
};

/// Options of what is promised and of how rows are decided.
std::vector<Option> notion_options() {
    const std::vector<double> none;
    std::vector<Option> options{
        {"notion",
         std::string("statistical_parity"),
         "statistical_parity: the scores of all groups have the same distribution, up to "
         "`disparity_tolerance`; bounded_group_loss: the mean loss of each group is at most `zeta`",
         0,
         0,
         {"statistical_parity", "bounded_group_loss"},
         {},
         true},
    };
    for (auto& option : loss_options()) options.push_back(std::move(option));
    for (auto& option : std::vector<Option>{
             {"disparity_tolerance",
              fair_regression::ParityRegressionParams{}.epsilon,
              "statistical parity: allowed difference of P(score >= z) between a group and all "
              "rows, at "
              "every z; one value for all groups, or one for each in the order of their names",
              0,
              1,
              {},
              kParity},
             {"zeta",
              none,
              "bounded group loss: bound on a group's mean loss; one value for all groups, or one "
              "for "
              "each in the order of their names",
              0,
              1e6,
              {},
              "notion=bounded_group_loss"},
         })
        options.push_back(std::move(option));
    for (auto& option : step_options()) options.push_back(std::move(option));
    return options;
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
        {"ridge",
         fair_regression::LinearParams{}.ridge,
         "oracle linear: ridge penalty",
         1e-9,
         1e6,
         {},
         "oracle=linear"},
        {"grid", int64_t{parity.levels}, "number of score levels", 1, fair_regression::kMaxLevels},
        {"reduction",
         std::string("loss"),
         "statistical parity: the problem that the oracle solves",
         0,
         0,
         {"loss", "least-squares", "cost-sensitive"},
         kParity},
        {"refine",
         int64_t{parity.refine},
         "statistical parity: more trees, or steps of a linear model, on the Lagrangian itself",
         0,
         1000,
         {},
         kParity},
        {"warm_start_steps",
         int64_t{parity.warm_start_steps},
         "statistical parity: oracle calls from the unconstrained predictor to the first one that "
         "keeps the tolerance",
         0,
         100,
         {},
         kParity},
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
        {"multiplier_bound",
         game.multiplier_bound,
         "method eg: bound on the sum of the multipliers",
         1e-6,
         1e6,
         {},
         "method!=column-generation"},
    };
}

std::vector<Option> FairRegression::options() const {
    auto options = tree_options();
    for (auto& option : options) option.only_with = "oracle=gbdt";
    for (auto* more : {&notion_options, &game_options})
        for (auto& option : more()) options.push_back(std::move(option));
    return options;
}

/// Returns the error of a training without a model: proven impossible, or nothing was found.
base::Error no_model(const fair_regression::BoundedLossResult& fit) {
    if (fit.proof)
        return base::make_error(Reason::kProvenImpossible,
                                "no mixture of predictors keeps every group's loss below its bound "
                                "`zeta`: proven with a margin of {:.6f}",
                                fit.proof->margin);
    return base::make_error(Reason::kNoModelFound,
                            "no mixture was found that keeps every group's loss below its bound "
                            "`zeta` (least excess {:.6f}), nor a proof that there is none",
                            fit.least_violation);
}

/// Checks that each group has rows to judge on.
base::Status check_groups(const dataset::Dataset& validation) {
    std::vector<size_t> count(validation.group_names.size());
    for (const int32_t group : validation.group) ++count[static_cast<size_t>(group)];
    for (size_t g = 0; g < count.size(); ++g)
        if (count[g] == 0)
            return base::make_error(base::Reason::kEmptyGroup,
                                    "the {} validation rows: group '{}' has no rows; merge it with "
                                    "another, or give the part more rows",
                                    validation.rows(), validation.group_names[g]);
    return base::ok();
}

/// What one training works on.
struct Game {
    fair_regression::RegressionTable train;
    std::optional<fair_regression::RegressionTable> validation;
    std::unique_ptr<WatchedOracle> oracle;
};

Result<Game> game_of(const Settings& settings, const Task& task, const OptionValues& values) {
    RAMPART_RETURN_IF_ERROR(check_groups(values, {task.attributes, task.train.group_names}));
    const fair_regression::LabelRange range{task.label_lo, task.label_hi};
    Game game;
    RAMPART_TRY(game.train, fair_regression::regression_table(task.train, range));
    if (task.validation != nullptr) {
        RAMPART_RETURN_IF_ERROR(check_groups(*task.validation));
        RAMPART_TRY(game.validation, fair_regression::regression_table(*task.validation, range));
    }
    RAMPART_TRY(auto asked, oracle_of(settings, values, task));
    game.oracle =
        std::make_unique<WatchedOracle>(std::move(asked), task, values.integer("max_oracle_calls"));
    return game;
}

/// Puts what is served into a link, with its step.
Result<Learned> learned_of(const Served& served, const Settings& settings,
                           const OptionValues& values, const Task& task, RegressionStory& story) {
    RAMPART_TRY(auto stepped,
                stepped_link(served.models, served.levels, values, settings.loss, task));
    Learned out;
    out.link = std::move(stepped.link);
    out.state.regression_loss = fair_regression::stored(settings.loss);
    story.step = stepped.step;
    story.served = served.text;
    return out;
}

Result<Learned> FairRegression::learn(const Task& task, const OptionValues& values) const {
    RAMPART_TRY(const auto settings, settings_of(values));
    RAMPART_TRY(const auto game, game_of(settings, task, values));
    const auto rows = game.train.rows();
    const auto judges = game.validation ? std::optional(game.validation->rows()) : std::nullopt;
    const auto* judge = judges ? &*judges : nullptr;
    RegressionStory story{.parity = settings.parity,
                          .linear = settings.linear,
                          .loss = settings.loss,
                          .levels = settings.statistical_parity.levels,
                          .bounds = settings.parity ? settings.statistical_parity.epsilon
                                                    : settings.bounded_group_loss.zeta,
                          .groups = task.train.group_names,
                          .range = {task.label_lo, task.label_hi},
                          .step = {}};
    if (settings.parity) {
        RAMPART_TRY(const auto fit,
                    fair_regression::fit_parity(rows, settings.loss, settings.statistical_parity,
                                                *game.oracle, judge));
        const auto served = served_of(fit, story.levels);
        RAMPART_TRY(auto learned, learned_of(served, settings, values, task, story));
        tell(story, fit, learned);
        return learned;
    }
    RAMPART_TRY(const auto fit,
                fair_regression::fit_bounded_loss(rows, settings.loss, settings.bounded_group_loss,
                                                  *game.oracle, judge));
    Learned learned;
    if (fit.outcome == fair_regression::BoundedLossOutcome::kFeasible) {
        const auto served = served_of(fit);
        RAMPART_TRY(learned, learned_of(served, settings, values, task, story));
    } else {
        learned.no_model = no_model(fit);
        if (fit.proof)
            story.proof_checked = static_cast<bool>(fair_regression::check_infeasible(
                rows, settings.loss, settings.bounded_group_loss.zeta, *fit.proof, *game.oracle));
    }
    tell(story, fit, learned);
    return learned;
}

}  // namespace

const Learner& fair_regression_learner() {
    static const FairRegression learner;
    return learner;
}

}  // namespace rampart::learning
