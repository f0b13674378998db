#include "rampart/constraints/evaluation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "difference.hpp"
#include "forecast.hpp"
#include "leaf_plan.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/constraints/reasons.hpp"
#include "rampart/ope/reasons.hpp"
#include "rampart/stats/confidence_bound.hpp"
#include "rampart/stats/reasons.hpp"

namespace rampart::constraints {
namespace {

using base::make_error;
using base::Result;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

base::Status check_settings(const Settings& s) {
    if (!(s.delta > 0 && s.delta < 1)) {
        return make_error(stats::Reason::kBadDelta, "delta is {}: must lie in (0, 1)", s.delta);
    }
    if (!(s.bet_cap > 0 && s.bet_cap < 1)) {
        return make_error(base::Reason::kBadBetCap, "bet_cap is {}: must lie in (0, 1)", s.bet_cap);
    }
    if (s.min_units < 2 || s.min_outcomes < 2) {
        return make_error(Reason::kBadMinimum, "min_units is {}, min_outcomes {}: at least 2 each",
                          s.min_units, s.min_outcomes);
    }
    if (!(s.max_missing_rate >= 0 && s.max_missing_rate <= 1)) {
        return make_error(Reason::kBadMissingRate, "max_missing_rate is {}: must lie in [0, 1]",
                          s.max_missing_rate);
    }
    return base::ok();
}

bool fits_referrals(const Log& log) {
    const size_t n = log.referred.empty() ? 0 : log.size();
    return log.referred.size() == n && log.p_refer.size() == n && log.candidate_refer.size() == n &&
           log.reference_refer.size() == n &&
           log.anchor_refer.size() == (log.anchor.empty() ? 0 : n);
}

base::Status check_shapes(const Program& program, const Log& log) {
    const size_t n = log.size();
    const auto fits = [n](const auto& span) { return span.size() == n; };
    const bool all = fits(log.p_approve) && fits(log.approved) && fits(log.overridden) &&
                     fits(log.has_label) && fits(log.has_impact) && fits(log.candidate) &&
                     fits(log.reference) && (log.anchor.empty() || fits(log.anchor)) &&
                     fits_referrals(log) && log.members.size() == program.leaves.size() &&
                     std::all_of(log.members.begin(), log.members.end(), fits) &&
                     std::all_of(log.person.begin(), log.person.end(),
                                 [&](uint32_t person) { return person < log.persons; });
    if (all) return base::ok();
    return make_error(ope::Reason::kBadShape,
                      "the log's arrays do not have one entry for each of its {} records, "
                      "its members not one array for each of {} means, or a person's number "
                      "is too large",
                      n, program.leaves.size());
}

/// Refuses what more records would not change.
base::Status check_possible(const LeafView& view) {
    const Leaf& leaf = view.leaf;
    const bool anchor = leaf.policy == Policy::kAnchor || leaf.minus == Policy::kAnchor;
    if (anchor && view.log.anchor.empty() && view.log.size() > 0) {
        return make_error(Reason::kNoAnchor, "{}: there is no anchor policy yet", text(leaf));
    }
    const Settings& s = view.settings;
    if (view.impact_by_label() && (!s.declined_impact || s.declines_overridden || s.referrals)) {
        return make_error(
            Reason::kImpactByLabel,
            "{}: labels are known of granted loans alone, so the impact of declining people with a "
            "given label cannot be estimated unless it is known beforehand: declare the impact of "
            "a decline, or drop the label from the condition",
            text(leaf));
    }
    if (view.fixed()) return base::ok();  // such records count their worst
    size_t unsupported = 0;
    for (size_t i = 0; i < view.log.size(); ++i) unsupported += !has_support(view, i);
    if (unsupported == 0) return base::ok();
    if (view.weighted()) {
        return make_error(
            Reason::kNoSupport,
            "{}: {} applications could not have been approved (propensity 0), and labels are known "
            "of granted loans alone, so it is not known how many of these people would have "
            "repaid: "
            "explore among them, or restrict the condition to those who may be approved",
            text(leaf), unsupported);
    }
    return make_error(Reason::kNoSupport,
                      "{}: on {} records the logging policy never took an action that the "
                      "estimate needs: keep an exploration floor",
                      text(leaf), unsupported);
}

/// Refuses a plan without a threshold of a tail, or with different ones for one end.
base::Status check_thresholds(const Program& program, const Plan& plan) {
    const Interval range = program.impact_range;
    for (size_t i = 0; i < program.leaves.size(); ++i) {
        const Leaf& leaf = program.leaves[i];
        const auto& c = plan.leaves[i].threshold;
        bool fits =
            c.has_value() == leaf.tail.has_value() && (!c || (*c >= range.lo && *c <= range.hi));
        for (size_t j = 0; leaf.tail && j < i; ++j) {
            const Leaf& other = program.leaves[j];
            fits = fits && (other.tail != leaf.tail || other.policy != leaf.policy ||
                            !(other.condition == leaf.condition) || plan.leaves[j].threshold == c);
        }
        if (fits) continue;
        return make_error(base::Reason::kBadRange,
                          "{}: the plan has the threshold {}: one within the declared range [{}, "
                          "{}] is needed for each end of a tail, and for nothing else",
                          text(leaf), c ? fmt::format("{}", *c) : "none", range.lo, range.hi);
    }
    return base::ok();
}

/// Refuses ranges that a record could leave. Their own values cannot be computed again.
base::Status check_fixed_ranges(const LeafView& view, const LeafPlan& plan) {
    const Interval possible = possible_range(view);
    const auto records = static_cast<double>(view.settings.records_per_person);
    if (!view.fixed() || (plan.lo <= possible.lo && plan.hi >= possible.hi &&
                          plan.max_weight >= records && std::isfinite(plan.max_weight)))
        return base::ok();
    return make_error(base::Reason::kBadRange,
                      "{}: the plan has the range [{}, {}] and the largest weight {}, but a record "
                      "may count from {} to {}, with a weight of 1",
                      text(view.leaf), plan.lo, plan.hi, plan.max_weight, possible.lo, possible.hi);
}

/// Refuses control variates that do not come from the development set: those of a mean that has
/// none, and of declines where their impact is known.
base::Status check_known_centres(const LeafView& view, const LeafPlan& plan) {
    const bool none = view.leaf.quantity != Quantity::kImpact || view.impact_by_label();
    const bool known = view.declined_impact && !view.settings.declines_overridden;
    const bool zero = plan.q_approve == 0 && plan.q_decline == 0 && plan.q_refer == 0;
    if (none ? zero : !known || plan.q_decline == *view.declined_impact) return base::ok();
    return make_error(base::Reason::kBadRange,
                      "{}: the plan has the centres {}, {} and {}; a mean without an impact has "
                      "none, and a decline's known impact is its centre",
                      text(view.leaf), plan.q_approve, plan.q_decline, plan.q_refer);
}

/// Refuses too few records or too many missing outcomes, without figures: they depend on the
/// vault's draws, which must not be published.
base::Status check_counts(const LeafView& view, const LeafPlan& plan) {
    const Settings& s = view.settings;
    const size_t units = planned_units(s, plan);
    const double likely = std::floor(static_cast<double>(units) * plan.selection_share);
    if (units < s.min_units || likely < static_cast<double>(s.min_units)) {
        return make_error(Reason::kTooFewUnits,
                          "{}: fewer than {} persons of the vault {}, or are likely to "
                          "meet the condition by what "
                          "is known from the development set: wait for more to mature",
                          text(view.leaf), s.min_units,
                          view.weighted() ? "may meet the condition and were drawn to be approved"
                                          : "may meet the condition");
    }
    // with fixed ranges what the vault lacks is a part of the test
    return view.fixed() || enough_outcomes(s, plan) ? base::ok() : too_many_missing(view);
}

/// m and the mean of the development set for an end, or those of minus the values.
Result<stats::Bets> plan_bets(const Settings& settings, const LeafPlan& plan, const EndPlan& end) {
    const double width = plan.hi - plan.lo;
    if (!(width > 0)) return stats::Bets{};  // the mean is known without any test
    const double mean = end.end.upper ? -plan.selection_mean : plan.selection_mean;
    const double m = end.end.upper ? -plan.hi : plan.lo;
    // a variance of 0 in the development set says that it is small, not that it is 0
    const double scale = plan.max_weight * width;
    const double lo = -std::clamp(plan.max_weight * (mean - m), 1e-6 * scale, scale);
    const double variance = std::max(plan.selection_variance, 1e-6 * scale * scale);
    const size_t n = planned_units(settings, plan);
    return stats::plan_bets({n, variance}, lo, end.delta, {.cap = settings.bet_cap});
}

/// Returns the lower end for a leaf's mean, from N and D; NaN: none.
class LowerEnd {
  public:
    LowerEnd(const Settings& settings, const LeafPlan& plan, const EndPlan& end, const Sums& sums)
        : settings_(settings), end_(end), sums_(sums), values_(sums.n.size()) {
        m_ = end.end.upper ? -plan.hi : plan.lo;
        other_ = end.end.upper ? -plan.lo : plan.hi;
        weight_ = plan.max_weight;
        stats::Sum n, d;
        for (const double x : sums.n) n.add(x);
        for (const double x : sums.d) d.add(x);
        estimate_ = n.value() / d.value();
        usable_ = sums.n.size() >= 2 && d.value() > 0 && std::isfinite(estimate_);
    }

    double estimate() const { return estimate_; }

    double value() {
        if (!usable_) return std::nan("");
        // known without a test, or at least not contradicted by one
        if (!(other_ > m_) || estimate_ <= m_) return m_;
        const double precision = 1e-7 * (other_ - m_);
        // where the first step is not rejected, nothing above is proved
        if (!rejected(m_ + precision)) return m_;
        double safe = m_ + precision, unsafe = std::max(estimate_, safe);
        while (unsafe - safe > precision) {
            const double middle = safe + (unsafe - safe) / 2;
            if (!(middle > safe && middle < unsafe)) break;  // a range as narrow as rounding
            (rejected(middle) ? safe : unsafe) = middle;
        }
        return safe;
    }

  private:
    /// Returns whether the mean is shown to be more than theta.
    bool rejected(double theta) {
        for (size_t u = 0; u < values_.size(); ++u) {
            values_[u] = sums_.n[u] - theta * sums_.d[u];
        }
        // a lower lower end is always valid; this one is beyond all rounding
        const double slack = 1e-12 * weight_ * (other_ - m_);
        const double lo = -weight_ * (theta - m_) - slack;
        const double hi = weight_ * std::max(0.0, other_ - theta) + slack;
        switch (settings_.bound) {
            case stats::BoundMethod::kBetting:
                return stats::log_wealth(values_, lo, end_.bets, 0) >= -std::log(end_.delta);
            case stats::BoundMethod::kStudentT:
                return stats::t_lower_bound(stats::moments(values_), end_.delta) > 0;
            case stats::BoundMethod::kHoeffding:
                return stats::hoeffding_lower_bound(stats::moments(values_), {lo, hi}, end_.delta) >
                       0;
            case stats::BoundMethod::kMaurerPontil:
                return stats::maurer_pontil_lower_bound(stats::moments(values_), {lo, hi},
                                                        end_.delta) > 0;
        }
        return false;
    }

    const Settings& settings_;
    const EndPlan& end_;
    const Sums& sums_;
    std::vector<double> values_;
    double m_ = 0, other_ = 0, weight_ = 0, estimate_ = 0;
    bool usable_ = false;
};

StatementResult evaluate_difference(const Program& program, const Settings& settings,
                                    const Plan& plan, const Difference& difference,
                                    const Log& vault, const Outcomes& outcomes, SumsCache& sums) {
    StatementResult out{.ends = {}, .lower = -kInfinity};
    bool known = true;
    for (const EndPlan& end : plan.statements[difference.statement]) {
        const LeafPlan& leaf = plan.leaves[end.end.leaf];
        known = known && enough_outcomes(settings, leaf);
        const double estimate = LowerEnd(settings, leaf, end, sums.of(end.end)).estimate();
        out.ends.push_back({(end.end.upper ? -1 : 1) * estimate, std::nan("")});
    }
    out.log_wealth = smallest_log_wealth(program, settings, plan, difference, vault, outcomes);
    out.passed = known && *out.log_wealth >= -std::log(settings.delta);
    return out;
}

StatementResult evaluate_statement(const Program& program, const Settings& settings,
                                   const Plan& plan, size_t s, const Log& vault,
                                   const Outcomes& outcomes, SumsCache& sums) {
    if (const Difference* difference = difference_in(plan, s)) {
        return evaluate_difference(program, settings, plan, *difference, vault, outcomes, sums);
    }
    StatementResult out;
    std::vector<Known> leaves;
    for (const Leaf& leaf : program.leaves) {
        leaves.push_back(range_of(leaf, program.impact_range));
    }
    bool known = true;
    for (const EndPlan& end : plan.statements[s]) {
        const size_t i = end.end.leaf;
        known = known && enough_outcomes(settings, plan.leaves[i]);
        LowerEnd lower(settings, plan.leaves[i], end, sums.of(end.end));
        const double bound = lower.value();
        const double sign = end.end.upper ? -1 : 1;
        out.ends.push_back({sign * lower.estimate(), sign * bound});
        const Interval side =
            end.end.upper ? Interval{-kInfinity, -bound} : Interval{bound, kInfinity};
        leaves[i] = std::isnan(bound) ? std::nullopt : intersect(leaves[i], side);
    }
    const Known g = propagate(program.statements[s].formula, leaves,
                              {program.impact_range, thresholds_of(program, plan)});
    out.lower = g ? g->lo : -kInfinity;
    out.passed = known && out.lower >= 0;
    return out;
}

}  // namespace

std::string_view to_string(LabelsOf labels) {
    return labels == LabelsOf::kGranted ? "granted" : "everybody";
}

Result<Plan> plan(const Program& program, const Settings& settings, const Log& selection,
                  const Outcomes& selection_outcomes, const Log& vault) {
    RAMPART_RETURN_IF_ERROR(check_settings(settings));
    RAMPART_RETURN_IF_ERROR(check_shapes(program, selection));
    if (selection_outcomes.label.size() != selection.size() ||
        selection_outcomes.impact.size() != selection.size()) {
        return make_error(ope::Reason::kBadShape,
                          "{} labels and {} impacts for {} records of the development set",
                          selection_outcomes.label.size(), selection_outcomes.impact.size(),
                          selection.size());
    }
    Plan out;
    out.leaves.resize(program.leaves.size());
    for (size_t i = 0; i < program.leaves.size(); ++i) {
        RAMPART_RETURN_IF_ERROR(check_possible(view_of(program, settings, selection, i, {})));
    }
    RAMPART_RETURN_IF_ERROR(check_shapes(program, vault));
    RAMPART_RETURN_IF_ERROR(
        choose_thresholds(program, settings, selection, selection_outcomes, vault, out));
    for (size_t i = 0; i < program.leaves.size(); ++i) {
        const LeafView view = view_of(program, settings, selection, i, out.leaves[i]);
        RAMPART_RETURN_IF_ERROR(plan_leaf(view, selection_outcomes, out.leaves[i]));
    }
    out.differences = choose_differences(program, settings, selection, vault, out);
    for (size_t i = 0; i < out.leaves.size(); ++i) {
        if (std::any_of(out.differences.begin(), out.differences.end(),
                        [&](const Difference& d) { return d.first == i || d.second == i; }))
            continue;
        out.leaves[i].person_weight = out.leaves[i].person_units = 0;
    }
    RAMPART_RETURN_IF_ERROR(complete(program, settings, vault, out));
    return out;
}

base::Status complete(const Program& program, const Settings& settings, const Log& vault,
                      Plan& plan) {
    RAMPART_RETURN_IF_ERROR(check_settings(settings));
    RAMPART_RETURN_IF_ERROR(check_shapes(program, vault));
    if (plan.leaves.size() != program.leaves.size()) {
        return make_error(ope::Reason::kBadShape, "the plan is of {} means, the constraint has {}",
                          plan.leaves.size(), program.leaves.size());
    }
    RAMPART_RETURN_IF_ERROR(check_thresholds(program, plan));
    for (size_t i = 0; i < program.leaves.size(); ++i) {
        const LeafView view = view_of(program, settings, vault, i, plan.leaves[i]);
        RAMPART_RETURN_IF_ERROR(check_possible(view));
        measure(view, plan.leaves[i]);
        RAMPART_RETURN_IF_ERROR(check_fixed_ranges(view, plan.leaves[i]));
        RAMPART_RETURN_IF_ERROR(check_known_centres(view, plan.leaves[i]));
        RAMPART_RETURN_IF_ERROR(check_counts(view, plan.leaves[i]));
    }
    RAMPART_RETURN_IF_ERROR(check_differences(program, settings, vault, plan));
    plan.statements.clear();
    for (const Statement& statement : program.statements) {
        const Difference* difference = difference_in(plan, plan.statements.size());
        std::vector<EndPlan>& ends = plan.statements.emplace_back();
        for (const End& end : statement.needs) {
            EndPlan next{.end = end,
                         .delta = settings.delta / static_cast<double>(statement.needs.size())};
            if (difference == nullptr) {
                RAMPART_TRY(next.bets, plan_bets(settings, plan.leaves[end.leaf], next));
            }
            ends.push_back(next);
        }
        if (difference != nullptr) {
            RAMPART_RETURN_IF_ERROR(plan_difference(settings, plan, *difference, ends));
        }
    }
    return base::ok();
}

ConstraintResult evaluate(const Program& program, const Settings& settings, const Plan& plan,
                          const Log& vault, const Outcomes& outcomes) {
    RAMPART_CHECK(plan.statements.size() == program.statements.size() &&
                      outcomes.label.size() == vault.size() &&
                      outcomes.impact.size() == vault.size() &&
                      vault.members.size() == program.leaves.size(),
                  "the plan is of another constraint or log");
    SumsCache sums(program, settings, plan, vault, outcomes);
    ConstraintResult out{.statements = {}, .passed = !program.statements.empty()};
    for (size_t s = 0; s < program.statements.size(); ++s) {
        out.statements.push_back(
            evaluate_statement(program, settings, plan, s, vault, outcomes, sums));
        out.passed = out.passed && out.statements.back().passed;
    }
    return out;
}

}  // namespace rampart::constraints
