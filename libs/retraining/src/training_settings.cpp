#include "rampart/retraining/training_settings.hpp"

#include <algorithm>

#include "rampart/base/limits.hpp"
#include "rampart/learning/learner.hpp"

namespace rampart::retraining {
namespace {

constexpr double kLeastShare = 1e-6;  // what champion and challenger have each

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

void read_on_certified(config::Table& table, TrainingSettings& settings) {
    const auto word = table.choice("on_certified", {"promote", "propose", "challenger"}, "promote");
    const auto approvals = table.integer("approvals", 1, registry::kMostApprovals, 1);
    const auto days = table.integer("proposal_days", 1, 365, 14);
    settings.terms = {static_cast<unsigned>(approvals), base::Duration::days(days)};
    if (word == "propose") settings.on_certified = OnCertified::kPropose;
    if (word == "challenger") {
        settings.on_certified = OnCertified::kChallenger;
        settings.challenger_share = table.number("challenger_share", kLeastShare, 1 - kLeastShare);
    }
    const auto refuse = [&](const char* key, const char* of, const char* wanted) {
        if (word != wanted && table.has(key))
            table.fail(key, fmt::format("is of {}, and training.on_certified is \"{}\": make that "
                                        "\"{}\", or leave this out",
                                        of, word, wanted));
    };
    refuse("approvals", "proposals", "propose");
    refuse("proposal_days", "proposals", "propose");
    refuse("challenger_share", "challengers", "challenger");
}

TrainingWindow read_training_window(config::Table& table) {
    TrainingWindow window;
    window.months = static_cast<int>(table.integer("window_months", 0, 1200, 0));
    window.max_rows = static_cast<size_t>(
        table.integer("max_rows", kFewestRows, base::limits::kMaxRows, kMaxRowsByDefault));
    return window;
}

/// Reads the recipe of a file. `recipe` has what stands in no file.
void read_file(config::Table& table, std::string_view key, const std::filesystem::path& file,
               training::Recipe& recipe) {
    if (const auto read = training::read_recipe_file(file, recipe); !read)
        table.fail(key, read.error().message);
    for (const auto& name : training::recipe_keys())
        if (table.has(name))
            table.fail(name, fmt::format("stands in the recipe: move it there (training.{} is {})",
                                         key, file.string()));
}

/// Reads the recipe that stands in the settings. `recipe` has its post-processor.
void read_here(config::Table& table, training::Recipe& recipe) {
    training::read_recipe(table, recipe);
    training::refuse_ineffective(table, recipe);
}

/// Reads the recipes: files that `recipes` names, the one that `recipe` names, or the table itself.
std::vector<training::Recipe> read_recipes(config::Table& table,
                                           const std::filesystem::path& folder,
                                           const training::Recipe& shared) {
    const auto one = table.string("recipe", "");
    const auto several = table.strings("recipes");
    std::vector<training::Recipe> recipes(std::max<size_t>(1, several.size()), shared);
    if (!one.empty() && table.has("recipes"))
        table.fail("recipes", "stands beside training.recipe: leave one of them out");
    else if (!one.empty())
        read_file(table, "recipe", folder / one, recipes.front());
    else if (!table.has("recipes"))
        read_here(table, recipes.front());
    else if (several.empty() || several.size() > kMaxRecipes)
        table.fail("recipes",
                   fmt::format("names {} files: name 1 to {}", several.size(), kMaxRecipes));
    else
        for (size_t i = 0; i < several.size(); ++i)
            read_file(table, "recipes", folder / several[i], recipes[i]);
    for (size_t i = 0; i < several.size(); ++i)
        for (size_t j = 0; j < i; ++j)
            if (recipes[i].name == recipes[j].name && !recipes[i].name.empty())
                table.fail("recipes", fmt::format("names '{}' twice: runs are recorded by the name "
                                                  "of the file",
                                                  recipes[i].name));
    return recipes;
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

/// Checks a recipe with the settings of the gate.
void check_recipe(config::Table& root, const certification::GateConfig& gate,
                  training::Recipe& recipe) {
    auto training = root.table("training");
    // a search compares with the policy in charge, record by record
    const bool own_scale = gate.at_least || gate.max_weight;
    if (own_scale && !training.has("selection")) recipe.selection = training::Selection::kNone;
    if (own_scale && recipe.selection != training::Selection::kNone)
        training.fail("selection",
                      "compares with the policy in charge, record by record: leave out "
                      "gate.at_least and gate.max_weight, or make it \"none\"");
    if (const auto fault = training::find_fault(recipe)) {
        // a file has been checked by itself, so that only what stands here is left
        auto table = fault->table.empty() ? training : root.table(fault->table);
        table.fail(fault->key, recipe.name.empty() ? fault->error.message
                                                   : fmt::format("recipe {}: {}", recipe.name,
                                                                 fault->error.message));
    }
    if (recipe.kappa > gate.kappa)
        training.fail("kappa", fmt::format("is {}, past gate.kappa = {}: the gate would refuse "
                                           "what is trained",
                                           recipe.kappa, gate.kappa));
}

}  // namespace

TrainingSettings read_training_settings(config::Table& root, const std::filesystem::path& folder) {
    TrainingSettings settings;
    auto training = root.table("training");
    settings.schedule = read_schedule(training);
    read_on_certified(training, settings);
    settings.window = read_training_window(training);
    if (settings.window.max_rows < static_cast<size_t>(settings.schedule.min_examples))
        training.fail("max_rows",
                      fmt::format("is {}, below min_examples = {}: no run would have "
                                  "enough",
                                  settings.window.max_rows, settings.schedule.min_examples));
    auto post = root.table("postprocess");
    training::Recipe shared;
    training::read_postprocess(post, shared);
    settings.recipes = read_recipes(training, folder, shared);
    settings.order = choose(training, "choose", training::kOrders);
    settings.choice_folds = static_cast<int>(training.integer("choice_folds", 2, 10, 3));
    const auto exploration = read_exploration(root.table("exploration"));
    settings.gate = gate::read_gate_settings(root);
    for (auto& recipe : settings.recipes) {
        read_candidate(training, recipe);
        recipe.exploration = exploration;
        check_recipe(root, settings.gate.config, recipe);
    }
    settings.window.seed = settings.recipes.front().seed;
    const bool own_scale = settings.gate.config.at_least || settings.gate.config.max_weight;
    if (own_scale && settings.recipes.size() > 1 && settings.order != training::Order::kListed)
        training.fail("choose",
                      "compares with the policy in charge, record by record: leave out "
                      "gate.at_least and gate.max_weight, or make it \"listed\"");
    return settings;
}

}  // namespace rampart::retraining
