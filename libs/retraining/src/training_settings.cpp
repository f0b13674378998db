#include "rampart/retraining/training_settings.hpp"

#include "rampart/constraints/parse.hpp"
#include "rampart/fairness/rate_constraints.hpp"

namespace rampart::retraining {
namespace {

Schedule read_schedule(config::Table& table) {
    Schedule schedule;
    schedule.every_months = static_cast<int>(table.integer("every_months", 0, 600, 1));
    schedule.every_matured = table.integer("every_matured", 0, 1'000'000'000, 0);
    schedule.min_examples = table.integer("min_examples", 50, 1'000'000'000, 500);
    if (schedule.every_months == 0 && schedule.every_matured == 0) {
        table.fail("every_months",
                   "is 0, and so is every_matured: no training run would ever be due");
    }
    return schedule;
}

void read_learner(config::Table& table, training::Recipe& recipe) {
    recipe.seed = static_cast<uint64_t>(table.integer("seed", 0, INT64_MAX, 1));
    recipe.learner = table.choice("learner", {"gbdt", "fairgbm"}, "gbdt");
    recipe.constraints = table.strings("constraints");
    for (const auto& name : recipe.constraints) {
        if (const auto parsed = fairness::parse_parity(name, 0); !parsed)
            table.fail("constraints", parsed.error().message);
    }
    if (recipe.learner == "fairgbm" && recipe.constraints.empty()) recipe.constraints = {"fnr"};
    recipe.tolerance = table.number("tolerance", 0, 0.999, recipe.tolerance);
    recipe.multiplier_step = table.number("multiplier_step", 1e-6, 1e6, recipe.multiplier_step);
    recipe.allow_infeasible = table.boolean("allow_infeasible", recipe.allow_infeasible);
    recipe.validation_fraction =
        table.number("validation_fraction", 0.05, 0.5, recipe.validation_fraction);
    recipe.ipw_cap = table.number("ipw_cap", 1, 1e6, recipe.ipw_cap);
    recipe.params.trees = static_cast<int>(table.integer("trees", 1, 20'000, 200));
    recipe.params.leaves = static_cast<int>(table.integer("leaves", 2, 4096, 15));
    recipe.params.learning_rate = table.number("learning_rate", 1e-4, 1, 0.05);
    recipe.params.min_rows_in_leaf =
        static_cast<int>(table.integer("min_rows_in_leaf", 1, 1'000'000, 20));
    recipe.params.l2 = table.number("l2", 0, 1e6, 1.0);
    recipe.params.early_stopping_rounds =
        static_cast<int>(table.integer("early_stopping_rounds", 0, 10'000, 20));
    recipe.params.seed = recipe.seed;
    recipe.kappa = table.number("kappa", 0.01, 1, recipe.kappa);
    recipe.selection = table.choice("selection", {"none", "cma_es"}, "none");
    recipe.selection_evaluations = static_cast<int>(
        table.integer("selection_evaluations", 1, 100'000, recipe.selection_evaluations));
    recipe.selection_folds =
        static_cast<int>(table.integer("selection_folds", 2, 20, recipe.selection_folds));
    recipe.selection_power = table.number("selection_power", 0.51, 0.9999, recipe.selection_power);
    recipe.max_links = static_cast<int>(table.integer("max_links", 2, 64, recipe.max_links));
}

model::Exploration read_exploration(config::Table table) {
    model::Exploration exploration;
    const auto mode = table.choice("mode", {"none", "one_sided", "two_sided"}, "one_sided");
    exploration.mode = mode == "none"        ? model::ExplorationMode::kNone
                       : mode == "one_sided" ? model::ExplorationMode::kOneSided
                                             : model::ExplorationMode::kTwoSided;
    exploration.epsilon = table.number("epsilon", 0, 0.499, 0.05);
    return exploration;
}

/// By which bound and from which estimate the gate decides.
void read_estimate(config::Table& gate, certification::GateConfig& config) {
    using certification::Bound;
    using certification::Centres;
    const auto bound =
        gate.choice("bound", {"betting", "student_t", "hoeffding", "maurer_pontil"}, "betting");
    for (const Bound b :
         {Bound::kBetting, Bound::kStudentT, Bound::kHoeffding, Bound::kMaurerPontil}) {
        if (to_string(b) == bound) config.bound = b;
    }
    const auto centres = gate.choice(
        "centres", {"per_action", "single", "none", "best", "regression"}, "per_action");
    for (const Centres c : {Centres::kPerAction, Centres::kSingle, Centres::kNone, Centres::kBest,
                            Centres::kRegression}) {
        if (to_string(c) == centres) config.centres = c;
    }
    config.min_power = gate.number("min_power", 0, 1, 0.5);
    if (gate.has("at_least")) config.at_least = gate.number("at_least", -1e9, 1e9);
    if (gate.has("max_weight")) config.max_weight = gate.number("max_weight", 1, 1000);
}

/// [[gate.constraint]]: names and texts; what they mention is looked up when schema and groups are
/// known.
void read_constraints(config::Table& gate, certification::GateConfig& config) {
    for (auto& table : gate.tables("constraint")) {
        certification::NamedConstraint named{table.string("name"), table.string("expression")};
        const auto parsed = constraints::parse(named.expression);
        if (!parsed) table.fail("expression", parsed.error().message);
        config.named_constraints.push_back(std::move(named));
    }
}

}  // namespace

TrainingSettings read_training_settings(config::Table& root) {
    TrainingSettings settings;
    auto training = root.table("training");
    settings.schedule = read_schedule(training);
    read_learner(training, settings.recipe);
    auto post = root.table("postprocess");
    settings.recipe.criterion = post.choice("criterion", {"none", "statistical_parity"}, "none");
    settings.recipe.epsilon = post.number("epsilon", 0, 1, settings.recipe.epsilon);
    settings.recipe.gamma = post.number("gamma", 0, 100, settings.recipe.gamma);
    settings.recipe.exploration = read_exploration(root.table("exploration"));
    auto gate = root.table("gate");
    settings.gate.delta_epoch = gate.number("delta_epoch", 1e-9, 0.5, 0.1);
    settings.gate.runs_per_epoch =
        static_cast<unsigned>(gate.integer("runs_per_epoch", 1, 1000, 12));
    read_estimate(gate, settings.gate);
    settings.gate.kappa = gate.number("kappa", 0.01, 1, 0.5);
    settings.distilled_kappa = gate.number("distilled_kappa", 0.01, 10, settings.distilled_kappa);
    if (settings.recipe.kappa > settings.gate.kappa) {
        training.fail(
            "kappa",
            fmt::format("is {}, past gate.kappa = {}: the gate would refuse what is trained",
                        settings.recipe.kappa, settings.gate.kappa));
    }
    if (settings.recipe.selection != "none" &&
        (settings.gate.at_least || settings.gate.max_weight)) {
        training.fail("selection",
                      "compares with the policy in charge, record by record: leave out "
                      "gate.at_least and gate.max_weight, or make it \"none\"");
    }
    settings.gate.margin = gate.number("margin", 0, 1e9, 0);
    settings.gate.spending =
        gate.choice("spending", {"equal", "by_history"}, "by_history") == "equal"
            ? certification::Spending::kEqual
            : certification::Spending::kByHistory;
    settings.gate.min_units =
        static_cast<unsigned>(gate.integer("min_units_per_group", 2, 1'000'000'000, 100));
    settings.gate.declines_overridden = gate.boolean("declines_overridden", false);
    if (gate.has("max_drift_auc"))
        settings.gate.max_drift_auc = gate.number("max_drift_auc", 0.5, 1);
    settings.drift_weeks =
        static_cast<int>(gate.integer("drift_weeks", 1, 520, settings.drift_weeks));
    settings.gate.calibration_level =
        gate.number("calibration_level", 1e-6, 0.5, settings.gate.calibration_level);
    settings.gate.max_missing_rate = gate.number("max_missing_rate", 0, 1, 0.02);
    if (gate.has("missing_gamma"))
        settings.gate.missing_gamma = gate.number("missing_gamma", 0, 1e9);
    settings.look_again = gate.boolean("look_again", false);
    // a tolerated loss must not add up from promotion to promotion
    settings.anchor = gate.boolean("anchor", settings.gate.margin > 0);
    settings.max_age_months = static_cast<int>(gate.integer("max_age_months", 0, 1200, 0));
    read_constraints(gate, settings.gate);
    return settings;
}

}  // namespace rampart::retraining
