#include "rampart/attribution/units.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "rampart/attribution/reasons.hpp"

namespace rampart::attribution {
namespace {

using base::Result;

void note_read(const model::Ensemble& ensemble, std::vector<bool>& read) {
    for (const auto& tree : ensemble.trees)
        for (const auto& node : tree.nodes)
            if (node.feature >= 0) read[static_cast<size_t>(node.feature)] = true;
}

void note_read(const model::LinearModel& linear, std::vector<bool>& read) {
    const auto is_read = [](double term) { return term != 0; };
    for (size_t j = 0; j < linear.slope.size(); ++j)
        if (is_read(linear.slope[j]) ||
            std::any_of(linear.category[j].begin(), linear.category[j].end(), is_read))
            read[j] = true;
}

void note_read(const model::LearnedLink& link, std::vector<bool>& read) {
    note_read(link.ensemble, read);
    for (const auto& other : link.additional_ensembles) note_read(other, read);
    for (const auto& linear : link.linears) note_read(linear, read);
    for (const auto& pull : link.adjustments)
        for (const auto& posterior : pull.posteriors) note_read(posterior, read);
    if (link.strata) read[link.strata->feature] = true;
}

/// Returns whether the name is what the pattern says.
bool matches(std::string_view name, std::string_view pattern) {
    // where the last '*' stands, and how much of the name it has taken
    size_t n = 0, p = 0, taken = 0, star = std::string_view::npos;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            taken = n;
        } else if (p < pattern.size() && pattern[p] == name[n]) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++taken;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

/// Puts the features of a group's patterns into `group_of`.
base::Status assign(const dataset::FeatureSchema& schema, std::span<const FeatureGroup> groups,
                    size_t number, std::vector<size_t>& group_of) {
    const auto& group = groups[number];
    for (const auto& pattern : group.features) {
        bool found = false;
        for (size_t j = 0; j < schema.size(); ++j) {
            const auto& name = schema.features()[j].name;
            if (!matches(name, pattern)) continue;
            found = true;
            if (group_of[j] != groups.size() && group_of[j] != number)
                return base::make_error(Reason::kBadFeatureGroup,
                                        "feature '{}' is in the groups '{}' and '{}'", name,
                                        groups[group_of[j]].name, group.name);
            group_of[j] = number;
        }
        if (!found)
            return base::make_error(Reason::kBadFeatureGroup,
                                    "group '{}': the policy has no feature '{}'", group.name,
                                    pattern);
    }
    return base::ok();
}

}  // namespace

std::vector<bool> features_read(const model::Policy& policy) {
    std::vector<bool> read(policy.schema().size(), false);
    for (const auto& link : policy.links()) {
        if (const auto* learned = std::get_if<model::LearnedLink>(&link)) {
            note_read(*learned, read);
        } else if (const auto index =
                       policy.schema().find(std::get<model::BootstrapLink>(link).feature)) {
            read[*index] = true;
        }
    }
    return read;
}

Result<std::vector<Unit>> units_of(const model::Policy& policy,
                                   std::span<const FeatureGroup> groups) {
    const auto& schema = policy.schema();
    std::vector<size_t> group_of(schema.size(), groups.size());
    std::set<std::string_view> names;
    for (size_t g = 0; g < groups.size(); ++g) {
        if (groups[g].name.empty() || !names.insert(groups[g].name).second)
            return base::make_error(Reason::kBadFeatureGroup,
                                    "the name '{}' of a group is empty or given twice",
                                    groups[g].name);
        RAMPART_RETURN_IF_ERROR(assign(schema, groups, g, group_of));
    }
    const auto read = features_read(policy);
    std::vector<Unit> units;
    std::vector<size_t> unit_of(groups.size(), schema.size());
    for (size_t j = 0; j < schema.size(); ++j) {
        if (!read[j]) continue;
        const size_t g = group_of[j];
        if (g == groups.size()) {
            units.push_back({schema.features()[j].name, {j}});
        } else if (unit_of[g] == schema.size()) {
            unit_of[g] = units.size();
            units.push_back({groups[g].name, {j}});
        } else {
            units[unit_of[g]].features.push_back(j);
        }
    }
    return units;
}

std::vector<float> restored(std::span<const float> row, std::span<const float> from,
                            const Unit& unit) {
    std::vector<float> out(row.begin(), row.end());
    for (const size_t j : unit.features) out[j] = from[j];
    return out;
}

bool differs(std::span<const float> a, std::span<const float> b, const Unit& unit) {
    return std::any_of(unit.features.begin(), unit.features.end(), [&](size_t j) {
        return a[j] != b[j] && !(std::isnan(a[j]) && std::isnan(b[j]));
    });
}

}  // namespace rampart::attribution
