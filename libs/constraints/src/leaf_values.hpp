#pragma once

#include <vector>

#include "rampart/constraints/evaluation.hpp"
#include "rampart/constraints/membership.hpp"

namespace rampart::constraints {

/// A leaf on a log.
struct LeafView {
    const Leaf& leaf;
    Interval declared;  // range of impacts
    const Settings& settings;
    const Log& log;
    std::span<const uint8_t> members;
    double threshold = 0;                     // c
    Interval impact_range = declared;         // range of averaged()
    std::optional<double> declined_impact{};  // averaged(), of a decline of known impact

    /// Returns what is averaged in the place of an impact: it falls or rises with the impact.
    double averaged(double impact) const;

    bool weighted() const { return uses_label(leaf) && settings.labels == LabelsOf::kGranted; }
    /// Returns whether the impact is known together with the label, for granted loans only.
    bool impact_by_label() const { return weighted() && leaf.quantity == Quantity::kImpact; }
    bool may_belong(size_t i) const { return members[i] != 0; }
    /// Returns whether ranges are fixed before the vault is read.
    bool fixed() const { return settings.records_per_person > 0; }
    /// Returns whether 1 / p is beyond what the plan's largest weight leaves for a record.
    bool too_heavy(const LeafPlan& plan, size_t i) const {
        const auto records = static_cast<double>(settings.records_per_person);
        return fixed() && weighted() && !(records <= plan.max_weight * log.p_approve[i]);
    }
    /// Returns whether the record may contribute, as far as is known before its outcome.
    bool contributes(const LeafPlan& plan, size_t i) const {
        return may_belong(i) && (!weighted() || log.approved[i] != 0 || too_heavy(plan, i));
    }
    double weight(size_t i) const { return weighted() ? 1 / log.p_approve[i] : 1; }
    bool label_matters() const { return uses_label(leaf); }
    bool impact_matters(size_t i) const {
        return leaf.quantity == Quantity::kImpact &&
               (!settings.declined_impact || !log.not_granted(i));
    }
    double probability(Policy policy, size_t i) const {
        return (policy == Policy::kCandidate   ? log.candidate
                : policy == Policy::kReference ? log.reference
                                               : log.anchor)[i];
    }
    double refer_probability(Policy policy, size_t i) const {
        return (policy == Policy::kCandidate   ? log.candidate_refer
                : policy == Policy::kReference ? log.reference_refer
                                               : log.anchor_refer)[i];
    }
};

/// `plan` has the leaf's threshold, if it is the plan's.
LeafView view_of(const Program& program, const Settings& settings, const Log& log, size_t leaf,
                 const LeafPlan& plan);

/// Returns the range of v over the records that may belong, from x alone.
Interval value_range(const LeafView& view, const LeafPlan& plan);

/// Returns the range of E[v | x] for any x, by declared impacts and trust region.
Interval possible_range(const LeafView& view);

/// Returns whether v may leave [lo, hi] of the plan, so that the record counts the least (for an
/// upper end the most) that x allows.
bool beyond_range(const LeafView& view, const LeafPlan& plan, size_t record);

/// Returns whether the logger could take the actions that the estimate needs.
bool has_support(const LeafView& view, size_t record);

/// N and D of each person with a known value, by first appearance.
struct Sums {
    std::vector<double> n, d;
};
/// Returns the sums for the lower end or, with -v in the place of v, for the upper one.
Sums sums_of(const LeafView& view, const LeafPlan& plan, const Outcomes& outcomes, bool upper);

}  // namespace rampart::constraints
