#include "leaf_values.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/ope/estimator.hpp"

namespace rampart::constraints {
namespace {

/// Returns the model of the impact, or for the upper end of minus the impact, so that missing
/// outcomes are at their worst for that end.
ope::ImpactModel impact_model(const LeafView& view, const LeafPlan& plan, bool upper) {
    const Settings& s = view.settings;
    const double sign = upper ? -1 : 1;
    ope::ImpactModel model{.lo = upper ? -view.impact_range.hi : view.impact_range.lo,
                           .hi = upper ? -view.impact_range.lo : view.impact_range.hi,
                           .q_approve = sign * plan.q_approve,
                           .q_decline = sign * plan.q_decline,
                           .declines_overridden = s.declines_overridden,
                           .q_refer = sign * plan.q_refer};
    if (view.declined_impact) model.declined = sign * *view.declined_impact;
    if (!view.leaf.minus) model.absolute = 0;
    return model;
}

ope::Record record_of(const LeafView& view, size_t i) {
    const Log& log = view.log;
    ope::Record out{.p = log.p_approve[i],
                    .approved = log.approved[i] != 0,
                    .candidate = view.probability(view.leaf.policy, i),
                    .reference = view.leaf.minus ? view.probability(*view.leaf.minus, i) : 0,
                    .impact = std::nullopt,
                    .overridden = log.overridden[i] != 0};
    if (log.referred.empty()) return out;
    out.p_refer = log.p_refer[i];
    out.candidate_refer = view.refer_probability(view.leaf.policy, i);
    if (view.leaf.minus) out.reference_refer = view.refer_probability(*view.leaf.minus, i);
    out.referral = log.referral(i);
    return out;
}

/// Returns P(approve) by the leaf's policy, or the difference of its two.
double approval(const LeafView& view, size_t i) {
    const double own = view.probability(view.leaf.policy, i);
    return view.leaf.minus ? own - view.probability(*view.leaf.minus, i) : own;
}

/// Returns the impact of an application with a known label, given the impact of granting it. A
/// decline's is known; it cancels in a difference.
double impact_given_label(const LeafView& view, size_t i, double granted) {
    const double declined = *view.declined_impact, change = approval(view, i);
    return view.leaf.minus ? change * (granted - declined)
                           : change * granted + (1 - change) * declined;
}

/// Returns v for all quantities but an impact.
double plain_value(const LeafView& view, size_t i, double label) {
    switch (view.leaf.quantity) {
        case Quantity::kLabel:
            return label;
        case Quantity::kDecision:
            return approval(view, i);
        case Quantity::kDecisionLabel:
            return approval(view, i) * label;
        case Quantity::kLoss: {
            const double pi = approval(view, i);
            if (view.leaf.minus) return label == 1 ? -pi : pi;
            return label == 1 ? 1 - pi : pi;
        }
        case Quantity::kImpact:
            break;
    }
    return std::nan("");
}

/// Returns whether the estimate may fall below `lo`, or the logging policy never took an action
/// that matters.
bool leaves(const ope::Record& record, const ope::ImpactModel& model, double lo) {
    return !ope::has_support(record, model) || ope::change_range(record, model).lo < lo;
}

/// Returns v of a record for the lower end, or -v for the upper one; the label is known if it
/// matters.
double value(const LeafView& view, const LeafPlan& plan, const ope::ImpactModel& model, size_t i,
             double label, double impact, bool upper) {
    const double sign = upper ? -1 : 1;
    if (view.leaf.quantity != Quantity::kImpact) return sign * plain_value(view, i, label);
    const bool known = view.log.has_impact[i] != 0;
    const bool within = impact >= view.declared.lo && impact <= view.declared.hi;
    if (known && !within && view.impact_matters(i)) return std::nan("");
    impact = view.averaged(impact);
    if (view.impact_by_label()) {
        const bool gains = (approval(view, i) > 0) != upper;
        const double worst = gains ? view.impact_range.lo : view.impact_range.hi;
        // a granted loan, or else its label would be missing
        return sign * impact_given_label(view, i, known ? impact : worst);
    }
    ope::Record record = record_of(view, i);
    const double lo = upper ? -plan.hi : plan.lo, hi = upper ? -plan.lo : plan.hi;
    if (view.fixed() && leaves(record, model, lo)) {
        return std::clamp(ope::least_change(record, model), lo, hi);
    }
    if (known) record.impact = sign * impact;
    // a rounding that differs from the mirrored range's must not lead out of it
    return std::clamp(ope::impact_change(record, model), lo, hi);
}

}  // namespace

double LeafView::averaged(double impact) const {
    if (leaf.value == Leaf::Value::kItself || std::isnan(impact)) return impact;
    if (leaf.value == Leaf::Value::kShortfall) return std::min(impact - threshold, 0.0);
    switch (leaf.relation) {
        case Relation::kLess:
            return impact < threshold ? 1 : 0;
        case Relation::kAtMost:
            return impact <= threshold ? 1 : 0;
        case Relation::kGreater:
            return impact > threshold ? 1 : 0;
        case Relation::kAtLeast:
            return impact >= threshold ? 1 : 0;
        default:
            return std::nan("");
    }
}

LeafView view_of(const Program& program, const Settings& settings, const Log& log, size_t leaf,
                 const LeafPlan& plan) {
    LeafView out{program.leaves[leaf], program.impact_range, settings, log, log.members[leaf]};
    out.threshold = plan.threshold.value_or(out.leaf.threshold);
    const double a = out.averaged(out.declared.lo), b = out.averaged(out.declared.hi);
    out.impact_range = {std::min(a, b), std::max(a, b)};
    if (settings.declined_impact) out.declined_impact = out.averaged(*settings.declined_impact);
    return out;
}

Interval value_range(const LeafView& view, const LeafPlan& plan) {
    if (view.leaf.quantity != Quantity::kImpact) return range_of(view.leaf, view.impact_range);
    const ope::ImpactModel model = impact_model(view, plan, false);
    Interval out;
    bool first = true;
    const auto include = [&](double lo, double hi) {
        out = first ? Interval{lo, hi} : Interval{std::min(out.lo, lo), std::max(out.hi, hi)};
        first = false;
    };
    for (size_t i = 0; i < view.log.size(); ++i) {
        if (!view.may_belong(i)) continue;
        if (view.impact_by_label()) {
            const double a = impact_given_label(view, i, view.impact_range.lo);
            const double b = impact_given_label(view, i, view.impact_range.hi);
            include(std::min(a, b), std::max(a, b));
        } else {
            const ope::Interval range = ope::change_range(record_of(view, i), model);
            include(range.lo, range.hi);
        }
    }
    return out;
}

Interval possible_range(const LeafView& view) {
    if (view.leaf.quantity != Quantity::kImpact) return range_of(view.leaf, view.impact_range);
    const Interval impact = view.impact_range;
    if (!view.leaf.minus) return impact;  // a known decline's lies in it, too
    const bool bounded =
        view.leaf.policy == Policy::kCandidate && *view.leaf.minus == Policy::kReference;
    const Settings& s = view.settings;
    // a referral's impact is not known, whatever is known of a decline's
    const bool known = s.declined_impact && !s.declines_overridden && !s.referrals;
    const double worst =
        known ? std::max(impact.hi - *view.declined_impact, *view.declined_impact - impact.lo)
              : impact.hi - impact.lo;
    const double most = (bounded ? s.max_change : 1) * worst + 1e-7 * (impact.hi - impact.lo);
    return {-most, most};
}

bool beyond_range(const LeafView& view, const LeafPlan& plan, size_t i) {
    if (!view.fixed() || !view.may_belong(i)) return false;
    if (view.leaf.quantity != Quantity::kImpact || view.impact_by_label()) {
        return view.too_heavy(plan, i);
    }
    const ope::Record record = record_of(view, i);
    return leaves(record, impact_model(view, plan, false), plan.lo) ||
           leaves(record, impact_model(view, plan, true), -plan.hi);
}

bool has_support(const LeafView& view, size_t i) {
    if (!view.may_belong(i)) return true;
    if (view.weighted()) return view.log.p_approve[i] > 0;
    if (view.leaf.quantity != Quantity::kImpact) return true;
    return ope::has_support(record_of(view, i), impact_model(view, {}, false));
}

Sums sums_of(const LeafView& view, const LeafPlan& plan, const Outcomes& outcomes, bool upper) {
    constexpr uint32_t kNobody = UINT32_MAX;
    const ope::ImpactModel model = impact_model(view, plan, upper);
    const double worst = upper ? -plan.hi : plan.lo;
    std::vector<uint32_t> unit(view.log.persons, kNobody);
    Sums out;
    for (size_t i = 0; i < view.log.size(); ++i) {
        if (!view.contributes(plan, i)) continue;
        uint32_t& u = unit[view.log.person[i]];
        if (u == kNobody) {
            u = static_cast<uint32_t>(out.n.size());
            out.n.push_back(0);
            out.d.push_back(0);
        }
        const bool heavy = view.too_heavy(plan, i);
        const double w = heavy ? 1 : view.weight(i);
        double v = worst;
        if (heavy) {
            // neither draw nor label count
        } else if (!view.label_matters() || view.log.has_label[i] != 0) {
            const double label = view.label_matters() ? outcomes.label[i] : 0;
            if (label != 0 && label != 1) out.n[u] = std::nan("");
            const uint8_t wanted = label == 1 ? kMemberIfFavourable : kMemberIfUnfavourable;
            if (view.label_matters() && (view.members[i] & wanted) == 0) continue;
            const double impact = view.leaf.quantity == Quantity::kImpact ? outcomes.impact[i] : 0;
            v = value(view, plan, model, i, label, impact, upper);
        }
        out.n[u] += w * v;
        out.d[u] += w;
    }
    const size_t erased = view.fixed() ? view.log.erased : 0;
    out.n.insert(out.n.end(), erased, plan.max_weight * worst);
    out.d.insert(out.d.end(), erased, plan.max_weight);
    return out;
}

}  // namespace rampart::constraints
