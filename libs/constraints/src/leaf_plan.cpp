#include "leaf_plan.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/constraints/reasons.hpp"
#include "rampart/stats/confidence_bound.hpp"

namespace rampart::constraints {
namespace {

using base::make_error;

/// Distance by which a record of the vault may go beyond those of the development set.
constexpr double kRangeReserve = 0.25;

/// Fixes the ranges of v and w before the vault is read.
void fix_ranges(const LeafView& view, LeafPlan& plan) {
    const Interval possible = possible_range(view);
    plan.lo = possible.lo;
    plan.hi = possible.hi;
    double weight = 1;
    for (size_t i = 0; view.weighted() && i < view.log.size(); ++i) {
        if (!view.may_belong(i) || !(view.log.p_approve[i] > 0)) continue;
        weight = std::max(weight, (1 + kRangeReserve) / view.log.p_approve[i]);
    }
    plan.max_weight = weight * static_cast<double>(view.settings.records_per_person);
    if (view.leaf.quantity != Quantity::kImpact || view.impact_by_label()) return;
    const Interval range = value_range(view, plan);
    const double reserve = kRangeReserve / 2 * (range.hi - range.lo);
    plan.lo = std::min(plan.lo, range.lo - reserve);
    plan.hi = std::max(plan.hi, range.hi + reserve);
}

/// Mean impact of an action among records that may belong, and the number of outcomes in it.
struct ActionMean {
    double mean = 0;
    size_t outcomes = 0;
};
enum class Action { kDecline, kApprove, kRefer };

ActionMean mean_impact(const LeafView& view, const Outcomes& outcomes, Action action) {
    stats::Sum sum;
    size_t n = 0;
    for (size_t i = 0; i < view.log.size(); ++i) {
        const Action drawn = view.log.referral(i) != ope::Referral::kNone ? Action::kRefer
                             : view.log.approved[i] != 0                  ? Action::kApprove
                                                                          : Action::kDecline;
        if (!view.may_belong(i) || drawn != action) continue;
        if (!view.impact_matters(i)) {
            sum.add(*view.declined_impact);
        } else if (view.log.has_impact[i] != 0) {
            sum.add(view.averaged(outcomes.impact[i]));
        } else {
            continue;
        }
        ++n;
    }
    return {n > 0 ? sum.value() / static_cast<double>(n) : 0, n};
}

base::Status control_variates_from(const LeafView& view, const Outcomes& outcomes, LeafPlan& plan) {
    if (view.leaf.quantity != Quantity::kImpact || view.impact_by_label()) return base::ok();
    const Settings& s = view.settings;
    const bool known = s.declined_impact && !s.declines_overridden;
    const ActionMean approve = mean_impact(view, outcomes, Action::kApprove);
    const ActionMean decline = mean_impact(view, outcomes, Action::kDecline);
    if (approve.outcomes < s.min_outcomes || (!known && decline.outcomes < s.min_outcomes)) {
        return make_error(
            Reason::kTooFewSelectionOutcomes,
            "{}: the development set has {} impacts of approvals and {} of declines; {} are "
            "needed of each action whose impact is not known",
            text(view.leaf), approve.outcomes, decline.outcomes, s.min_outcomes);
    }
    const Interval range = view.impact_range;
    plan.q_approve = std::clamp(approve.mean, range.lo, range.hi);
    plan.q_decline = known ? *view.declined_impact : std::clamp(decline.mean, range.lo, range.hi);
    if (!s.referrals) return base::ok();
    const ActionMean refer = mean_impact(view, outcomes, Action::kRefer);
    plan.q_refer = refer.outcomes >= s.min_outcomes ? std::clamp(refer.mean, range.lo, range.hi)
                                                    : (plan.q_approve + plan.q_decline) / 2;
    return base::ok();
}

/// Returns the share of persons with a known value among those who may meet the condition.
double known_share(const LeafView& view, const Sums& sums) {
    std::vector<uint8_t> may(view.log.persons, 0);
    for (size_t i = 0; i < view.log.size(); ++i) may[view.log.person[i]] |= view.may_belong(i);
    const auto persons = static_cast<double>(std::count(may.begin(), may.end(), 1));
    return persons > 0 ? static_cast<double>(sums.n.size()) / persons : 0;
}

}  // namespace

void measure(const LeafView& view, LeafPlan& plan) {
    plan.records = plan.units = plan.expected = plan.missing = plan.persons = plan.beyond_range = 0;
    std::vector<uint8_t> has_value(view.log.persons, 0);
    std::vector<double> weight(view.log.persons, 0);
    if (!view.fixed()) plan.max_weight = 0;
    for (size_t i = 0; i < view.log.size(); ++i) {
        if (!view.may_belong(i)) continue;
        ++plan.records;
        double& w = weight[view.log.person[i]];
        if (view.fixed()) {
            plan.persons += w == 0;
            w = 1;
            plan.beyond_range += beyond_range(view, plan, i);
        } else {
            w += view.weight(i);
            plan.max_weight = std::max(plan.max_weight, w);
        }
        if (!view.contributes(plan, i)) continue;
        uint8_t& counted = has_value[view.log.person[i]];
        plan.units += counted == 0;
        counted = 1;
        if (view.too_heavy(plan, i)) continue;
        const bool impact = view.impact_matters(i);
        plan.expected += view.label_matters() || impact;
        plan.missing += (view.label_matters() && view.log.has_label[i] == 0) ||
                        (impact && view.log.has_impact[i] == 0);
    }
    plan.erased = view.fixed() ? view.log.erased : 0;
    if (view.fixed()) return;
    const Interval range = value_range(view, plan);
    plan.lo = range.lo;
    plan.hi = range.hi;
}

bool enough_outcomes(const Settings& s, const LeafPlan& plan) {
    const size_t erased = plan.expected > 0 ? plan.erased : 0;
    return static_cast<double>(plan.missing + erased) <=
           s.max_missing_rate * static_cast<double>(plan.expected + erased);
}

base::Error too_many_missing(const LeafView& view) {
    return make_error(Reason::kTooManyMissing,
                      "{}: more than a share of {} of the outcomes that should have "
                      "matured are missing: find out why before testing",
                      text(view.leaf), view.settings.max_missing_rate);
}

size_t planned_units(const Settings& settings, const LeafPlan& plan) {
    if (settings.records_per_person == 0) return plan.units;
    return static_cast<size_t>(plan.selection_known *
                               static_cast<double>(plan.persons + plan.erased));
}

base::Status plan_leaf(const LeafView& view, const Outcomes& outcomes, LeafPlan& plan) {
    RAMPART_RETURN_IF_ERROR(control_variates_from(view, outcomes, plan));
    if (view.fixed()) {
        fix_ranges(view, plan);
    } else {
        const Interval range = value_range(view, plan);
        plan.lo = range.lo;
        plan.hi = range.hi;
    }
    const Sums sums = sums_of(view, plan, outcomes, false);
    stats::Sum n, d;
    for (size_t u = 0; u < sums.n.size(); ++u) {
        n.add(sums.n[u]);
        d.add(sums.d[u]);
        plan.selection_units += sums.d[u] > 0;
    }
    if (plan.selection_units < view.settings.min_outcomes) {
        return make_error(
            Reason::kTooFewSelectionOutcomes,
            "{}: {} persons of the development set meet the condition, {} are needed to "
            "plan the test",
            text(view.leaf), plan.selection_units, view.settings.min_outcomes);
    }
    plan.selection_share =
        static_cast<double>(plan.selection_units) / static_cast<double>(sums.n.size());
    if (view.fixed()) {
        plan.selection_known = known_share(view, sums);
        LeafPlan counts = plan;
        measure(view, counts);
        if (!enough_outcomes(view.settings, counts)) return too_many_missing(view);
    }
    plan.selection_mean = n.value() / d.value();
    std::vector<double> values;
    for (size_t u = 0; u < sums.n.size(); ++u) {
        values.push_back(sums.n[u] - plan.selection_mean * sums.d[u]);
    }
    plan.selection_variance = stats::moments(values).variance;
    const auto persons = static_cast<double>(view.log.persons);
    plan.person_weight = d.value() / persons;
    plan.person_units = static_cast<double>(values.size()) / persons;
    if (std::isfinite(plan.selection_mean) && std::isfinite(plan.selection_variance)) {
        return base::ok();
    }
    return make_error(
        Reason::kBadOutcomes,
        "{}: a label of the development set is not 0 or 1, or an impact is out of the declared "
        "range",
        text(view.leaf));
}

}  // namespace rampart::constraints
