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

/// Reads the learner with its options, from the file that the key `recipe` names or from the table.
void read_learner(config::Table& table, const std::filesystem::path& folder,
                  training::Recipe& recipe) {
    const auto file = table.string("recipe", "");
    if (file.empty()) return training::read_recipe(table, recipe);
    if (table.has("learner"))
        table.fail("learner", "stands in the recipe that training.recipe names: leave it out here");
    if (const auto read = training::read_recipe_file(folder / file, recipe); !read)
        table.fail("recipe", read.error().message);
}

void read_candidate(config::Table& table, training::Recipe& recipe) {
    recipe.seed = static_cast<uint64_t>(table.integer("seed", 0, INT64_MAX, 1));
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

TrainingSettings read_training_settings(config::Table& root, const std::filesystem::path& folder) {
    TrainingSettings settings;
    auto training = root.table("training");
    settings.schedule = read_schedule(training);
    auto post = root.table("postprocess");
    training::read_postprocess(post, settings.recipe);
    read_learner(training, folder, settings.recipe);
    read_candidate(training, settings.recipe);
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
