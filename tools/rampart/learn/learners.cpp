// learners, postprocessors: which there are, and which options each has.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <memory>
#include <string>

#include "frame/commands.hpp"
#include "rampart/learning/learner.hpp"
#include "rampart/postprocessing/postprocessor.hpp"
#include "rampart/training/recipe.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using learning::Learner;
using postprocessing::Postprocessor;

/// Returns the default that is in force in a recipe.
std::string default_of(const learning::OptionValues& values, std::string_view option) {
    if (option == "threshold" && !values.given("threshold"))
        return fmt::format("{}; on the schedule the product's break-even",
                           learning::text_of(values.value(option)));
    return learning::text_of(values.value(option));
}

learning::OptionValues defaults_of(const Learner& learner) {
    return training::recipe_options(learner);
}
learning::OptionValues defaults_of(const Postprocessor& one) {
    return learning::OptionValues(one.options());
}

json::array options_json(const learning::OptionValues& values) {
    json::array options;
    for (const auto& option : values.options())
        options.push_back({{"name", option.name},
                           {"type", describe_type(option)},
                           {"default", learning::text_of(values.value(option.name))},
                           {"help", option.help}});
    return options;
}

json::object to_json(const Learner& learner) {
    const auto values = defaults_of(learner);
    const auto can = learner.capabilities(values);
    return {{"name", learner.name()},         {"summary", learner.summary()},
            {"source", learner.source()},     {"output", to_string(can.output)},
            {"numeric_labels", can.numbers},  {"compares_groups", can.groups},
            {"options", options_json(values)}};
}

json::object to_json(const Postprocessor& one) {
    const learning::OptionValues values(one.options());
    const auto needs = one.needs(values);
    return {{"name", one.name()},
            {"summary", one.summary()},
            {"source", one.source()},
            {"fits_to_labels", needs.labels},
            {"reads_the_group", needs.groups_to_decide},
            {"options", options_json(values)}};
}

/// Describes a learner or a post-processor.
template <class One>
std::string describe(const One& one) {
    const auto values = defaults_of(one);
    auto text = fmt::format("{}: {}\n{}{}\n", one.name(), one.summary(), one.source(),
                            one.source().empty() ? "" : "\n");
    for (const auto& option : values.options()) {
        const auto fallback = default_of(values, option.name);
        text += fmt::format("{:<24} {}\n{:<24} {}{}\n", option.name, option.help, "",
                            describe_type(option),
                            fallback.empty() ? "" : fmt::format("; default: {}", fallback));
    }
    return text;
}

std::string overview() {
    std::string text;
    for (const auto* learner : learning::learners()) {
        const auto can = learner->capabilities(learning::OptionValues(learner->options()));
        text += fmt::format("{:<16} {}\n{:<16} gives a {}{}{}\n", learner->name(),
                            learner->summary(), "", to_string(can.output),
                            can.groups       ? "; needs protected groups"
                            : can.attributes ? "; needs protected attributes for its metric"
                                             : "",
                            can.numbers ? "; also for numeric labels" : "");
    }
    return text;
}

base::Result<Answer> print_learners(const std::string& name) {
    Answer answer;
    json::array found;
    if (name.empty()) {
        for (const auto* learner : learning::learners()) found.push_back(to_json(*learner));
        answer.text = overview();
        answer.notes.emplace_back("`rampart learners NAME` lists the options of one");
    } else {
        RAMPART_TRY(const auto* learner, learning::find_learner(name));
        found.push_back(to_json(*learner));
        answer.text = describe(*learner);
    }
    answer.json = json::serialize(json::object{{"learners", std::move(found)}});
    return answer;
}

base::Result<Answer> print_postprocessors(const std::string& name) {
    Answer answer;
    json::array found;
    if (name.empty()) {
        for (const auto* one : postprocessing::postprocessors()) {
            const auto needs = one->needs(learning::OptionValues(one->options()));
            found.push_back(to_json(*one));
            answer.text +=
                fmt::format("{:<20} {}\n{:<20} {}{}\n", one->name(), one->summary(), "",
                            needs.labels ? "fitted to labelled rows" : "fitted to all rows",
                            needs.groups_to_decide ? "; reads the group when deciding" : "");
        }
        answer.notes.emplace_back("`rampart postprocessors NAME` lists the options of one");
    } else {
        RAMPART_TRY(const auto* one, postprocessing::find_postprocessor(name));
        found.push_back(to_json(*one));
        answer.text = describe(*one);
    }
    answer.json = json::serialize(json::object{{"postprocessors", std::move(found)}});
    return answer;
}

}  // namespace

void add_learners(Frame& frame) {
    auto name = std::make_shared<std::string>();
    auto& command = frame.add(
        {.name = "learners",
         .summary = "List the learners, or the options of one",
         .example = "rampart learners fairgbm",
         .detail = "The options are keys of a recipe, or of [training] in rampartd.toml, next to "
                   "learner = NAME; the defaults are those there.",
         .reads_no_store = true},
        [name](const Context&) { return print_learners(*name); });
    command.add_option("NAME", *name, "a learner; default: all of them");
    auto criterion = std::make_shared<std::string>();
    auto& others = frame.add(
        {.name = "postprocessors",
         .summary = "List what may be put on a score, or the options of one",
         .example = "rampart postprocessors equalized_odds",
         .detail = "The options are keys of [postprocess] in a recipe or in rampartd.toml, next to "
                   "criterion = NAME.",
         .reads_no_store = true},
        [criterion](const Context&) { return print_postprocessors(*criterion); });
    others.add_option("NAME", *criterion, "a criterion; default: all of them");
}

}  // namespace rampart::cli
