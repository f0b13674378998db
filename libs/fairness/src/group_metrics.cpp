#include "rampart/fairness/group_metrics.hpp"

#include <cmath>

#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/fairness/reasons.hpp"

namespace rampart::fairness {
namespace {

base::Status check(const GroupedDecisions& d, std::span<const std::string> names,
                   double confidence) {
    if (!(confidence > 0 && confidence < 1))
        return base::make_error(Reason::kBadConfidence, "confidence {} is outside (0, 1)",
                                confidence);
    if (names.empty() || names.size() > base::limits::kMaxGroups)
        return base::make_error(base::Reason::kBadGroupCount, "{} groups: give 1 to {}",
                                names.size(), base::limits::kMaxGroups);
    const size_t n = d.label.size();
    if (d.group.size() != n)
        return base::make_error(base::Reason::kSizeMismatch,
                                "{} labels but {} groups: give one of each a row", n,
                                d.group.size());
    RAMPART_RETURN_IF_ERROR(stats::validate(
        stats::ScoredRows{.label = d.label, .score = d.approve, .weight = d.weight}));
    for (size_t i = 0; i < n; ++i)
        if (d.group[i] < 0 || static_cast<size_t>(d.group[i]) >= names.size())
            return base::make_error(base::Reason::kBadGroup,
                                    "row {}: group {} is not one of the {} named", i, d.group[i],
                                    names.size());
    return base::ok();
}

}  // namespace

std::optional<Gap> gap_of(std::span<const GroupMetrics> groups,
                          stats::Tally stats::DecisionRates::*rate, double confidence) {
    Gap gap;
    std::vector<size_t> defined;
    for (size_t k = 0; k < groups.size(); ++k)
        ((groups[k].rates.*rate).empty() ? gap.undefined : defined).push_back(k);
    if (defined.size() < 2) return std::nullopt;

    const auto value = [&](size_t k) { return *(groups[k].rates.*rate).rate(); };
    gap.highest = gap.lowest = defined.front();
    for (size_t k : defined) {
        if (value(k) > value(gap.highest)) gap.highest = k;
        if (value(k) < value(gap.lowest)) gap.lowest = k;
    }
    if (gap.highest == gap.lowest) gap.lowest = defined.back();  // all equal: still two groups
    gap.difference = value(gap.highest) - value(gap.lowest);
    if (value(gap.highest) > 0) gap.ratio = value(gap.lowest) / value(gap.highest);
    const double pairs = static_cast<double>(defined.size() * (defined.size() - 1)) / 2;
    gap.interval = *stats::newcombe(groups[gap.highest].rates.*rate, groups[gap.lowest].rates.*rate,
                                    1 - (1 - confidence) / pairs);
    return gap;
}

base::Result<GroupReport> group_report(const GroupedDecisions& decisions,
                                       std::span<const std::string> names, double confidence) {
    RAMPART_RETURN_IF_ERROR(check(decisions, names, confidence));
    GroupReport report;
    report.confidence = confidence;
    for (const auto& name : names) report.groups.push_back({name, {}});
    for (size_t i = 0; i < decisions.label.size(); ++i) {
        const double weight = decisions.weight.empty() ? 1.0 : decisions.weight[i];
        const auto group = static_cast<size_t>(decisions.group[i]);
        report.groups[group].rates.add(weight, decisions.label[i], decisions.approve[i]);
        report.overall.add(weight, decisions.label[i], decisions.approve[i]);
    }
    using R = stats::DecisionRates;
    report.approved = gap_of(report.groups, &R::approved, confidence);
    report.false_positive = gap_of(report.groups, &R::false_positive, confidence);
    report.false_negative = gap_of(report.groups, &R::false_negative, confidence);
    report.accuracy = gap_of(report.groups, &R::correct, confidence);
    report.base = gap_of(report.groups, &R::base, confidence);
    return report;
}

}  // namespace rampart::fairness
