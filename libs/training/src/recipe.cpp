#include "rampart/training/recipe.hpp"

#include <algorithm>

#include "rampart/base/check.hpp"
#include "rampart/learning/option_text.hpp"
#include "rampart/training/reasons.hpp"

namespace rampart::training {
namespace {

template <class E, size_t n>
std::string_view text_of(const std::array<Named<E>, n>& names, E value) {
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const Named<E>& name) { return name.value == value; });
    RAMPART_CHECK(found != names.end(), "value {} has no text", static_cast<int>(value));
    return found->text;
}

}  // namespace

std::string_view to_string(Selection selection) { return text_of(kSelections, selection); }

base::Result<ChosenLearner> chosen_learner(const Recipe& recipe) {
    ChosenLearner out{.options = recipe.options};
    RAMPART_TRY(out.learner, learning::find_learner(recipe.learner));
    if (out.options.options().empty()) out.options = learning::OptionValues(out.learner->options());
    return out;
}

base::Result<ChosenPostprocessor> chosen_postprocessor(const Recipe& recipe) {
    ChosenPostprocessor out{.values = recipe.postprocess};
    RAMPART_TRY(out.postprocessor, postprocessing::find_postprocessor(recipe.criterion));
    if (out.values.options().empty())
        out.values = learning::OptionValues(out.postprocessor->options());
    return out;
}

bool decides_by_group(const Recipe& recipe) {
    const auto chosen = chosen_postprocessor(recipe);
    return chosen && chosen->needs().groups_to_decide;
}

double gamma_of(const Recipe& recipe) {
    const auto post = chosen_postprocessor(recipe);
    return post && post->values.has("gamma") ? post->values.number("gamma") : 0;
}

learning::OptionValues recipe_options(const learning::Learner& learner) {
    struct Fallback {
        std::string_view name;
        learning::OptionValue usual, here;
    };
    static const std::vector<Fallback> fallbacks{
        {"leaves", int64_t{31}, int64_t{15}},
        {"l2", 0.0, 1.0},
        {"early_stopping_rounds", int64_t{50}, int64_t{20}},
        {"tolerance", 0.01, 0.02}};
    learning::OptionValues options(learner.options());
    // a learner whose own fallback differs from that of the others has a reason for it
    for (const auto& [name, usual, here] : fallbacks)
        if (options.has(name) && options.value(name) == usual) options.set_fallback(name, here);
    return options;
}

base::Status validate(const Recipe& recipe) {
    RAMPART_TRY(const auto chosen, chosen_learner(recipe));
    RAMPART_RETURN_IF_ERROR(chosen.learner->check(chosen.options));
    RAMPART_TRY(const auto post, chosen_postprocessor(recipe));
    RAMPART_RETURN_IF_ERROR(post.postprocessor->check(post.values));
    if (recipe.search) RAMPART_RETURN_IF_ERROR(tuning::validate(*recipe.search));
    if (recipe.selection == Selection::kCmaEs && !post.needs().group_model.empty())
        return base::make_error(
            Reason::kBadSelection,
            "selection {} scores all persons, and with postprocess.group = \"blind\" P(group | "
            "features) has learnt from most of them: set training.selection = \"grid\" or \"none\"",
            to_string(recipe.selection));
    const auto output = chosen.learner->capabilities(chosen.options).output;
    if (output == learning::Output::kProbability) return base::ok();
    if (post.needs().any())
        return base::make_error(Reason::kNotWithLearner,
                                "criterion {} and its calibration are put on a probability, and "
                                "learner {} gives a {}: set postprocess.criterion = \"none\" "
                                "without calibration, or take another learner",
                                recipe.criterion, recipe.learner, to_string(output));
    if (recipe.selection == Selection::kCmaEs)
        return base::make_error(Reason::kNotWithLearner,
                                "selection {} moves the threshold of a probability, and learner {} "
                                "gives a {}: set training.selection = \"none\"",
                                to_string(recipe.selection), recipe.learner, to_string(output));
    return base::ok();
}

void read_recipe(config::Table& table, Recipe& recipe) {
    recipe.learner = table.string("learner", recipe.learner);
    const auto learner = learning::find_learner(recipe.learner);
    if (!learner) return table.fail("learner", learner.error().message);
    auto& options = recipe.options;
    options = recipe_options(**learner);
    for (const auto* other : learning::learners())
        for (const auto& option : other->options())
            if (!options.has(option.name) && table.has(option.name))
                table.fail(option.name,
                           fmt::format("is an option of learner {} and not of {}: leave it out",
                                       other->name(), recipe.learner));
    learning::read_options(table, options);
    recipe.allow_infeasible = table.boolean("allow_infeasible", recipe.allow_infeasible);
    recipe.validation_fraction =
        table.number("validation_fraction", 0.05, 0.5, recipe.validation_fraction);
    recipe.ipw_cap = table.number("ipw_cap", 1, 1e6, recipe.ipw_cap);
}

void read_postprocess(config::Table& table, Recipe& recipe) {
    std::vector<std::string> names;
    for (const auto* one : postprocessing::postprocessors()) names.emplace_back(one->name());
    recipe.criterion = table.choice("criterion", names, names.front());
    if (table.has("epsilon")) table.fail("epsilon", "is called tolerance now: rename the key");
    const auto chosen = postprocessing::find_postprocessor(recipe.criterion);
    if (!chosen) return;  // recorded at its key
    recipe.postprocess = learning::OptionValues((*chosen)->options());
    for (const auto* other : postprocessing::postprocessors())
        for (const auto& option : other->options())
            if (!recipe.postprocess.has(option.name) && table.has(option.name))
                table.fail(option.name,
                           fmt::format("is an option of criterion {} and not of {}: leave it out",
                                       other->name(), recipe.criterion));
    learning::read_options(table, recipe.postprocess);
}

namespace {

/// Reads the table [search].
base::Status read_search(config::Table& root, Recipe& recipe) {
    auto table = root.table("search");
    const auto post = chosen_postprocessor(recipe);
    if (!post) return post.error();
    tuning::read_plan(table, recipe.options, post->values, recipe.search.emplace());
    return base::ok();
}

}  // namespace

base::Status read_recipe_file(const std::filesystem::path& file, Recipe& recipe) {
    RAMPART_TRY(auto root, config::parse_file(file));
    recipe.name = file.stem().string();
    read_recipe(root, recipe);
    if (root.has("postprocess")) {
        auto post = root.table("postprocess");
        read_postprocess(post, recipe);
    }
    if (root.has("search")) RAMPART_RETURN_IF_ERROR(read_search(root, recipe));
    RAMPART_RETURN_IF_ERROR(root.finish());
    return validate(recipe);
}

std::string recipe_text(const Recipe& recipe) {
    const Recipe usual;
    std::string out = learning::to_toml("learner", recipe.learner);
    const auto put = [&](std::string_view name, auto value, auto unless) {
        if (value != unless) out += learning::to_toml(name, value);
    };
    if (const auto chosen = chosen_learner(recipe))
        for (const auto& option : chosen->options.options())
            out += learning::to_toml(option.name, chosen->options.value(option.name));
    put("allow_infeasible", recipe.allow_infeasible, usual.allow_infeasible);
    put("validation_fraction", recipe.validation_fraction, usual.validation_fraction);
    put("ipw_cap", recipe.ipw_cap, usual.ipw_cap);
    if (const auto post = chosen_postprocessor(recipe); post && post->needs().any()) {
        out += "\n[postprocess]\n" + learning::to_toml("criterion", recipe.criterion);
        for (const auto& option : post->values.options())
            out += learning::to_toml(option.name, post->values.value(option.name));
    }
    return recipe.search ? out + "\n" + tuning::to_toml(*recipe.search) : out;
}

base::Digest digest_of(const Recipe& r) {
    base::Sha256 hash;
    const auto add = [&](std::string_view name, auto&& value) {
        hash.update_field(fmt::format("{}={}", name, std::forward<decltype(value)>(value)));
    };
    add("learner", r.learner);
    const auto chosen = chosen_learner(r);
    add("options", chosen ? chosen->options.canonical() : std::string());
    add("allow_infeasible", r.allow_infeasible);
    add("validation_fraction", r.validation_fraction);
    add("ipw_cap", r.ipw_cap);
    add("criterion", r.criterion);
    const auto post = chosen_postprocessor(r);
    add("postprocess", post ? post->values.canonical() : std::string());
    add("exploration", static_cast<int>(r.exploration.mode));
    add("epsilon", r.exploration.epsilon);
    add("kappa", r.kappa);
    add("max_links", r.max_links);
    add("seed", r.seed);
    add("selection", to_string(r.selection));
    add("selection_folds", r.selection_folds);
    add("selection_evaluations", r.selection_evaluations);
    add("selection_power", r.selection_power);
    if (r.search) add("search", tuning::to_toml(*r.search));
    return hash.finish();
}

}  // namespace rampart::training
