#include "rule_checks.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "rampart/base/limits.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/dataset/reasons.hpp"

namespace rampart::dataset {
namespace {

namespace limits = base::limits;

bool is_in(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_plain_number(const TableSchema& schema, std::string_view name) {
    const auto at = schema.features.find(name);
    return at && schema.features.features()[*at].kind == FeatureKind::kNumeric &&
           !schema.derived.contains(name);
}

/// Returns whether a derived feature is made of the column.
bool is_source(const TableSchema& schema, std::string_view column) {
    return std::any_of(schema.derived.begin(), schema.derived.end(),
                       [&](const auto& made) { return is_in(made.second.columns, column); });
}

base::Error bad_rule(const ColumnRule& rule, std::string_view message) {
    return base::make_error(Reason::kBadColumnRule, "[[column]] '{}': {}", rule.column, message);
}

bool is_sound(const std::optional<NumericRange>& range) {
    return !range ||
           (std::isfinite(range->lo) && std::isfinite(range->hi) && range->lo < range->hi);
}

/// Checks a name that becomes a part of a group's name.
bool is_name(std::string_view text) {
    return text.size() <= limits::kMaxTextBytes && base::is_utf8(text);
}

base::Status check_bands(const ColumnRule& rule) {
    const auto& bands = rule.bands;
    if (bands.size() > kMaxBands)
        return bad_rule(
            rule, fmt::format("{} bounds in `bands`; allowed are {}", bands.size(), kMaxBands));
    const bool finite =
        std::all_of(bands.begin(), bands.end(), [](double x) { return std::isfinite(x); });
    if (!finite ||
        std::adjacent_find(bands.begin(), bands.end(), std::greater_equal<>()) != bands.end())
        return bad_rule(rule, "`bands` are bounds that ascend, such as [25, 45, 65]");
    return base::ok();
}

base::Status check_protected(const ColumnRule& rule) {
    if (rule.date) return bad_rule(rule, "`date` is not for protected columns");
    RAMPART_RETURN_IF_ERROR(check_bands(rule));
    if (rule.range && rule.bands.empty())
        return bad_rule(rule, "`range` of a protected column needs `bands`");
    if (rule.pool_below > 0 && !rule.bands.empty())
        return bad_rule(rule, "has `bands` and `pool_below`; give one of them");
    if (rule.pool_below == 0 && !(rule.pool.empty() && rule.keep.empty()))
        return bad_rule(rule, "`pool` and `keep` need `pool_below`");
    if (rule.pool_below > 0 && rule.pool.empty()) return bad_rule(rule, "`pool` is empty");
    if (!is_name(rule.pool) || !is_name(rule.empty) ||
        !std::all_of(rule.keep.begin(), rule.keep.end(), is_name))
        return bad_rule(rule, fmt::format("a name is not UTF-8 or has more than {} bytes",
                                          limits::kMaxTextBytes));
    return base::ok();
}

base::Status check_number_rule(const TableSchema& schema, const ColumnRule& rule) {
    if (!rule.bands.empty() || rule.pool_below > 0 || !rule.pool.empty() || !rule.keep.empty() ||
        !rule.empty.empty())
        return bad_rule(rule,
                        "`bands`, `pool_below`, `pool`, `keep` and `empty` are for columns "
                        "under `protected`");
    if (rule.date && rule.range) return bad_rule(rule, "has `date`, and `range` is of numbers");
    if (!is_plain_number(schema, rule.column) && !is_source(schema, rule.column))
        return bad_rule(rule,
                        "is no numeric feature, not protected, and no feature is derived from it, "
                        "so that the rule has no effect");
    return base::ok();
}

}  // namespace

base::Status check_rules(const TableSchema& schema) {
    std::set<std::string_view> seen;
    for (const auto& rule : schema.rules) {
        if (!seen.insert(rule.column).second) return bad_rule(rule, "is listed twice");
        if (rule == ColumnRule{.column = rule.column})
            return bad_rule(rule, "says nothing about the column");
        if (rule.outside_is_error && !rule.range) return bad_rule(rule, "`outside` needs `range`");
        if (!is_sound(rule.range))
            return bad_rule(rule, "`range` is two finite numbers, the smaller first");
        RAMPART_RETURN_IF_ERROR(is_in(schema.protected_columns, rule.column)
                                    ? check_protected(rule)
                                    : check_number_rule(schema, rule));
    }
    return base::ok();
}

base::Status check_derived(const TableSchema& schema) {
    for (const auto& [name, derivation] : schema.derived) {
        const auto& feature = name;  // clang 14 takes no structured binding into a lambda
        const auto& made = derivation;
        const auto bad = [&](std::string_view message) {
            return base::make_error(Reason::kBadDerivation, "feature '{}', derived {}: {}", feature,
                                    to_text(made), message);
        };
        const auto at = schema.features.find(feature);
        if (!at || schema.features.features()[*at].kind != FeatureKind::kNumeric)
            return bad("only a numeric feature can be derived");
        for (const auto& column : made.columns) {
            if (!is_plain_number(schema, column) && !is_in(schema.ignored_columns, column))
                return bad(
                    fmt::format("'{}' has to be a numeric feature of the file, or stand "
                                "under `ignored`",
                                column));
            const auto* rule = schema.rule_of(column);
            const bool date = rule != nullptr && rule->date;
            if (date != made.of_dates())
                return bad(
                    fmt::format("'{}' {}", column,
                                date ? "is declared as a date" : "needs a [[column]] with `date`"));
        }
    }
    return base::ok();
}

}  // namespace rampart::dataset
