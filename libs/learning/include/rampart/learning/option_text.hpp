#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/learning/options.hpp"

/// Options as text: what is typed behind a flag, and lines of a recipe.
namespace rampart::learning {

/// Returns the value that the texts say: one text, or several for a list, which may also be parted
/// by commas; "none" is an empty list of texts. OptionValues::set() checks the range. Errors:
/// bad_option names option, text and what it takes.
base::Result<OptionValue> parse_value(const Option& option, std::span<const std::string> texts);

/// Returns "name = value\n" as TOML, which read_options() reads as the same value.
std::string to_toml(std::string_view name, const OptionValue& value);

/// An option that has no effect because of another's value.
struct Ineffective {
    std::string_view option;
    std::string_view because_of;  // the other option
    /// Value that the other has to have, or must not have; empty: none.
    std::string_view value;
    bool must_not = false;
};
/// Returns the given options that Option::only_with makes ineffective, in order of declaration.
std::vector<Ineffective> ineffective(const OptionValues& values);
/// Returns whether the option has an effect with the values of the others.
bool has_effect(const OptionValues& values, const Option& option);

/// Returns the values that have an effect as "name=value", in the order of declaration.
std::string effective_text(const OptionValues& values);

/// Returns the option that a message names first; empty: none.
std::string_view option_named_in(std::string_view message, std::span<const Option> options);

/// Records at their keys the options that were given and have no effect, with value and remedy: for
/// files, in which what is written has to count.
void refuse_ineffective(config::Table& table, const OptionValues& values);

}  // namespace rampart::learning
