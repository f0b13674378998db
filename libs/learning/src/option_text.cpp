#include "rampart/learning/option_text.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "rampart/learning/reasons.hpp"

namespace rampart::learning {
namespace {

template <class T>
std::optional<T> number_of(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::vector<std::string> parts_of(std::span<const std::string> texts) {
    std::vector<std::string> out;
    for (const std::string_view text : texts) {
        for (size_t from = 0; from <= text.size();) {
            const size_t comma = std::min(text.find(',', from), text.size());
            out.emplace_back(text.substr(from, comma - from));
            from = comma + 1;
        }
    }
    return out;
}

/// Returns the value of a type of one text, or nothing.
std::optional<OptionValue> one_of(const OptionValue& like, const std::string& text) {
    const auto wrap = [](const auto& found) -> std::optional<OptionValue> {
        if (!found) return std::nullopt;
        return OptionValue(*found);
    };
    switch (like.index()) {
        case 0:
            if (text == "true" || text == "false") return OptionValue(text == "true");
            return std::nullopt;
        case 1:
            return wrap(number_of<int64_t>(text));
        case 2:
            return wrap(number_of<double>(text));
        default:
            return OptionValue(text);
    }
}

std::optional<OptionValue> value_of(const Option& option, std::span<const std::string> texts) {
    if (option.fallback.index() < 4) {
        return texts.size() == 1 ? one_of(option.fallback, texts.front()) : std::nullopt;
    }
    auto parts = parts_of(texts);
    if (option.fallback.index() == 5) {
        if (parts == std::vector<std::string>{"none"}) parts.clear();
        return OptionValue(std::move(parts));
    }
    std::vector<double> numbers;
    for (const auto& part : parts) {
        const auto number = number_of<double>(part);
        if (!number) return std::nullopt;
        numbers.push_back(*number);
    }
    return OptionValue(std::move(numbers));
}

std::string toml_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += fmt::format("\\{}", c);
        else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
            out += c;
    }
    return out + "\"";
}

/// Reads "name=value" or "name!=value", and says whether it holds.
bool holds(const OptionValues& values, std::string_view condition, Ineffective& why) {
    const auto equals = condition.find('=');
    why.must_not = equals > 0 && condition[equals - 1] == '!';
    why.because_of = condition.substr(0, equals - (why.must_not ? 1 : 0));
    why.value = condition.substr(equals + 1);
    return (text_of(values.value(why.because_of)) == why.value) != why.must_not;
}

/// Returns whether one of the conditions, parted by bars, holds; `why` is then unspecified, else
/// the first of them.
bool one_holds(const OptionValues& values, std::string_view conditions, Ineffective& why) {
    const auto bar = conditions.find('|');
    if (holds(values, conditions.substr(0, bar), why)) return true;
    Ineffective other = why;
    return bar != std::string_view::npos && one_holds(values, conditions.substr(bar + 1), other);
}

/// Returns whether of each part between '&' one condition holds; else `why` is of the first part.
bool is_effective(const OptionValues& values, std::string_view conditions, Ineffective& why) {
    while (!conditions.empty()) {
        const auto end = std::min(conditions.find('&'), conditions.size());
        if (!one_holds(values, conditions.substr(0, end), why)) return false;
        conditions.remove_prefix(std::min(end + 1, conditions.size()));
    }
    return true;
}

/// Returns what keeps the option from having an effect, and what to do.
std::string describe(const Ineffective& why) {
    if (why.must_not && why.value.empty())
        return fmt::format("without {0}: leave it out, or give {0}", why.because_of);
    if (why.must_not)
        return fmt::format("where {0} is {1}: leave it out, or give {0} another value",
                           why.because_of, why.value);
    if (why.value.empty()) return fmt::format("beside {}: leave one of them out", why.because_of);
    return fmt::format("where {0} is not {1}: leave it out, or set {0} = {1}", why.because_of,
                       why.value);
}

}  // namespace

base::Result<OptionValue> parse_value(const Option& option, std::span<const std::string> texts) {
    auto value = value_of(option, texts);
    if (value) return *std::move(value);
    return base::make_error(Reason::kBadOption, "`{}` is '{}': it takes a {}", option.name,
                            fmt::join(texts, " "), describe_type(option));
}

std::string to_toml(std::string_view name, const OptionValue& value) {
    const auto text = std::visit(
        [](const auto& v) -> std::string {
            using T = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<T, std::string>) {
                return toml_string(v);
            } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
                std::vector<std::string> parts;
                for (const auto& part : v) parts.push_back(toml_string(part));
                return fmt::format("[{}]", fmt::join(parts, ", "));
            } else if constexpr (std::is_same_v<T, std::vector<double>>) {
                return fmt::format("[{}]", fmt::join(v, ", "));
            } else {
                return fmt::format("{}", v);
            }
        },
        value);
    return fmt::format("{} = {}\n", name, text);
}

std::vector<Ineffective> ineffective(const OptionValues& values) {
    std::vector<Ineffective> out;
    for (const auto& option : values.options()) {
        Ineffective why{.option = option.name, .because_of = {}, .value = {}};
        if (values.given(option.name) && !is_effective(values, option.only_with, why))
            out.push_back(why);
    }
    return out;
}

bool has_effect(const OptionValues& values, const Option& option) {
    Ineffective why{.option = option.name, .because_of = {}, .value = {}};
    return is_effective(values, option.only_with, why);
}

std::string effective_text(const OptionValues& values) {
    std::string out;
    for (const auto& option : values.options())
        if (has_effect(values, option))
            out += fmt::format("{}{}={}", out.empty() ? "" : " ", option.name,
                               text_of(values.value(option.name)));
    return out;
}

std::string_view option_named_in(std::string_view message, std::span<const Option> options) {
    const auto is_part = [&](size_t at) {  // letter of a longer word
        return at < message.size() &&
               (std::isalnum(static_cast<unsigned char>(message[at])) || message[at] == '_');
    };
    std::string_view named;
    size_t first = message.size();
    for (const auto& option : options)
        for (size_t at = 0; (at = message.find(option.name, at)) < first; ++at)
            if (!(at > 0 && is_part(at - 1)) && !is_part(at + option.name.size())) {
                first = at;
                named = option.name;
                break;
            }
    return named;
}

void refuse_ineffective(config::Table& table, const OptionValues& values) {
    for (const auto& why : ineffective(values))
        table.fail(why.option, fmt::format("is '{}', and has no effect {}",
                                           text_of(values.value(why.option)), describe(why)));
}

}  // namespace rampart::learning
