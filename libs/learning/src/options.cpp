#include "rampart/learning/options.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "rampart/base/check.hpp"
#include "rampart/learning/reasons.hpp"

namespace rampart::learning {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string range_text(const Option& option) {
    if (option.lo == -kInfinity && option.hi == kInfinity) return "";
    if (option.hi == kInfinity) return fmt::format(" from {} on", option.lo);
    return fmt::format(" from {} to {}", option.lo, option.hi);
}

bool is_choice(const Option& option, const std::string& text) {
    return option.choices.empty() ||
           std::find(option.choices.begin(), option.choices.end(), text) != option.choices.end();
}

/// Returns whether a value of the right type is allowed.
bool allowed(const Option& option, const OptionValue& value) {
    const auto in_range = [&](double x) {
        return std::isfinite(x) && x >= option.lo && x <= option.hi;
    };
    return std::visit(
        [&](const auto& v) {
            using T = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<T, bool>)
                return true;
            else if constexpr (std::is_same_v<T, std::string>)
                return is_choice(option, v);
            else if constexpr (std::is_same_v<T, std::vector<double>>)
                return std::all_of(v.begin(), v.end(), in_range);
            else if constexpr (std::is_same_v<T, std::vector<std::string>>)
                return std::all_of(v.begin(), v.end(),
                                   [&](const auto& text) { return is_choice(option, text); });
            else
                return in_range(static_cast<double>(v));
        },
        value);
}

/// Makes a number of an integer and a list of one of a number, where the type asks for it.
OptionValue converted(OptionValue value, const OptionValue& like) {
    const bool number =
        std::holds_alternative<double>(like) || std::holds_alternative<std::vector<double>>(like);
    if (const auto* integer = std::get_if<int64_t>(&value); integer && number)
        value = static_cast<double>(*integer);
    if (const auto* one = std::get_if<double>(&value);
        one && std::holds_alternative<std::vector<double>>(like))
        value = std::vector<double>{*one};
    if (const auto* one = std::get_if<std::string>(&value);
        one && std::holds_alternative<std::vector<std::string>>(like))
        value = std::vector<std::string>{*one};
    return value;
}

base::Error bad_option(const Option& option, std::string_view text) {
    return base::make_error(Reason::kBadOption, "{} is '{}': it takes a {}", option.name, text,
                            describe_type(option));
}

}  // namespace

std::string text_of(const OptionValue& value) {
    return std::visit(
        [](const auto& v) -> std::string {
            using T = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<T, std::vector<double>> ||
                          std::is_same_v<T, std::vector<std::string>>)
                return fmt::format("{}", fmt::join(v, ","));
            else
                return fmt::format("{}", v);
        },
        value);
}

std::string describe_type(const Option& option) {
    const auto texts = [&](std::string_view what) {
        return option.choices.empty()
                   ? std::string(what)
                   : fmt::format("{}: {}", what, fmt::join(option.choices, ", "));
    };
    switch (option.fallback.index()) {
        case 0:
            return "truth value: true or false";
        case 1:
            return "whole number" + range_text(option);
        case 2:
            return "number" + range_text(option);
        case 3:
            return texts("text");
        case 4:
            return "list of numbers" + range_text(option);
        default:
            return texts("list of texts");
    }
}

OptionValues::OptionValues(std::span<const Option> options)
    : options_(options.begin(), options.end()) {
    for (const auto& option : options_) {
        const bool first = values_.emplace(option.name, Entry{option.fallback}).second;
        RAMPART_CHECK(first, "two options are called {}", option.name);
        RAMPART_CHECK(option.fallback.index() != 1 || option.hi - option.lo <= 2e9,
                      "{} is a whole number without a range", option.name);
    }
}

const Option* OptionValues::find(std::string_view name) const {
    const auto found = std::find_if(options_.begin(), options_.end(),
                                    [&](const Option& option) { return option.name == name; });
    return found == options_.end() ? nullptr : &*found;
}

base::Status OptionValues::set(std::string_view name, OptionValue value) {
    const auto* option = find(name);
    if (option == nullptr) {
        std::vector<std::string_view> names;
        for (const auto& known : options_) names.push_back(known.name);
        return base::make_error(Reason::kUnknownOption, "there is no option '{}'; there are {}",
                                name, fmt::join(names, ", "));
    }
    value = converted(std::move(value), option->fallback);
    if (value.index() != option->fallback.index() || !allowed(*option, value))
        return bad_option(*option, text_of(value));
    values_.find(name)->second = {std::move(value), true};
    return base::ok();
}

void OptionValues::set_fallback(std::string_view name, OptionValue value) {
    const auto* option = find(name);
    RAMPART_CHECK(option != nullptr && value.index() == option->fallback.index(),
                  "no option {} of this type", name);
    auto& entry = values_.find(name)->second;
    if (!entry.given) entry.value = std::move(value);
}

bool OptionValues::has(std::string_view name) const { return values_.contains(name); }

bool OptionValues::given(std::string_view name) const {
    const auto found = values_.find(name);
    return found != values_.end() && found->second.given;
}

const OptionValue& OptionValues::value(std::string_view name) const {
    const auto found = values_.find(name);
    RAMPART_CHECK(found != values_.end(), "no option {}", name);
    return found->second.value;
}

bool OptionValues::flag(std::string_view name) const { return std::get<bool>(value(name)); }
int OptionValues::integer(std::string_view name) const {
    return static_cast<int>(std::get<int64_t>(value(name)));
}
double OptionValues::number(std::string_view name) const { return std::get<double>(value(name)); }
const std::string& OptionValues::text(std::string_view name) const {
    return std::get<std::string>(value(name));
}
const std::vector<double>& OptionValues::numbers(std::string_view name) const {
    return std::get<std::vector<double>>(value(name));
}
const std::vector<std::string>& OptionValues::texts(std::string_view name) const {
    return std::get<std::vector<std::string>>(value(name));
}

std::string OptionValues::canonical() const {
    std::string out;
    for (const auto& option : options_)
        out += fmt::format("{}{}={}", out.empty() ? "" : " ", option.name,
                           text_of(value(option.name)));
    return out;
}

void read_options(config::Table& table, OptionValues& values) {
    for (const auto& option : values.options()) {
        if (!table.has(option.name)) continue;
        OptionValue value = option.fallback;
        switch (option.fallback.index()) {
            case 0:
                value = table.boolean(option.name, false);
                break;
            case 1:
                value = table.integer(option.name, static_cast<int64_t>(option.lo),
                                      static_cast<int64_t>(option.hi));
                break;
            case 2:
                value = table.number(option.name, option.lo, option.hi);
                break;
            case 3:
                value = table.string(option.name);
                break;
            case 4:
                value = table.numbers(option.name, option.lo, option.hi);
                break;
            default:
                value = table.strings(option.name);
        }
        if (const auto set = values.set(option.name, std::move(value)); !set)
            table.fail(option.name, set.error().message);
    }
}

}  // namespace rampart::learning
