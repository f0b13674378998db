#include "rampart/training/recipe.hpp"

#include <algorithm>
#include <limits>

#include "rampart/base/check.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/learning/option_text.hpp"
#include "rampart/learning/reasons.hpp"
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

/// Returns the options that have an effect as lines of a recipe. A threshold that was not given is
/// left out: each reader has its own in its place.
std::string options_text(const learning::OptionValues& values) {
    std::string out;
    for (const auto& option : values.options())
        if (learning::has_effect(values, option) &&
            (option.name != "threshold" || values.given(option.name)))
            out += learning::to_toml(option.name, values.value(option.name));
    return out;
}

bool any_changed(const learning::OptionValues& values) {
    const auto& options = values.options();
    return std::any_of(options.begin(), options.end(), [&](const auto& option) {
        return values.value(option.name) != option.fallback;
    });
}

/// Returns the option that the error names or, without one, `otherwise`.
std::string key_of(const base::Error& error, const learning::OptionValues& values,
                   std::string_view otherwise) {
    const auto named = learning::option_named_in(error.message, values.options());
    return std::string(named.empty() ? otherwise : named);
}

/// Checks what goes with start = "champion".
std::optional<Fault> fault_of_start(const Recipe& recipe, const ChosenLearner& chosen) {
    if (recipe.start != Start::kChampion) return std::nullopt;
    const auto fault = [](const char* key, const std::string& why) {
        return Fault{"", key, base::make_error(Reason::kNotFromChampion, "{}", why)};
    };
    const auto& [learner, options] = chosen;
    if (!learner->capabilities(options).resume || !options.has("trees"))
        return fault("start", fmt::format("start is \"champion\", and learner {} does not go on "
                                          "from a model: set start = \"scratch\", or take a "
                                          "learner that does, as gbdt",
                                          recipe.learner));
    if (recipe.search)
        return fault("start",
                     "start is \"champion\", and a search values options from scratch: "
                     "leave out the table [search], or set start = \"scratch\"");
    if (recipe.selection == Selection::kCmaEs)
        return fault("selection",
                     "selection cma_es scores persons by models that have not learnt from them, "
                     "and with start = \"champion\" the champion has learnt from most: set "
                     "training.selection = \"grid\" or \"none\"");
    const int64_t least = options.integer("trees") + recipe.more_trees;
    if (recipe.most_trees < least)
        return fault(
            "most_trees",
            fmt::format("most_trees is {}, and a model of all its trees ({}) could not go "
                        "on by more_trees = {}: set at least {}",
                        recipe.most_trees, options.integer("trees"), recipe.more_trees, least));
    return std::nullopt;
}

/// Checks what goes with label = "impact".
std::optional<Fault> fault_of_label(const Recipe& recipe, const ChosenLearner& chosen) {
    if (recipe.label != Label::kImpact) return std::nullopt;
    const auto fault = [](const char* key, const std::string& why) {
        return Fault{"", key, base::make_error(learning::Reason::kCannotLearn, "{}", why)};
    };
    const auto& [learner, options] = chosen;
    if (!learner->capabilities(options).numbers)
        return fault("label", fmt::format("label is \"impact\", a number, and learner {} learns "
                                          "labels of two values: take fair-regression or "
                                          "regression-trees, or leave it out",
                                          recipe.learner));
    constexpr double kAny = std::numeric_limits<double>::infinity();  // the range is not known here
    if (const auto fits = learner->check_labels(options, {true, -kAny, kAny}); !fits)
        return Fault{"", key_of(fits.error(), options, "label"), fits.error()};
    const auto loss = options.has("loss") ? options.text("loss") : std::string();
    if (loss == "logistic" || loss == "poisson")
        return fault("loss", fmt::format("loss is {}, whose score is no impact, and label = "
                                         "\"impact\" decides by it: take squared, absolute, "
                                         "quantile or huber",
                                         loss));
    if (recipe.search)
        return fault("label",
                     "label is \"impact\", and a search values settings by labels of two "
                     "values: leave out the table [search]");
    return std::nullopt;
}

/// Reads where the learner begins.
void read_start(config::Table& table, Recipe& recipe) {
    const auto text = table.choice(
        "start", {std::string(kStarts[0].text), std::string(kStarts[1].text)}, "scratch");
    recipe.start = text == kStarts[1].text ? Start::kChampion : Start::kScratch;
    for (auto [key, value] : {std::pair{"more_trees", &recipe.more_trees},
                              std::pair{"most_trees", &recipe.most_trees}}) {
        if (recipe.start == Start::kScratch && table.has(key))
            table.fail(key,
                       "has no effect with start = \"scratch\": leave it out, or set start = "
                       "\"champion\"");
        *value = table.integer(key, 1, base::limits::kMaxTrees, *value);
    }
}

void record(config::Table& root, const Fault& fault) {
    auto table = fault.table.empty() ? root : root.table(fault.table);
    table.fail(fault.key, fault.error.message);
}

}  // namespace

std::string_view to_string(Selection selection) { return text_of(kSelections, selection); }
std::string_view to_string(Start start) { return text_of(kStarts, start); }
std::string_view to_string(Label label) { return text_of(kLabels, label); }

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

std::vector<std::string> recipe_keys() {
    std::vector<std::string> keys{"learner", "allow_infeasible"};
    keys.insert(keys.end(), kLoopKeys.begin(), kLoopKeys.end());
    for (const auto* learner : learning::learners())
        for (const auto& option : learner->options()) keys.emplace_back(option.name);
    return keys;
}

std::optional<Fault> find_fault(const Recipe& recipe) {
    const auto chosen = chosen_learner(recipe);
    if (!chosen) return Fault{"", "learner", chosen.error()};
    if (const auto sound = chosen->learner->check(chosen->options); !sound)
        return Fault{"", key_of(sound.error(), chosen->options, "learner"), sound.error()};
    if (auto fault = fault_of_start(recipe, *chosen)) return fault;
    if (auto fault = fault_of_label(recipe, *chosen)) return fault;
    const auto post = chosen_postprocessor(recipe);
    if (!post) return Fault{"postprocess", "criterion", post.error()};
    if (const auto sound = post->postprocessor->check(post->values); !sound)
        return Fault{"postprocess", key_of(sound.error(), post->values, "criterion"),
                     sound.error()};
    if (recipe.search)
        if (const auto sound = tuning::validate(*recipe.search); !sound)
            return Fault{"search", "trials", sound.error()};
    if (recipe.selection == Selection::kCmaEs && !post->needs().group_model.empty())
        return Fault{
            "", "selection",
            base::make_error(
                Reason::kBadSelection,
                "selection {} scores all persons, and with postprocess.group = \"blind\" P(group "
                "| features) has learnt from most of them: set training.selection = \"grid\" or "
                "\"none\"",
                to_string(recipe.selection))};
    const auto output = chosen->learner->capabilities(chosen->options).output;
    if (output == learning::Output::kProbability) return std::nullopt;
    if (post->needs().any())
        return Fault{"postprocess", recipe.criterion == "none" ? "calibration" : "criterion",
                     base::make_error(
                         Reason::kNotWithLearner,
                         "criterion {} and its calibration are put on a probability, and learner "
                         "{} gives a {}: set postprocess.criterion = \"none\" without "
                         "calibration, or take another learner",
                         recipe.criterion, recipe.learner, to_string(output))};
    if (recipe.selection == Selection::kCmaEs)
        return Fault{
            "", "selection",
            base::make_error(Reason::kNotWithLearner,
                             "selection {} moves the threshold of a probability, and "
                             "learner {} gives a {}: set training.selection = \"none\"",
                             to_string(recipe.selection), recipe.learner, to_string(output))};
    return std::nullopt;
}

base::Status validate(const Recipe& recipe) {
    const auto fault = find_fault(recipe);
    return fault ? base::Status(fault->error) : base::ok();
}

std::optional<Fault> find_misfit(const Recipe& recipe, const RowsToCome& rows) {
    const auto chosen = chosen_learner(recipe);
    if (!chosen) return Fault{"", "learner", chosen.error()};
    const auto& [learner, options] = *chosen;
    const auto can = learner->capabilities(options);
    if (rows.numeric ? !can.numbers : !can.labels)
        return Fault{"", "learner",
                     base::make_error(learning::Reason::kCannotLearn,
                                      "labels are {}, and learner {} learns {}",
                                      rows.numeric ? "numbers" : "of two values", learner->name(),
                                      rows.numeric ? "labels of two values" : "numbers")};
    for (const auto& fits :
         {learning::check_features(options, rows.features),
          learner->check_labels(options, {rows.numeric, rows.label_lo, rows.label_hi})})
        if (!fits) return Fault{"", key_of(fits.error(), options, "learner"), fits.error()};
    const auto post = chosen_postprocessor(recipe);
    if (!post) return Fault{"postprocess", "criterion", post.error()};
    const auto misfit_of_post = [&](const base::Error& error) {
        return Fault{"postprocess", key_of(error, post->values, "criterion"), error};
    };
    const auto strata = postprocessing::feature_strata(post->values, rows.features);
    if (!strata) return misfit_of_post(strata.error());
    if (!rows.groups) return std::nullopt;
    if (const auto fits = learning::check_groups(options, *rows.groups); !fits)
        return Fault{"", key_of(fits.error(), options, "learner"), fits.error()};
    if (const auto fits = postprocessing::check_groups(post->values, *rows.groups); !fits)
        return misfit_of_post(fits.error());
    if (!*strata) return std::nullopt;
    if (const auto fits =
            postprocessing::check_strata_count(post->values, **strata, rows.groups->names.size());
        !fits)
        return misfit_of_post(fits.error());
    return std::nullopt;
}

base::Error located(const Recipe& recipe, const Fault& fault) {
    if (recipe.file.empty()) return fault.error;
    auto root = config::parse_file(recipe.file);
    if (!root) return root.error();
    record(*root, fault);
    return root->finish().error();
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
    learning::refuse_ineffective(table, options);
    recipe.allow_infeasible = table.boolean("allow_infeasible", recipe.allow_infeasible);
    recipe.validation_fraction =
        table.number("validation_fraction", 0.05, 0.5, recipe.validation_fraction);
    recipe.ipw_cap = table.number("ipw_cap", 1, 1e6, recipe.ipw_cap);
    recipe.toward = table.boolean("toward", recipe.toward);
    recipe.least_step = table.number("least_step", 0, 1, recipe.least_step);
    read_start(table, recipe);
    const auto label = table.choice(
        "label", {std::string(kLabels[0].text), std::string(kLabels[1].text)}, "outcome");
    recipe.label = label == kLabels[1].text ? Label::kImpact : Label::kOutcome;
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
    learning::refuse_ineffective(table, recipe.postprocess);
}

void refuse_ineffective(config::Table& table, const Recipe& recipe) {
    const auto chosen = chosen_learner(recipe);
    const auto post = chosen_postprocessor(recipe);
    if (!chosen || !post) return;  // recorded at their keys
    const auto can = chosen->learner->capabilities(chosen->options);
    if (recipe.allow_infeasible && !can.constrained && !post->needs().groups)
        table.fail("allow_infeasible",
                   fmt::format("is true, and has no effect: with these options neither learner {} "
                               "nor criterion {} has constraints that a candidate can miss; leave "
                               "it out, or ask for some",
                               recipe.learner, recipe.criterion));
    if (can.output != learning::Output::kProbability && post->values.has("gamma") &&
        post->values.given("gamma") && table.has("postprocess"))
        table.table("postprocess")
            .fail("gamma",
                  fmt::format("is {}, and has no effect: learner {} gives a {}, which "
                              "decides by its own rule; leave it out",
                              post->values.number("gamma"), recipe.learner, to_string(can.output)));
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
    recipe.file = file;
    read_recipe(root, recipe);
    if (root.has("postprocess")) {
        auto post = root.table("postprocess");
        read_postprocess(post, recipe);
    }
    refuse_ineffective(root, recipe);
    if (root.has("search")) RAMPART_RETURN_IF_ERROR(read_search(root, recipe));
    RAMPART_RETURN_IF_ERROR(root.finish());
    if (const auto fault = find_fault(recipe)) record(root, *fault);
    return root.finish();
}

std::string recipe_text(const Recipe& recipe) {
    const Recipe usual;
    std::string out = learning::to_toml("learner", recipe.learner);
    const auto put = [&](std::string_view name, auto value, auto unless) {
        if (value != unless) out += learning::to_toml(name, value);
    };
    if (const auto chosen = chosen_learner(recipe)) out += options_text(chosen->options);
    put("allow_infeasible", recipe.allow_infeasible, usual.allow_infeasible);
    put("validation_fraction", recipe.validation_fraction, usual.validation_fraction);
    put("ipw_cap", recipe.ipw_cap, usual.ipw_cap);
    put("toward", recipe.toward, usual.toward);
    put("least_step", recipe.least_step, usual.least_step);
    put("label", std::string(to_string(recipe.label)), std::string(to_string(usual.label)));
    put("start", std::string(to_string(recipe.start)), std::string(to_string(usual.start)));
    if (recipe.start == Start::kChampion) {
        put("more_trees", recipe.more_trees, usual.more_trees);
        put("most_trees", recipe.most_trees, usual.most_trees);
    }
    if (const auto post = chosen_postprocessor(recipe);
        post && (post->needs().any() || any_changed(post->values)))
        out += "\n[postprocess]\n" + learning::to_toml("criterion", recipe.criterion) +
               options_text(post->values);
    return recipe.search ? out + "\n" + tuning::to_toml(*recipe.search) : out;
}

base::Digest recipe_digest(const Recipe& recipe) { return base::sha256(recipe_text(recipe)); }

base::Digest settings_digest(const Recipe& r) {
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
    add("toward", r.toward);
    add("least_step", r.least_step);
    add("criterion", r.criterion);
    const auto post = chosen_postprocessor(r);
    add("postprocess", post ? post->values.canonical() : std::string());
    add("exploration", static_cast<int>(r.exploration.mode));
    add("epsilon", r.exploration.epsilon);
    add("kappa", r.kappa);
    add("max_links", r.max_links);
    add("seed", r.split_seed.value_or(r.seed));
    add("selection", to_string(r.selection));
    add("selection_folds", r.selection_folds);
    add("selection_evaluations", r.selection_evaluations);
    add("selection_power", r.selection_power);
    if (r.search) add("search", tuning::to_toml(*r.search));
    if (r.label != Label::kOutcome) add("label", to_string(r.label));
    if (r.start == Start::kChampion)
        add("start", fmt::format("champion {} {}", r.more_trees, r.most_trees));
    return hash.finish();
}

}  // namespace rampart::training
