#include "learn/learner_flags.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "rampart/learning/option_text.hpp"
#include "rampart/training/recipe.hpp"

namespace rampart::cli {
namespace {

using learning::Learner;
using learning::Option;
using learning::OptionValues;

constexpr const char* kAllLearners = "Options of every learner";

const Option* find(const std::vector<Option>& options, std::string_view name) {
    const auto found =
        std::find_if(options.begin(), options.end(), [&](const auto& o) { return o.name == name; });
    return found == options.end() ? nullptr : &*found;
}

/// Returns "fairgbm, eg or gs".
std::string any_of(const std::vector<std::string>& names) {
    if (names.size() == 1) return names.front();
    return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

/// Returns the type as the help shows it: what is typed, a colon, what is allowed.
std::string type_name(const Option& option) {
    static constexpr const char* kTyped[] = {"", "INT", "FLOAT", "TEXT", "FLOAT", "TEXT"};
    auto text = describe_type(option);
    const auto is_list = option.fallback.index() >= 4;
    for (const char* said : {"list of ", "whole ", "numbers", "number", "texts", "text", ": "})
        if (text.starts_with(said)) text.erase(0, std::string_view(said).size());
    if (text.starts_with(" ")) text.erase(0, 1);
    if (!option.choices.empty()) text = "one of " + text;
    if (is_list && option.fallback.index() == 5)
        text += text.empty() ? "by comma, or none" : "; by comma, or none";
    if (is_list && option.fallback.index() == 4) text += text.empty() ? "by comma" : "; by comma";
    return fmt::format("{}:{}", kTyped[option.fallback.index()], text);
}

/// Returns the fallback; where recipes have another one, both.
std::string default_text(const Learner& learner, const OptionValues& in_recipes,
                         std::string_view option) {
    const OptionValues values(learner.options());
    auto text = learning::text_of(values.value(option));
    if (const auto other = learning::text_of(in_recipes.value(option)); other != text)
        text += fmt::format("; of a recipe: {}", other);
    return text;
}

}  // namespace

std::string flag_of(std::string_view option) {
    static const std::map<std::string_view, std::string> own{
        {"constraints", "--constraint"},
        {"targets", "--target"},
        {"fits", "--reduction-fits"},
        {"early_stopping_rounds", "--early-stopping"},
        {"protected_features", "--protected-feature"},
        {"indicators", "--indicator"},
        {"protected_directions", "--protected-direction"},
        {"metric_weights", "--metric-weight"}};
    if (const auto found = own.find(option); found != own.end()) return found->second;
    auto flag = fmt::format("--{}", option);
    std::replace(flag.begin(), flag.end(), '_', '-');
    return flag;
}

LearnerFlags::LearnerFlags(CLI::App& command, std::vector<const Learner*> learners,
                           const std::vector<std::string_view>& others)
    : learners_(std::move(learners)) {
    for (const auto* learner : learners_)
        for (const auto& option : learner->options()) {
            const bool known = std::any_of(flags_.begin(), flags_.end(),
                                           [&](const Flag& f) { return f.option == option.name; });
            if (!known && std::find(others.begin(), others.end(), option.name) == others.end())
                add(command, option);
        }
    show(nullptr);
}

void LearnerFlags::add(CLI::App& command, const Option& option) {
    auto& flag = flags_.emplace_back(Flag{.option = option.name});
    const auto name = flag_of(option.name);
    if (option.fallback.index() == 0)
        flag.flag = command.add_flag(name, flag.on);
    else if (option.fallback.index() < 4)
        flag.flag = command.add_option(name, flag.text);
    else
        flag.flag = command.add_option(name, flag.texts)->delimiter(',');
}

base::Result<OptionValues> LearnerFlags::values(const Learner& learner) const {
    OptionValues values(learner.options());
    for (const auto& flag : flags_) {
        const auto* option = find(values.options(), flag.option);
        if (option == nullptr || flag.flag->count() == 0) continue;
        auto texts = flag.texts;
        if (option->fallback.index() == 0)
            texts = {flag.on ? "true" : "false"};
        else if (option->fallback.index() < 4)
            texts = {flag.text};
        auto parsed = learning::parse_value(*option, texts);
        const auto set =
            parsed ? values.set(flag.option, *std::move(parsed)) : base::Status(parsed.error());
        if (set) continue;
        auto error = set.error();
        if (error.message.starts_with(flag.option))  // as set() names it
            error.message.replace(0, flag.option.size(), flag_of(flag.option));
        error.message = with_flags(std::move(error.message), learner);
        return error;
    }
    return values;
}

std::vector<std::string> LearnerFlags::owners(std::string_view option) const {
    std::vector<std::string> names;
    for (const auto* learner : learners_)
        if (find(learner->options(), option) != nullptr) names.emplace_back(learner->name());
    return names;
}

std::vector<std::string> LearnerFlags::ineffective(
    const OptionValues& values, const std::vector<std::string_view>& used) const {
    std::vector<std::string> notes;
    for (const auto& flag : flags_)
        if (flag.flag->count() > 0 && !values.has(flag.option) &&
            std::find(used.begin(), used.end(), flag.option) == used.end())
            notes.push_back(fmt::format("{} has no effect without --learner {}",
                                        flag_of(flag.option), any_of(owners(flag.option))));
    for (const auto& why : learning::ineffective(values)) {
        // an option that must be empty is named alone
        const bool alone = why.value.empty() && !why.must_not;
        const auto value = why.value.empty() ? std::string_view("none") : why.value;
        notes.push_back(fmt::format("{} has no effect {} {}{}", flag_of(why.option),
                                    why.must_not || alone ? "with" : "without",
                                    flag_of(why.because_of),
                                    alone ? "" : fmt::format(" {}", value)));
    }
    return notes;
}

std::vector<std::string> LearnerFlags::given() const {
    std::vector<std::string> out;
    for (const auto& flag : flags_)
        if (flag.flag->count() > 0) out.push_back(flag_of(flag.option));
    return out;
}

void LearnerFlags::show(const Learner* learner) {
    const auto& shown = learner != nullptr ? *learner : *learners_.front();
    const auto options = shown.options();
    const auto in_recipes = training::recipe_options(shown);
    for (auto& flag : flags_) {
        const auto* option = find(options, flag.option);
        const bool has =
            learner != nullptr ? option != nullptr : owners(flag.option).size() == learners_.size();
        flag.flag->group(!has                 ? ""
                         : learner != nullptr ? fmt::format("Options of {}", learner->name())
                                              : kAllLearners);
        if (!has) continue;
        flag.flag->description(with_flags(std::string(option->help), shown));
        if (option->fallback.index() == 0) continue;
        flag.flag->type_name(type_name(*option));
        flag.flag->default_str(default_text(shown, in_recipes, flag.option));
    }
}

std::string with_flags(std::string text, const Learner& learner) {
    for (const auto& option : learner.options()) {
        const auto named = fmt::format("`{}`", option.name);
        for (size_t at = 0; (at = text.find(named, at)) != std::string::npos;)
            text.replace(at, named.size(), flag_of(option.name));
    }
    return text;
}

}  // namespace rampart::cli
