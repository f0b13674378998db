#pragma once

#include <vector>

#include "rampart/constraints/evaluation.hpp"
#include "rampart/constraints/membership.hpp"

namespace rampart::constraints {

/// One leaf on one log.
struct LeafView {
    const Leaf& leaf;
    Interval impact_range;
    const Settings& settings;
    const Log& log;
    std::span<const uint8_t> members;

    bool weighted() const { return uses_label(leaf) && settings.labels == LabelsOf::kGranted; }
    /// Its impact is seen together with its label, of a granted loan alone.
    bool impact_by_label() const { return weighted() && leaf.quantity == Quantity::kImpact; }
    bool may_belong(size_t i) const { return members[i] != 0; }
    /// Whether the record can add anything, as far as is known before its outcome.
    bool tells(size_t i) const { return may_belong(i) && (!weighted() || log.approved[i] != 0); }
    double weight(size_t i) const { return weighted() ? 1 / log.p_approve[i] : 1; }
    bool label_matters() const { return uses_label(leaf); }
    bool impact_matters(size_t i) const {
        return leaf.quantity == Quantity::kImpact &&
               (!settings.declined_impact || (log.approved[i] != 0) != (log.overridden[i] != 0));
    }
    double probability(Policy policy, size_t i) const {
        return (policy == Policy::kCandidate   ? log.candidate
                : policy == Policy::kReference ? log.reference
                                               : log.anchor)[i];
    }
};

/// Range of v over the records that may belong: from x alone.
Interval value_range(const LeafView& view, const LeafPlan& plan);

/// Whether the logger could take the actions that the estimate needs.
bool has_support(const LeafView& view, size_t record);

/// N and D of each person who tells something, by first appearance.
struct Sums {
    std::vector<double> n, d;
};
/// For the lower end; or for the upper one, with -v in the place of v.
Sums sums_of(const LeafView& view, const LeafPlan& plan, const Outcomes& outcomes, bool upper);

}  // namespace rampart::constraints
