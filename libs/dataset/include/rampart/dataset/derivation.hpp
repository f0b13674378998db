#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::dataset {

/// How a numeric feature is made of other columns of the same row.
struct Derivation {
    enum class Function {
        kRatio,        // first / second
        kDifference,   // first - second
        kLog,          // natural logarithm of the first
        kDaysBetween,  // days from the first date to the second
        kMonthsSince,  // whole calendar months from the first date to the second, rounded down
    };
    Function function = Function::kRatio;
    std::vector<std::string> columns;  // two; one for kLog
    bool operator==(const Derivation&) const = default;
    /// Returns whether the columns are dates.
    bool of_dates() const;
};

/// Reads "ratio(balance, limit)", "difference(a, b)", "log(income)", "days_between(opened, due)",
/// "months_since(opened, applied)". A column with a comma, a parenthesis or a quote in its name
/// stands in single quotes, doubled inside. Errors: "bad_derivation", which names the character.
base::Result<Derivation> parse_derivation(std::string_view text);

/// Returns a text that parse_derivation() reads back.
std::string to_text(const Derivation& derivation);

/// Computes the value. Dates are days since 1970-01-01. nullopt (missing): an argument is, a
/// division by 0, the logarithm of what is not above 0, or a result that is not finite. `second` is
/// ignored by kLog.
std::optional<double> apply(const Derivation& derivation, std::optional<double> first,
                            std::optional<double> second);

}  // namespace rampart::dataset
