#include "compared.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "rampart/fairness/rate_system.hpp"
#include "rampart/postprocessing/reasons.hpp"

namespace rampart::postprocessing {
namespace {

/// Returns whether the group's name has all of the member's: "sex=f" of "race=a,sex=f".
bool has_member(const std::string& group, const std::string& member) {
    return fmt::format(",{},", group).find(fmt::format(",{},", member)) != std::string::npos;
}

/// Returns each group's stratum by the attribute's value; empty without an attribute.
base::Result<std::vector<int32_t>> strata_of(const std::vector<std::string>& names,
                                             const std::string& attribute) {
    if (attribute.empty()) return std::vector<int32_t>();
    dataset::Dataset one_each;  // a row for each group
    one_each.group_names = names;
    for (size_t k = 0; k < names.size(); ++k) one_each.group.push_back(static_cast<int32_t>(k));
    one_each.label.assign(names.size(), 0);
    fairness::RateConstraints constraints;
    constraints.parity = {{fairness::Rate::kApproval, 1, attribute}};
    RAMPART_TRY(const auto system, fairness::RateSystem::create(one_each, constraints));
    std::vector<int32_t> strata(names.size());
    int32_t stratum = 0;
    for (const auto& rate : system.parity()[0].rates) {
        for (const auto& term : rate.terms) strata[term.cell % names.size()] = stratum;
        ++stratum;
    }
    return strata;
}

size_t largest_group(const Rows& rows) {
    std::vector<double> weight(rows.groups());
    for (size_t i = 0; i < rows.size(); ++i)
        if (rows.group[i] >= 0) weight[static_cast<size_t>(rows.group[i])] += rows.weight_of(i);
    return static_cast<size_t>(std::max_element(weight.begin(), weight.end()) - weight.begin());
}

struct GroupRate {
    double weight = 0, approved = 0;
    double rate() const { return approved / weight; }
};

std::string_view name_of(Among among) {
    return among == Among::kAll          ? "approval rates"
           : among == Among::kFavourable ? "true positive rates"
                                         : "false positive rates";
}

base::Result<std::vector<GroupRate>> rates_of(const MeasuredRows& m, Among among) {
    if (among != Among::kAll && m.rows.label.size() != m.rows.size())
        return base::make_error(Reason::kNoLabels,
                                "{} are about labels, which the rows do not have", name_of(among));
    std::vector<GroupRate> out(m.compared.groups);
    for (size_t i = 0; i < m.rows.size(); ++i) {
        if (among != Among::kAll && (m.rows.label[i] == 1) != (among == Among::kFavourable))
            continue;
        auto& group = out[m.compared.of(m.rows, i)];
        group.weight += m.rows.weight_of(i);
        group.approved += m.rows.weight_of(i) * m.approve[i];
    }
    for (size_t k = 0; k < out.size(); ++k)
        if (!(out[k].weight > 0))
            return base::make_error(Reason::kGroupWithoutRows,
                                    "group '{}' has no row that {} are about: it cannot be judged; "
                                    "wait for more rows, hold more persons out, or leave the group "
                                    "out",
                                    m.compared.names[k], name_of(among));
    return out;
}

/// Returns what was found in each stratum by a feature; empty: there are none.
std::string by_stratum(const Compared& compared, const std::vector<double>& found) {
    std::string text;
    for (size_t s = 0; s < found.size(); ++s)
        text += fmt::format("{}{} {:.4f}", s == 0 ? "; by stratum: " : ", ", compared.features[s],
                            found[s]);
    return text;
}

/// Returns the names, or, where they are not known, what they look like: "sex=…,age=…".
std::vector<std::string> allowed(const learning::GroupsToCome& groups) {
    if (!groups.names.empty()) return groups.names;
    return {fmt::format("{}=…", fmt::join(groups.attributes, "=…,"))};
}

/// Returns whether the name can be one of the groups: it has a value of each attribute, in order.
bool may_be_named(std::string_view name, const learning::GroupsToCome& groups) {
    if (!groups.names.empty())
        return std::find(groups.names.begin(), groups.names.end(), name) != groups.names.end();
    size_t from = 0;
    for (const auto& attribute : groups.attributes) {
        const auto part = fmt::format("{}{}=", from == 0 ? "" : ",", attribute);
        const auto at = name.find(part, from);
        if (at == std::string_view::npos || (from == 0 && at != 0)) return false;
        from = at + part.size();
    }
    return true;
}

base::Status check_member(const std::string& member, const learning::GroupsToCome& groups) {
    RAMPART_RETURN_IF_ERROR(learning::check_attribute(
        "member", member, std::string_view(member).substr(0, member.find('=')), groups));
    if (groups.names.empty()) return base::ok();
    Rows rows;
    rows.group_names = groups.names;
    return compare_member(rows, member, "").map([](const auto&) {});
}

}  // namespace

base::Status check_groups(const learning::OptionValues& values,
                          const learning::GroupsToCome& groups) {
    RAMPART_RETURN_IF_ERROR(learning::check_groups(values, groups));
    const auto text = [&](std::string_view option) {
        return values.has(option) ? values.text(option) : std::string();
    };
    if (const auto within = text("within"); !within.empty())
        RAMPART_RETURN_IF_ERROR(learning::check_attribute("within", within, within, groups));
    if (const auto member = text("member"); !member.empty())
        RAMPART_RETURN_IF_ERROR(check_member(member, groups));
    if (!values.has("group_tolerances")) return base::ok();
    for (const auto& one : values.texts("group_tolerances")) {
        RAMPART_TRY(const auto tolerance, group_tolerance(one));
        if (!may_be_named(tolerance.first, groups)) return no_such_group(one, allowed(groups));
    }
    return base::ok();
}

base::Result<std::pair<std::string, double>> group_tolerance(const std::string& text) {
    const auto colon = text.rfind(':');
    const auto number = std::string_view(text).substr(std::min(text.size(), colon + 1));
    double value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    const bool is_share =
        error == std::errc{} && end == number.data() + number.size() && value >= 0 && value <= 1;
    if (colon != std::string::npos && is_share) return std::pair(text.substr(0, colon), value);
    return base::make_error(Reason::kBadGroupTolerance,
                            "group_tolerances has '{}': wanted is GROUP:NUMBER, and '{}' is no "
                            "number from 0 to 1",
                            text, number);
}

base::Error no_such_group(const std::string& text, const std::vector<std::string>& names) {
    return base::make_error(Reason::kBadGroupTolerance,
                            "group_tolerances has '{}': wanted is GROUP:NUMBER with one of the "
                            "groups {}",
                            text, fmt::join(names, "; "));
}

model::RampRule Compared::expanded(const model::RampRule& rule) const {
    model::RampRule out = rule;
    out.thresholds.clear(), out.ties.clear(), out.slopes.clear();
    for (const int32_t k : of_cell) {
        const auto at = static_cast<size_t>(k);
        out.thresholds.push_back(rule.thresholds[at]);
        out.ties.push_back(rule.ties[at]);
        if (!rule.slopes.empty()) out.slopes.push_back(rule.slopes[at]);
    }
    return out;
}

base::Result<Compared> compare_groups(const std::vector<std::string>& names,
                                      const std::string& within) {
    Compared out;
    for (size_t k = 0; k < names.size(); ++k) out.of_cell.push_back(static_cast<int32_t>(k));
    out.names = names;
    out.groups = names.size();
    RAMPART_TRY(out.strata, strata_of(names, within));
    return out;
}

base::Result<Compared> compare_member(const Rows& rows, const std::string& member,
                                      const std::string& within) {
    const auto& names = rows.group_names;
    RAMPART_TRY(const auto plain, compare_groups(names, within));
    if (member.empty() && (names.size() == 2 || !within.empty())) return plain;
    const auto wanted = member.empty() ? names[largest_group(rows)] : member;
    std::vector<std::pair<size_t, bool>> keys;  // (stratum, is a member) of each group
    for (size_t k = 0; k < names.size(); ++k)
        keys.emplace_back(plain.stratum_of(k), has_member(names[k], wanted));
    const auto members =
        std::count_if(keys.begin(), keys.end(), [](const auto& key) { return key.second; });
    if (members == 0 || static_cast<size_t>(members) == names.size())
        return base::make_error(Reason::kNoSuchMember,
                                "member '{}' is in the names of {} of the groups {}: wanted is one "
                                "that some of them have",
                                wanted, members, fmt::join(names, "; "));
    auto distinct = keys;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    Compared out;
    for (const auto& key : keys)
        out.of_cell.push_back(static_cast<int32_t>(
            std::find(distinct.begin(), distinct.end(), key) - distinct.begin()));
    out.groups = distinct.size();
    for (const auto& [stratum, is_member] : distinct) {
        out.names.push_back(is_member ? wanted : fmt::format("not {}", wanted));
        if (!within.empty()) out.strata.push_back(static_cast<int32_t>(stratum));
    }
    return out;
}

Compared within_strata(Compared compared, const Rows& rows) {
    if (rows.stratum.empty()) return compared;
    const size_t attribute_strata = compared.strata.empty()
                                        ? 1
                                        : 1 + static_cast<size_t>(*std::max_element(
                                                  compared.strata.begin(), compared.strata.end()));
    Compared out;
    out.groups = rows.stratum_names.size() * compared.groups;
    out.features = rows.stratum_names;
    for (size_t s = 0; s < rows.stratum_names.size(); ++s) {
        for (const int32_t k : compared.of_cell)
            out.of_cell.push_back(static_cast<int32_t>(s * compared.groups) + k);
        for (size_t k = 0; k < compared.groups; ++k) {
            out.names.push_back(
                fmt::format("{} with {}", compared.names[k], rows.stratum_names[s]));
            out.strata.push_back(
                static_cast<int32_t>(s * attribute_strata + compared.stratum_of(k)));
            out.feature_stratum_of.push_back(s);
        }
    }
    return out;
}

base::Result<Kept> kept_rate(const MeasuredRows& measured, Among among,
                             const std::function<double(size_t)>& tolerance) {
    RAMPART_TRY(const auto rates, rates_of(measured, among));
    const auto& compared = measured.compared;
    Kept out{.beyond = -1};
    size_t high = 0, low = 0;
    std::vector<double> by_feature(compared.features.size());
    for (size_t a = 0; a < rates.size(); ++a) {
        for (size_t b = 0; b < rates.size(); ++b) {
            if (compared.stratum_of(a) != compared.stratum_of(b)) continue;
            const double apart = rates[a].rate() - rates[b].rate();
            if (!by_feature.empty()) {
                auto& most = by_feature[compared.feature_stratum_of[a]];
                most = std::max(most, apart);
            }
            out.beyond = std::max(out.beyond, apart - (tolerance(a) + tolerance(b)) / 2);
            if (apart <= out.most) continue;
            out.most = apart;
            high = a, low = b;
        }
    }
    out.text = fmt::format("{} differ by {:.4f} ({} {:.4f}, {} {:.4f})", name_of(among), out.most,
                           compared.names[high], rates[high].rate(), compared.names[low],
                           rates[low].rate());
    out.text += by_stratum(compared, by_feature);
    return out;
}

base::Result<Kept> kept_covariance(const MeasuredRows& measured, double tolerance) {
    RAMPART_TRY(const auto rates, rates_of(measured, Among::kAll));
    const auto& compared = measured.compared;
    Kept out{.beyond = -1};
    std::vector<double> by_feature(compared.features.size());
    for (size_t a = 0; a < rates.size(); ++a) {
        for (size_t b = a + 1; b < rates.size(); ++b) {
            if (compared.stratum_of(a) != compared.stratum_of(b)) continue;
            const double share = rates[b].weight / (rates[a].weight + rates[b].weight);
            const double found =
                std::abs(share * (1 - share) * (rates[b].rate() - rates[a].rate()));
            if (!by_feature.empty()) {
                auto& most = by_feature[compared.feature_stratum_of[a]];
                most = std::max(most, found);
            }
            if (found < out.most) continue;
            out.most = found;
            out.text = fmt::format("the covariance of approval and {} is {:.4f}", compared.names[b],
                                   found);
        }
    }
    out.text += by_stratum(compared, by_feature);
    out.beyond = out.most - tolerance;
    return out;
}

}  // namespace rampart::postprocessing
