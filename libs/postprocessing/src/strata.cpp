#include "rampart/postprocessing/strata.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/learning/reasons.hpp"
#include "rampart/postprocessing/reasons.hpp"

namespace rampart::postprocessing {
namespace {

using base::Result;
using learning::OptionValues;

template <class... Args>
base::Error bad(fmt::format_string<Args...> format, Args&&... args) {
    return base::make_error(learning::Reason::kBadOption, format, std::forward<Args>(args)...);
}

/// Returns the position of the feature that the options name.
Result<size_t> feature_of(const OptionValues& values, const dataset::FeatureSchema& schema) {
    const auto& name = values.text("within_feature");
    if (const auto found = schema.find(name)) return *found;
    std::vector<std::string_view> names;
    for (const auto& feature : schema.features()) names.push_back(feature.name);
    return bad(
        "`within_feature` is '{}': there is no such feature; there are {}: name one of them, or a "
        "protected attribute with the option within",
        name, fmt::join(names, ", "));
}

/// Sets the strata of a numeric feature.
base::Status set_cuts(const OptionValues& values, model::Strata& strata) {
    const auto& name = values.text("within_feature");
    if (!values.texts("within_pool").empty())
        return bad("`within_pool` has categories, and '{}' is a numeric feature: leave it out",
                   name);
    const auto& cuts = values.numbers("within_cuts");
    if (cuts.empty())
        return bad(
            "`within_cuts` is empty, and '{}' is a numeric feature: give the numbers at which a "
            "stratum begins, as in [20000, 50000]",
            name);
    strata.cuts.assign(cuts.begin(), cuts.end());
    for (size_t i = 1; i < cuts.size(); ++i)
        if (!(strata.cuts[i] > strata.cuts[i - 1]))
            return bad(
                "`within_cuts` has {} and then {}, which values of a feature cannot tell apart: "
                "leave one of them out",
                cuts[i - 1], cuts[i]);
    return base::ok();
}

/// Sets the strata of a categorical feature: one for each category, but for those pooled.
base::Status set_categories(const OptionValues& values, const dataset::FeatureSpec& feature,
                            model::Strata& strata) {
    const auto& categories = feature.categories;
    if (!values.numbers("within_cuts").empty())
        return bad(
            "`within_cuts` has numbers, and '{}' is a categorical feature, each category of which "
            "is a stratum: leave it out",
            feature.name);
    const auto& pool = values.texts("within_pool");
    for (const auto& one : pool)
        if (std::find(categories.begin(), categories.end(), one) == categories.end())
            return bad("`within_pool` has '{}', which is no category of '{}'; there are {}", one,
                       feature.name, fmt::join(categories, ", "));
    std::optional<uint32_t> pooled;
    uint32_t next = 0;
    for (const auto& category : categories) {
        const bool in_pool = std::find(pool.begin(), pool.end(), category) != pool.end();
        if (in_pool && !pooled) pooled = next++;
        strata.of_category.push_back(in_pool ? *pooled : next++);
    }
    return base::ok();
}

/// Sets the stratum of missing values, the last of which the values have being `values_have` - 1.
base::Status set_missing(const OptionValues& values, const dataset::FeatureSchema& schema,
                         uint32_t values_have, model::Strata& strata) {
    const auto& text = values.text("within_missing");
    strata.count = values_have;
    if (text.empty()) {
        strata.missing = strata.count++;
        return base::ok();
    }
    const auto value = schema.encode_text(strata.feature, text);
    if (!value || std::isnan(*value))
        return bad(
            "`within_missing` is '{}': leave it out, for a stratum of their own, or give a value "
            "of "
            "'{}' whose stratum is that of missing values",
            text, schema.features()[strata.feature].name);
    strata.missing = static_cast<uint32_t>(strata.of(*value));
    return base::ok();
}

}  // namespace

bool has_strata(const OptionValues& values) {
    return values.has("within_feature") && !values.text("within_feature").empty();
}

std::vector<learning::Option> strata_options() {
    constexpr std::string_view kWith = "within_feature!=";
    return {
        {"within_feature",
         std::string(),
         "feature of the application; groups are compared within each of its strata (conditional "
         "parity): a category each, or the ranges between within_cuts",
         0,
         0,
         {},
         {},
         true},
        {"within_cuts",
         std::vector<double>(),
         "numeric feature: rising numbers, at each of which a stratum begins",
         -1e30,
         1e30,
         {},
         kWith,
         true},
        {"within_pool",
         std::vector<std::string>(),
         "categorical feature: categories that are one stratum together",
         0,
         0,
         {},
         kWith,
         true},
        {"within_missing",
         std::string(),
         "value whose stratum is that of missing values and of categories that the schema does not "
         "have; empty: they have one of their own",
         0,
         0,
         {},
         kWith,
         true},
        {"within_least",
         int64_t{30},
         "fewest rows of a group in a stratum",
         1,
         1'000'000,
         {},
         kWith,
         true},
    };
}

base::Status check_strata_options(const OptionValues& values) {
    if (!has_strata(values)) return base::ok();
    const auto& cuts = values.numbers("within_cuts");
    for (size_t i = 1; i < cuts.size(); ++i)
        if (!(cuts[i] > cuts[i - 1]))
            return bad("`within_cuts` has {} after {}: give numbers that rise", cuts[i],
                       cuts[i - 1]);
    if (!cuts.empty() && !values.texts("within_pool").empty())
        return bad(
            "`within_cuts` is for a numeric feature and `within_pool` for a categorical one: leave "
            "one of them out");
    return base::ok();
}

Result<std::optional<model::Strata>> feature_strata(const OptionValues& values,
                                                    const dataset::FeatureSchema& schema) {
    if (!has_strata(values)) return std::optional<model::Strata>();
    RAMPART_RETURN_IF_ERROR(check_strata_options(values));
    RAMPART_TRY(const auto feature, feature_of(values, schema));
    model::Strata strata{.feature = static_cast<uint32_t>(feature)};
    const auto& spec = schema.features()[feature];
    uint32_t values_have = 0;
    if (spec.kind == dataset::FeatureKind::kNumeric) {
        RAMPART_RETURN_IF_ERROR(set_cuts(values, strata));
        values_have = static_cast<uint32_t>(strata.cuts.size()) + 1;
    } else {
        RAMPART_RETURN_IF_ERROR(set_categories(values, spec, strata));
        values_have = 1 + *std::max_element(strata.of_category.begin(), strata.of_category.end());
    }
    RAMPART_RETURN_IF_ERROR(set_missing(values, schema, values_have, strata));
    return std::optional(std::move(strata));
}

base::Status check_strata_count(const OptionValues& values, const model::Strata& strata,
                                size_t groups) {
    if (strata.count * groups <= base::limits::kMaxGroups) return base::ok();
    return bad(
        "`within_feature` is '{}', with {} strata of {} groups: a ramp has at most {} thresholds; "
        "take fewer cut points, or pool categories",
        values.text("within_feature"), strata.count, groups, base::limits::kMaxGroups);
}

base::Status add_strata(const OptionValues& values, const dataset::Dataset& features, Rows& rows) {
    RAMPART_TRY(rows.strata, feature_strata(values, features.schema));
    rows.stratum.clear();
    rows.stratum_names.clear();
    if (!rows.strata) return base::ok();
    rows.stratum_names = names_of(*rows.strata, features.schema);
    for (const float value : features.columns[rows.strata->feature])
        rows.stratum.push_back(static_cast<int32_t>(rows.strata->of(value)));
    return base::ok();
}

base::Status check_has_strata(const OptionValues& values, const Rows& rows) {
    const bool wanted = has_strata(values);
    if (wanted == rows.strata.has_value() && rows.stratum.size() == (wanted ? rows.size() : 0))
        return base::ok();
    return base::make_error(base::Reason::kSizeMismatch,
                            "{} of {} rows have a stratum, and the criterion compares {}",
                            rows.stratum.size(), rows.size(),
                            wanted ? "within strata: put them into the rows" : "without strata");
}

base::Status check_cells(const OptionValues& values, const Rows& rows) {
    if (!has_strata(values)) return base::ok();
    std::vector<size_t> count(rows.groups() * rows.stratum_names.size());
    for (size_t i = 0; i < rows.size(); ++i)
        if (rows.group[i] >= 0) ++count[rows.cell_of(i)];
    const auto least = static_cast<size_t>(values.integer("within_least"));
    for (size_t s = 0; s < rows.stratum_names.size(); ++s) {
        const auto in_stratum = std::span(count).subspan(s * rows.groups(), rows.groups());
        if (std::accumulate(in_stratum.begin(), in_stratum.end(), size_t{0}) == 0)
            return base::make_error(
                Reason::kEmptyStratum,
                "stratum '{}' has none of the {} rows: a rule for it cannot be fitted; leave its "
                "cut point out, pool its category by within_pool, or, if it is that of missing "
                "values, say by within_missing where they belong",
                rows.stratum_names[s], rows.size());
        for (size_t k = 0; k < rows.groups(); ++k)
            if (in_stratum[k] < least)
                return base::make_error(
                    Reason::kSmallStratum,
                    "group '{}' has {} of the {} rows in stratum '{}', and within_least is {}: "
                    "take fewer cut points, pool categories, wait for more rows, or lower "
                    "within_least",
                    rows.group_names[k], in_stratum[k], rows.size(), rows.stratum_names[s], least);
    }
    return base::ok();
}

}  // namespace rampart::postprocessing
