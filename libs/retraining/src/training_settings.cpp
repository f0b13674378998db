#include "rampart/retraining/training_settings.hpp"

#include <algorithm>

#include "rampart/learning/learner.hpp"

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

/// Reads the learner and its options. Defaults suit some thousands of rows, as retraining has.
void read_options(config::Table& table, training::Recipe& recipe) {
    recipe.learner = table.string("learner", recipe.learner);
    const auto learner = learning::find_learner(recipe.learner);
    if (!learner) return table.fail("learner", learner.error().message);
    recipe.options = learning::OptionValues((*learner)->options());
    for (const auto& [name, value] :
         std::map<std::string, learning::OptionValue>{{"leaves", int64_t{15}},
                                                      {"l2", 1.0},
                                                      {"early_stopping_rounds", int64_t{20}},
                                                      {"tolerance", 0.02}})
        if (recipe.options.has(name)) recipe.options.set_fallback(name, value);
    for (const auto* other : learning::learners())
        for (const auto& option : other->options())
            if (!recipe.options.has(option.name) && table.has(option.name))
                table.fail(option.name,
                           fmt::format("is an option of learner {} and not of {}: leave it out",
                                       other->name(), recipe.learner));
    learning::read_options(table, recipe.options);
}

void read_learner(config::Table& table, training::Recipe& recipe) {
    recipe.seed = static_cast<uint64_t>(table.integer("seed", 0, INT64_MAX, 1));
    read_options(table, recipe);
    recipe.allow_infeasible = table.boolean("allow_infeasible", recipe.allow_infeasible);
    recipe.validation_fraction =
        table.number("validation_fraction", 0.05, 0.5, recipe.validation_fraction);
    recipe.ipw_cap = table.number("ipw_cap", 1, 1e6, recipe.ipw_cap);
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
    if (const auto sound = training::validate(settings.recipe); !sound)
        training.fail("learner", sound.error().message);
    if (settings.recipe.kappa > settings.gate.config.kappa) {
        training.fail(
            "kappa",
            fmt::format("is {}, past gate.kappa = {}: the gate would refuse what is trained",
                        settings.recipe.kappa, settings.gate.config.kappa));
    }
    if (settings.recipe.selection != training::Selection::kNone &&
        (settings.gate.config.at_least || settings.gate.config.max_weight)) {
        training.fail("selection",
                      "compares with the policy in charge, record by record: leave out "
                      "gate.at_least and gate.max_weight, or make it \"none\"");
    }
    return settings;
}

}  // namespace rampart::retraining
