#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/config/table.hpp"

namespace rampart::learning {

/// Value of an option. Its alternative is the option's type.
using OptionValue =
    std::variant<bool, int64_t, double, std::string, std::vector<double>, std::vector<std::string>>;

/// Option of a learner or a post-processor, declared once: recipe keys, flags, the reference page
/// and errors are made of it.
struct Option {
    std::string_view name;  // key of a recipe, snake case: "learning_rate"
    OptionValue fallback;
    std::string_view help;
    double lo = -std::numeric_limits<double>::infinity();  // range of each number, inclusive
    double hi = std::numeric_limits<double>::infinity();
    std::vector<std::string_view> choices = {};  // texts that are allowed; empty: any
    /// The option has an effect only where another has a value: "oracle=linear", "proxy!=sigmoid",
    /// "operate_at=" (is empty); one of several: "constraints!=|targets!="; each of several, which
    /// '&' parts and which may have alternatives: "least=&most=". Empty: always.
    std::string_view only_with = {};
    /// Says what is asked of the model, not how it is learnt: no search goes over it, since its
    /// trials would answer different questions.
    bool asked = false;
};

/// Returns a value as text: "0.5", "fnr,fpr", "true".
std::string text_of(const OptionValue& value);

/// Returns how the option's value looks in a recipe: "number from 0 to 1", "one of best, last".
std::string describe_type(const Option& option);

/// Values of declared options, each within its type and range.
class OptionValues {
  public:
    OptionValues() = default;
    /// Takes the fallback of every option.
    explicit OptionValues(std::span<const Option> options);

    /// Sets a value. An integer is taken for a number, a number for a list of one. Errors:
    /// invalid_argument "unknown_option" names the known ones, "bad_option" the value and what is
    /// allowed.
    base::Status set(std::string_view name, OptionValue value);
    /// Gives another fallback; it does not count as given. Requires an option of the name and type.
    void set_fallback(std::string_view name, OptionValue value);

    bool has(std::string_view name) const;
    /// Returns whether the value was set.
    bool given(std::string_view name) const;
    // Values by name; each requires an option of the name and type.
    const OptionValue& value(std::string_view name) const;
    bool flag(std::string_view name) const;
    int integer(std::string_view name) const;
    double number(std::string_view name) const;
    const std::string& text(std::string_view name) const;
    const std::vector<double>& numbers(std::string_view name) const;
    const std::vector<std::string>& texts(std::string_view name) const;

    const std::vector<Option>& options() const { return options_; }
    /// Returns every value as "name=value", in the order of declaration: equal texts, equal values.
    std::string canonical() const;

  private:
    struct Entry {
        OptionValue value;
        bool given = false;
    };
    const Option* find(std::string_view name) const;
    std::vector<Option> options_;
    std::map<std::string, Entry, std::less<>> values_;
};

/// Reads the options that the table has into `values`. What is wrong is recorded at its key, for
/// Table::finish(). Keys of other learners stay unread, and so become errors of finish().
void read_options(config::Table& table, OptionValues& values);

}  // namespace rampart::learning
