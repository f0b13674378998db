#include "rampart/retraining/training_settings.hpp"

#include <algorithm>

#include "rampart/fairness/rate_constraints.hpp"

namespace rampart::retraining {
namespace {

/// Reads one of `names`, by default the first.
template <class E, size_t n>
E choose(config::Table& table, std::string_view key,
         const std::array<training::Named<E>, n>& names) {
    std::vector<std::string> texts;
    for (const auto& name : names) texts.emplace_back(name.text);
    const auto text = table.choice(key, texts, texts.front());
    const auto found = std::find(texts.begin(), texts.end(), text);
    return names[static_cast<size_t>(found - texts.begin())].value;
}

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
    recipe.learner = choose(table, "learner", training::kLearners);
    recipe.constraints = table.strings("constraints");
    for (const auto& name : recipe.constraints) {
        if (const auto parsed = fairness::parse_parity(name, 0); !parsed)
            table.fail("constraints", parsed.error().message);
    }
    if (recipe.learner == training::Learner::kFairGbm && recipe.constraints.empty())
        recipe.constraints = {"fnr"};
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
    recipe.selection = choose(table, "selection", training::kSelections);
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

}  // namespace

TrainingSettings read_training_settings(config::Table& root) {
    TrainingSettings settings;
    auto training = root.table("training");
    settings.schedule = read_schedule(training);
    read_learner(training, settings.recipe);
    auto post = root.table("postprocess");
    settings.recipe.criterion = choose(post, "criterion", training::kCriteria);
    if (post.has("epsilon")) post.fail("epsilon", "is called tolerance now: rename the key");
    settings.recipe.approval_tolerance =
        post.number("tolerance", 0, 1, settings.recipe.approval_tolerance);
    settings.recipe.gamma = post.number("gamma", 0, 100, settings.recipe.gamma);
    settings.recipe.exploration = read_exploration(root.table("exploration"));
    settings.gate = gate::read_gate_settings(root);
    if (settings.recipe.kappa > settings.gate.config.kappa) {
        training.fail(
            "kappa",
            fmt::format("is {}, past gate.kappa = {}: the gate would refuse what is trained",
                        settings.recipe.kappa, settings.gate.config.kappa));
    }
    // a search compares with the policy in charge, record by record
    if (settings.gate.config.at_least || settings.gate.config.max_weight) {
        if (!training.has("selection")) settings.recipe.selection = training::Selection::kNone;
        if (settings.recipe.selection != training::Selection::kNone) {
            training.fail("selection",
                          "compares with the policy in charge, record by record: leave out "
                          "gate.at_least and gate.max_weight, or make it \"none\"");
        }
    }
    return settings;
}

}  // namespace rampart::retraining
