#include "rampart/monitoring/group_months.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/reasons.hpp"
#include "rampart/monitoring/reasons.hpp"
#include "rampart/stats/distributions.hpp"
#include "rampart/stats/metrics.hpp"

namespace rampart::monitoring {

using base::Result;

namespace {

/// Returns the interval of p / q from those of p and q > 0 (Donner and Zou 2012, "Closed-form
/// confidence intervals for functions of the normal mean and standard deviation", equations 8, 9).
stats::Interval ratio_interval(double p, const stats::Interval& of_p, double q,
                               const stats::Interval& of_q) {
    const auto root = [&](double end, double other_end) {
        const double square = p * p * q * q - end * other_end * (2 * p - end) * (2 * q - other_end);
        return std::sqrt(std::max(square, 0.0));
    };
    // where q may be as little as nothing, the quotient of the ends, which is lower
    const double below = of_q.hi * (2 * q - of_q.hi), above = of_q.lo * (2 * q - of_q.lo);
    const double lo = below > 0 ? (p * q - root(of_p.lo, of_q.hi)) / below : of_p.lo / of_q.hi;
    return {std::max(lo, 0.0), (p * q + root(of_p.hi, of_q.lo)) / above};
}

}  // namespace

std::optional<double> Share::value() const {
    if (of < kFewestForRate) return std::nullopt;
    return static_cast<double>(hits) / static_cast<double>(of);
}

std::optional<stats::Interval> Share::interval() const {
    const auto rate = value();
    if (!rate) return std::nullopt;
    return stats::wilson(*rate, static_cast<double>(of), kMonthConfidence);
}

void Mean::add(double value) {
    ++n;
    const double before = value - mean;
    mean += before / static_cast<double>(n);
    squares += before * (value - mean);
}

void Mean::add(const Mean& other) {
    if (other.n == 0) return;
    const double apart = other.mean - mean;
    const double mine = static_cast<double>(n), theirs = static_cast<double>(other.n);
    n += other.n;
    mean += apart * theirs / (mine + theirs);
    squares += other.squares + apart * apart * mine * theirs / (mine + theirs);
}

std::optional<double> Mean::value() const {
    return n < kFewestForRate ? std::optional<double>() : mean;
}

std::optional<stats::Interval> Mean::interval() const {
    if (n < kFewestForMean || squares <= 0) return std::nullopt;
    const double values = static_cast<double>(n);
    const double error = std::sqrt(squares / (values - 1) / values);
    const double half =
        error * stats::student_t_quantile(1 - (1 - kMonthConfidence) / 2, values - 1);
    return stats::Interval{mean - half, mean + half};
}

void GroupMonth::add(const MonthCase& one) {
    ++decisions;
    p_approve += one.p_approve;
    approved += one.approved ? 1 : 0;
    if (one.impact_matured) {
        ++impact_due;
        if (one.impact) impact.add(*one.impact);
    }
    if (!one.matured) return;
    ++matured;
    if (!one.approved) return;
    ++matured_approved;
    censored += one.censored ? 1 : 0;
    if (!one.label) return;
    ++labelled;
    unfavourable += *one.label < 0.5 ? 1 : 0;
}

void GroupMonth::add(const GroupMonth& other) {
    decisions += other.decisions;
    approved += other.approved;
    matured += other.matured;
    p_approve += other.p_approve;
    matured_approved += other.matured_approved;
    labelled += other.labelled;
    censored += other.censored;
    unfavourable += other.unfavourable;
    impact_due += other.impact_due;
    impact.add(other.impact);
}

std::optional<stats::Interval> GroupMonth::impact_interval() const {
    if (std::min(unfavourable, labelled - unfavourable) < kFewestOfEach) return std::nullopt;
    return impact.interval();
}

std::optional<ImpactRatio> impact_ratio(const GroupMonth& group, const GroupMonth& reference) {
    const auto one = group.approval(), other = reference.approval();
    if (!one.value() || !other.value() || other.hits == 0) return std::nullopt;
    const double p = *one.value(), q = *other.value();
    return ImpactRatio{p / q, ratio_interval(p, *one.interval(), q, *other.interval())};
}

Result<GroupMonths> GroupMonths::create(std::vector<std::string> names,
                                        const std::vector<std::string>& references) {
    GroupMonths months;
    months.names_ = std::move(names);
    for (const auto& name : references) {
        const auto found = std::find(months.names_.begin(), months.names_.end(), name);
        if (found == months.names_.end())
            return base::make_error(base::Reason::kUnknownGroup,
                                    "'{}' is no group of the protected attributes; groups are: {}",
                                    name, fmt::join(months.names_, ", "));
        const auto group = static_cast<uint32_t>(found - months.names_.begin());
        const auto attributes = months.attributes_of(group);
        if (!months.declared_.emplace(attributes, group).second)
            return base::make_error(Reason::kTwoReferences,
                                    "'{}' is the second reference of '{}'; name one of each", name,
                                    attributes);
    }
    return months;
}

/// Returns "sex" for "sex=female", "sex,age" for "sex=female,age=old".
std::string GroupMonths::attributes_of(uint32_t group) const {
    std::string attributes;
    std::string_view rest = names_[group];
    while (!rest.empty()) {
        const auto part = rest.substr(0, rest.find(','));
        if (!attributes.empty()) attributes += ',';
        attributes += part.substr(0, part.find('='));
        rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    }
    return attributes;
}

void GroupMonths::add(const MonthCase& one) {
    auto at = counts_.find(one.month);
    if (at == counts_.end())
        at = counts_.emplace(one.month, std::vector<GroupMonth>(names_.size() + 1)).first;
    auto& counts = at->second;
    for (const uint32_t group : one.groups) counts[group].add(one);
    counts.back().add(one);
}

std::vector<std::string> GroupMonths::months() const {
    std::vector<std::string> months;
    for (const auto& [month, counts] : counts_) months.push_back(month);
    return months;
}

GroupMonth GroupMonths::of(const std::string& month, std::optional<uint32_t> group) const {
    const auto at = counts_.find(month);
    return at == counts_.end() ? GroupMonth() : at->second[group.value_or(names_.size())];
}

GroupMonth GroupMonths::whole(std::optional<uint32_t> group) const {
    GroupMonth sum;
    for (const auto& [month, counts] : counts_) sum.add(counts[group.value_or(names_.size())]);
    return sum;
}

uint32_t GroupMonths::reference_of(uint32_t group) const {
    const auto attributes = attributes_of(group);
    if (const auto at = declared_.find(attributes); at != declared_.end()) return at->second;
    uint32_t largest = group;
    uint64_t most = 0;
    for (uint32_t other = 0; other < names_.size(); ++other) {
        if (attributes_of(other) != attributes) continue;
        const uint64_t decisions = whole(other).decisions;
        if (decisions > most) {
            most = decisions;
            largest = other;
        }
    }
    return most == 0 ? group : largest;
}

}  // namespace rampart::monitoring
