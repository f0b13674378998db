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

std::string_view to_string(Criterion criterion) { return text_of(kCriteria, criterion); }
std::string_view to_string(Selection selection) { return text_of(kSelections, selection); }

base::Result<ChosenLearner> chosen_learner(const Recipe& recipe) {
    ChosenLearner out{.options = recipe.options};
    RAMPART_TRY(out.learner, learning::find_learner(recipe.learner));
    if (out.options.options().empty()) out.options = learning::OptionValues(out.learner->options());
    return out;
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
    const auto output = chosen.learner->capabilities(chosen.options).output;
    if (output == learning::Output::kProbability) return base::ok();
    if (recipe.criterion != Criterion::kNone)
        return base::make_error(Reason::kNotWithLearner,
                                "criterion {} puts a ramp on a probability, and learner {} gives a "
                                "{}: set postprocess.criterion = \"none\", or take another learner",
                                to_string(recipe.criterion), recipe.learner, to_string(output));
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
    for (const auto& criterion : kCriteria) names.emplace_back(criterion.text);
    const auto text = table.choice("criterion", names, names.front());
    for (const auto& criterion : kCriteria)
        if (criterion.text == text) recipe.criterion = criterion.value;
    if (table.has("epsilon")) table.fail("epsilon", "is called tolerance now: rename the key");
    recipe.approval_tolerance = table.number("tolerance", 0, 1, recipe.approval_tolerance);
    recipe.gamma = table.number("gamma", 0, 100, recipe.gamma);
}

base::Status read_recipe_file(const std::filesystem::path& file, Recipe& recipe) {
    RAMPART_TRY(auto root, config::parse_file(file));
    read_recipe(root, recipe);
    if (root.has("postprocess")) {
        auto post = root.table("postprocess");
        read_postprocess(post, recipe);
    }
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
    if (recipe.criterion == Criterion::kNone) return out;
    return out + "\n[postprocess]\n" +
           learning::to_toml("criterion", std::string(to_string(recipe.criterion))) +
           learning::to_toml("tolerance", recipe.approval_tolerance) +
           learning::to_toml("gamma", recipe.gamma);
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
    add("criterion", to_string(r.criterion));
    add("approval_tolerance", r.approval_tolerance);
    add("gamma", r.gamma);
    add("exploration", static_cast<int>(r.exploration.mode));
    add("epsilon", r.exploration.epsilon);
    add("kappa", r.kappa);
    add("max_links", r.max_links);
    add("seed", r.seed);
    add("selection", to_string(r.selection));
    add("selection_folds", r.selection_folds);
    add("selection_evaluations", r.selection_evaluations);
    add("selection_power", r.selection_power);
    return hash.finish();
}

}  // namespace rampart::training
