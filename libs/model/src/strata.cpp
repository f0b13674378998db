#include "rampart/model/strata.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace rampart::model {
namespace {

using dataset::FeatureKind;

/// Returns the number of strata that have values.
size_t strata_with_values(const Strata& strata) {
    if (strata.of_category.empty()) return strata.cuts.size() + 1;
    return size_t{1} + *std::max_element(strata.of_category.begin(), strata.of_category.end());
}

std::optional<std::string> fault_of_cuts(const std::vector<float>& cuts) {
    for (size_t i = 0; i < cuts.size(); ++i) {
        if (!std::isfinite(cuts[i])) return fmt::format("cut point {} is not finite", i);
        if (i > 0 && !(cuts[i] > cuts[i - 1]))
            return fmt::format("cut point {} is {}, not above the one before, {}", i, cuts[i],
                               cuts[i - 1]);
    }
    return std::nullopt;
}

std::optional<std::string> fault_of_categories(const Strata& strata, size_t categories) {
    if (strata.of_category.size() != categories)
        return fmt::format("strata of {} categories for a feature with {}",
                           strata.of_category.size(), categories);
    for (uint32_t s = 0; s < strata_with_values(strata); ++s)
        if (std::find(strata.of_category.begin(), strata.of_category.end(), s) ==
            strata.of_category.end())
            return fmt::format("stratum {} has no category", s);
    return std::nullopt;
}

std::string name_of_range(const std::string& feature, const std::vector<float>& cuts, size_t i) {
    if (cuts.empty()) return fmt::format("any {}", feature);
    if (i == 0) return fmt::format("{} < {:g}", feature, cuts.front());
    if (i == cuts.size()) return fmt::format("{} >= {:g}", feature, cuts.back());
    return fmt::format("{:g} <= {} < {:g}", cuts[i - 1], feature, cuts[i]);
}

}  // namespace

size_t Strata::of(float value) const {
    if (std::isnan(value)) return missing;
    if (!of_category.empty()) {
        const bool known = value >= 0 && value < static_cast<float>(of_category.size());
        return known ? of_category[static_cast<size_t>(value)] : missing;
    }
    return static_cast<size_t>(std::upper_bound(cuts.begin(), cuts.end(), value) - cuts.begin());
}

std::optional<std::string> fault_of(const Strata& strata, const dataset::FeatureSchema& schema) {
    if (strata.feature >= schema.size())
        return fmt::format("strata by feature {} of {}", strata.feature, schema.size());
    const auto& feature = schema.features()[strata.feature];
    const bool numeric = feature.kind == FeatureKind::kNumeric;
    if (numeric ? !strata.of_category.empty() : !strata.cuts.empty())
        return fmt::format("strata by {} of the {} feature '{}'",
                           numeric ? "categories" : "cut points",
                           numeric ? "numeric" : "categorical", feature.name);
    const auto fault = numeric ? fault_of_cuts(strata.cuts)
                               : fault_of_categories(strata, feature.categories.size());
    if (fault) return fault;
    const size_t valued = strata_with_values(strata);
    const size_t wanted = std::max<size_t>(valued, size_t{strata.missing} + 1);
    if (strata.missing > valued || strata.count != wanted)
        return fmt::format("{} strata, with missing values in stratum {}; the values have {}",
                           strata.count, strata.missing, valued);
    return std::nullopt;
}

std::vector<std::string> names_of(const Strata& strata, const dataset::FeatureSchema& schema) {
    const auto& feature = schema.features()[strata.feature];
    const size_t valued = strata_with_values(strata);
    std::vector<std::string> names;
    for (size_t s = 0; s < valued; ++s) {
        if (strata.of_category.empty()) {
            names.push_back(name_of_range(feature.name, strata.cuts, s));
            continue;
        }
        std::vector<std::string_view> categories;
        for (size_t code = 0; code < strata.of_category.size(); ++code)
            if (strata.of_category[code] == s) categories.push_back(feature.categories[code]);
        names.push_back(fmt::format("{} = {}", feature.name, fmt::join(categories, ", ")));
    }
    if (strata.missing < valued)
        names[strata.missing] += " or missing";
    else
        names.push_back(fmt::format("{} missing", feature.name));
    return names;
}

}  // namespace rampart::model
