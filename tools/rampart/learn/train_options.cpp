#include "learn/train_options.hpp"

#include <fmt/ranges.h>

#include <functional>

#include "frame/reasons.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/config/table.hpp"
#include "rampart/learning/fair_metric.hpp"
#include "rampart/learning/reasons.hpp"
#include "rampart/training/reasons.hpp"

namespace rampart::cli {
namespace {

using learning::Learner;
using learning::OptionValues;

constexpr const char *kFiles = "Input and output", *kLearning = "Learning", *kSplit = "Split",
                     *kRamp = "Ramp (--postprocess ramp)",
                     *kMetric = "Fair metric (budro, --baseline project)";

std::vector<const Learner*> all_learners() {
    return {learning::learners().begin(), learning::learners().end()};
}

void add_files(CLI::App& command, TrainOptions& o) {
    const std::vector<CLI::Option*> needed{
        command.add_option("--data", o.data, "the table: .csv or .csv.gz"),
        command.add_option("--schema", o.schema, "schema file; see `rampart schema infer`"),
        command.add_option("--out", o.out, "model file to write")};
    for (auto* option : needed) option->required()->group(kFiles);
    command
        .add_option(
            "--cache", o.cache,
            "file or folder that keeps the parsed table, so that the next run starts faster")
        ->group(kFiles);
    command
        .add_option("--resume", o.resume,
                    "model file to continue from, on the same data, where the learner can (gbdt, "
                    "fairgbm); --trees counts its trees")
        ->group(kFiles);
    o.search_option =
        command
            .add_option("--search-state", o.search_state,
                        "file in which the trials of the recipe's [search] are kept, and from "
                        "which an interrupted search goes on (OUT.trials, until the model is "
                        "written)")
            ->group(kFiles);
    command
        .add_flag_callback(
            "--print-recipe",
            [&o, needed] {
                o.print_recipe = true;
                for (auto* option : needed) option->required(false);
            },
            "print the recipe that says the same as the flags, and train nothing; needs no table")
        ->group(kFiles);
}

void add_choice(CLI::App& command, TrainOptions& o) {
    std::vector<std::string> names;
    for (const auto* learner : learning::learners()) names.emplace_back(learner->name());
    auto* learner = command
                        .add_option("--learner", o.learner,
                                    "how the model is trained; `rampart train --learner NAME "
                                    "--help` shows its options")
                        ->check(CLI::IsMember(names))
                        ->capture_default_str()
                        ->group(kLearning);
    command
        .add_option("--recipe", o.recipe,
                    "recipe file that says learner, options and post-processing, in the place of "
                    "the flags: beside it no flag of a learner is taken, nor --allow-infeasible, "
                    "--postprocess and --baseline")
        ->group(kLearning);
    o.of_recipe = {learner};
}

void add_running(CLI::App& command, TrainOptions& o) {
    command.add_option("--seed", o.seed, "seed of the split and of sampling")
        ->capture_default_str()
        ->group(kLearning);
    command
        .add_option("--threads", o.threads,
                    "number of threads, default one per core; the result does not depend on it")
        ->check(CLI::Range(size_t{1}, size_t{256}))
        ->group(kLearning);
}

void add_learning(CLI::App& command, TrainOptions& o) {
    add_choice(command, o);
    add_split_words(command, o.split, kSplit);
    add_running(command, o);
    o.allow_infeasible_option =
        command
            .add_flag("--allow-infeasible", o.allow_infeasible,
                      "write the model also when it misses a constraint; else nothing is written")
            ->group(kLearning);
    auto* baseline =
        command
            .add_option("--baseline", o.baseline,
                        "gbdt, for comparison: reweigh makes label and protected group "
                        "independent; project removes from the features what predicts protected "
                        "attributes")
            ->check(CLI::IsMember({"none", "reweigh", "project"}))
            ->capture_default_str()
            ->group(kLearning);
    o.of_recipe.insert(o.of_recipe.end(), {o.allow_infeasible_option, baseline});
}

void add_ramp(CLI::App& command, TrainOptions& o) {
    o.of_recipe.push_back(
        command
            .add_option("--postprocess", o.postprocess,
                        "ramp: fit a ramp for each group on the validation rows, as `rampart "
                        "postprocess` does; the model then decides by group")
            ->check(CLI::IsMember({"none", "ramp"}))
            ->capture_default_str()
            ->group(kRamp));
    o.of_ramp = {command
                     .add_option("--criterion", o.criterion,
                                 "what has to be alike: statistical_parity, the approval rates; "
                                 "`rampart postprocess` has more")
                     ->check(CLI::IsMember({o.criterion}))
                     ->capture_default_str()
                     ->group(kRamp),
                 command
                     .add_option("--ramp-tolerance", o.ramp_tolerance,
                                 "allowed difference of the approval rate between groups (of a "
                                 "recipe: 0.05)")
                     ->check(CLI::Range(0.0, 1.0))
                     ->capture_default_str()
                     ->group(kRamp),
                 command
                     .add_option("--gamma", o.gamma,
                                 "width of the band of scores (in [-1, 1]) in which approval is "
                                 "drawn; 0: a threshold (of a recipe: 0.3)")
                     ->capture_default_str()
                     ->group(kRamp)};
    o.of_recipe.insert(o.of_recipe.end(), o.of_ramp.begin(), o.of_ramp.end());
}

void add_metric(CLI::App& command, TrainOptions& o) {
    add_metric_options(command, o.metric, kMetric);
    o.of_metric = o.metric.options;
    o.of_recipe.insert(o.of_recipe.end(), o.of_metric.begin(), o.of_metric.end());
}

void add_metric_results(CLI::App& command, TrainOptions& o) {
    o.of_metric.push_back(
        command.add_option("--save-metric", o.save_metric, "file to write the fair metric to")
            ->group(kMetric));
    o.of_metric.push_back(
        command
            .add_option("--counterfactual", o.counterfactuals,
                        "FEATURE=VALUE,VALUE or FEATURE*FEATURE: report the share of rows with "
                        "the same decision for all these values; may be repeated")
            ->group(kMetric));
}

void add_flags(CLI::App& command, TrainOptions& o) {
    std::vector<std::string_view> of_metric;
    const auto metric = learning::metric_options();
    for (const auto& option : metric) of_metric.push_back(option.name);
    o.flags = std::make_unique<LearnerFlags>(command, all_learners(), of_metric);
}

/// Puts what the flags of the fair metric say into the learner's options, where it has them.
base::Status put_metric(const MetricOptions& o, OptionValues& values) {
    if (!values.has("protected_features")) return base::ok();
    auto directions = o.directions;
    for (auto& direction : directions) std::replace(direction.begin(), direction.end(), ',', '+');
    for (const auto& [name, texts] : {std::pair{"protected_features", o.protected_features},
                                      {"indicators", o.indicators},
                                      {"protected_directions", directions},
                                      {"metric_weights", o.weights}})
        if (!texts.empty()) RAMPART_RETURN_IF_ERROR(values.set(name, texts));
    if (o.scale != values.text("metric_scale"))
        RAMPART_RETURN_IF_ERROR(values.set("metric_scale", o.scale));
    if (o.l2 == values.number("metric_l2")) return base::ok();
    return values.set("metric_l2", o.l2);
}

base::Result<training::Recipe> recipe_of_flags(const TrainOptions& o) {
    training::Recipe recipe;
    recipe.learner = o.learner;
    RAMPART_TRY(const auto* learner, learning::find_learner(o.learner));
    RAMPART_TRY(recipe.options, o.flags->values(*learner));
    RAMPART_RETURN_IF_ERROR(put_metric(o.metric, recipe.options));
    recipe.allow_infeasible = o.allow_infeasible;
    if (o.postprocess == "ramp") {
        recipe.criterion = o.criterion;
        RAMPART_TRY(const auto post, training::chosen_postprocessor(recipe));
        recipe.postprocess = post.values;
        RAMPART_RETURN_IF_ERROR(recipe.postprocess.set("tolerance", o.ramp_tolerance));
        RAMPART_RETURN_IF_ERROR(recipe.postprocess.set("gamma", o.gamma));
    }
    const auto sound = training::validate(recipe);
    if (sound) return recipe;
    auto error = sound.error();
    if (error.is(training::Reason::kNotWithLearner))
        return base::make_error(Reason::kTwoRules,
                                "--postprocess ramp puts a ramp on a probability, and learner {} "
                                "gives a {}: leave it out, or take {} that gives a probability",
                                o.learner, to_string(learner->capabilities(recipe.options).output),
                                recipe.options.has("output") ? "--output best" : "a learner");
    error.message = with_flags(std::move(error.message), *learner);
    return error;
}

base::Result<training::Recipe> recipe_of_file(const TrainOptions& o) {
    auto flags = o.flags->given();
    for (const auto* option : o.of_recipe)
        if (option->count() > 0) flags.push_back(option->get_name());
    if (!flags.empty())
        return base::make_error(base::Reason::kBadUsage,
                                "{} beside --recipe {}: the recipe says how the model is trained; "
                                "change it, or leave --recipe out",
                                fmt::join(flags, ", "), o.recipe);
    training::Recipe recipe;
    RAMPART_RETURN_IF_ERROR(training::read_recipe_file(o.recipe, recipe));
    return recipe;
}

/// Returns a note on the recipe's keys that only scheduled training reads; empty: it has none.
std::vector<std::string> of_the_loop(const std::string& file) {
    const auto keys = config::parse_file(file);
    if (!keys) return {};  // read before
    std::vector<std::string_view> found;
    for (const auto key : training::kLoopKeys)
        if (keys->has(key)) found.push_back(key);
    if (found.empty()) return {};
    return {
        fmt::format("{}: {}: read by scheduled training only; --split parts the rows of a table",
                    file, fmt::join(found, ", "))};
}

/// Checks what goes with --baseline.
base::Status check_baseline(const TrainOptions& o, const TrainPlan& plan) {
    if (o.baseline == "none") return base::ok();
    const auto& values = plan.values();
    const bool alone = o.learner == "gbdt" && o.resume.empty() && !plan.has_ramp() &&
                       values.texts("monotone").empty() && values.texts("interactions").empty();
    if (o.baseline == "project" && !alone)
        return base::make_error(Reason::kNotWithProject,
                                "--baseline project changes what the features are: it goes "
                                "with --learner gbdt, without --resume, --postprocess, "
                                "--monotone and --interactions");
    if (o.learner == "gbdt") return base::ok();
    return base::make_error(Reason::kNotWithBaseline,
                            "--baseline {} is of plain boosting: take --learner gbdt", o.baseline);
}

/// Names the learners that have a capability: "budro".
std::string learners_that(const std::function<bool(const learning::Capabilities&)>& can) {
    std::vector<std::string_view> names;
    for (const auto* learner : learning::learners())
        if (can(learner->capabilities(OptionValues(learner->options()))))
            names.push_back(learner->name());
    return fmt::format("--learner {}", fmt::join(names, " or "));
}

}  // namespace

void add_train_options(CLI::App& command, TrainOptions& o) {
    add_files(command, o);
    add_learning(command, o);
    add_flags(command, o);
    o.report_option =
        command
            .add_option("--report", o.report,
                        "fair-regression: HTML page with the distribution of the scores in each "
                        "group")
            ->group(kFiles);
    add_ramp(command, o);
    add_metric(command, o);
    add_metric_results(command, o);
}

void add_recipe_options(CLI::App& command, TrainOptions& o) {
    add_choice(command, o);
    add_running(command, o);
    add_flags(command, o);
    add_ramp(command, o);
    add_metric(command, o);
}

bool TrainPlan::has_ramp() const {
    const auto post = training::chosen_postprocessor(recipe);
    return post && post->needs().any();
}

base::Result<TrainPlan> plan_of(const TrainOptions& o) {
    TrainPlan plan;
    if (o.recipe.empty()) {
        RAMPART_TRY(plan.recipe, recipe_of_flags(o));
    } else {
        RAMPART_TRY(plan.recipe, recipe_of_file(o));
    }
    plan.written = plan.recipe;
    RAMPART_TRY(plan.learner, learning::find_learner(plan.recipe.learner));
    plan.can = plan.learner->capabilities(plan.values());
    RAMPART_RETURN_IF_ERROR(check_baseline(o, plan));
    if (!o.resume.empty() && plan.recipe.search)
        return base::make_error(base::Reason::kBadUsage,
                                "--resume {} beside the [search] of {}: a search learns from "
                                "scratch; leave one of them out",
                                o.resume, o.recipe);
    if (!o.resume.empty() && !plan.can.resume)
        return base::make_error(learning::Reason::kCannotLearn,
                                "--resume {}: learner {} does not go on from a model", o.resume,
                                plan.recipe.learner);
    return plan;
}

base::Status check_recipe_says_all(const TrainOptions& o) {
    std::vector<std::string> more;
    if (o.baseline != "none") more.emplace_back("--baseline");
    if (!o.metric.metric.empty()) more.emplace_back("--metric");
    if (!o.metric.pairs.empty()) more.emplace_back("--compared-pairs");
    const bool others = !o.metric.protected_features.empty() || !o.metric.indicators.empty() ||
                        !o.metric.directions.empty();
    if (!o.metric.from.empty() && others) more.emplace_back("--metric-from");
    if (more.empty()) return base::ok();
    return base::make_error(base::Reason::kBadUsage, "a recipe has nothing that says {}",
                            fmt::join(more, ", "));
}

bool needs_metric(const TrainOptions& o, const TrainPlan& plan) {
    return plan.can.attributes || o.baseline == "project";
}

std::vector<std::string> ineffective(const TrainOptions& o, const TrainPlan& plan) {
    if (o.search_option != nullptr && o.search_option->count() > 0 && !plan.recipe.search)
        return {fmt::format("{} has no effect without a recipe that has a [search]",
                            o.search_option->get_name())};
    if (!o.recipe.empty()) return of_the_loop(o.recipe);
    std::vector<std::string_view> used;
    if (o.baseline == "project") used = {"epsilon", "attack_memory"};
    auto notes = o.flags->ineffective(plan.values(), used);
    const auto note = [&](const CLI::Option* option, std::string_view needs) {
        if (option != nullptr && option->count() > 0)
            notes.push_back(fmt::format("{} has no effect without {}", option->get_name(), needs));
    };
    if (!plan.values().has("constraints"))
        note(o.allow_infeasible_option,
             fmt::format("--learner {}", fmt::join(o.flags->owners("constraints"), ", ")));
    if (plan.learner->family() != "regression") note(o.report_option, "--learner fair-regression");
    if (!needs_metric(o, plan))
        for (const auto* option : o.of_metric)
            note(option, learners_that([](const auto& can) { return can.attributes; }) +
                             " or --baseline project");
    if (!plan.has_ramp())
        for (const auto* option : o.of_ramp) note(option, "--postprocess ramp");
    return notes;
}

}  // namespace rampart::cli
