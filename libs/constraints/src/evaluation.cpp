#include "rampart/constraints/evaluation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "leaf_values.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/constraints/reasons.hpp"
#include "rampart/ope/reasons.hpp"
#include "rampart/stats/confidence_bound.hpp"
#include "rampart/stats/distributions.hpp"
#include "rampart/stats/reasons.hpp"

namespace rampart::constraints {
namespace {

using base::make_error;
using base::Result;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

LeafView view_of(const Program& program, const Settings& settings, const Log& log, size_t leaf) {
    return {program.leaves[leaf], program.impact_range, settings, log, log.members[leaf]};
}

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

/// Fills in what follows from the log without outcomes.
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

/// Returns whether at most the declared share of the outcomes is missing. An erased person is one
/// that was due and is missing, where outcomes are asked for at all.
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

/// Returns the number of persons with a known value that bets are planned for: with ranges that
/// are fixed beforehand the one to be expected, since how many were drawn to be approved, or were
/// erased, must not shape bets, nor refuse a test for free.
size_t planned_units(const Settings& settings, const LeafPlan& plan) {
    if (settings.records_per_person == 0) return plan.units;
    return static_cast<size_t>(plan.selection_known *
                               static_cast<double>(plan.persons + plan.erased));
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
            sum.add(*view.settings.declined_impact);
        } else if (view.log.has_impact[i] != 0) {
            sum.add(outcomes.impact[i]);
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
    plan.q_decline = known ? *s.declined_impact : std::clamp(decline.mean, range.lo, range.hi);
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

/// Fills in the figures of a leaf that come from the development set.
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
    if (std::isfinite(plan.selection_mean) && std::isfinite(plan.selection_variance)) {
        return base::ok();
    }
    return make_error(
        Reason::kBadOutcomes,
        "{}: a label of the development set is not 0 or 1, or an impact is out of the declared "
        "range",
        text(view.leaf));
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

/// N and D of the requested ends, each computed once.
class SumsCache {
  public:
    SumsCache(const Program& program, const Settings& settings, const Plan& plan, const Log& log,
              const Outcomes& outcomes)
        : program_(program), settings_(settings), plan_(plan), log_(log), outcomes_(outcomes) {}

    const Sums& of(const End& end) {
        auto& slot = known_[2 * end.leaf + (end.upper ? 1 : 0)];
        if (!slot) {
            slot = sums_of(view_of(program_, settings_, log_, end.leaf), plan_.leaves[end.leaf],
                           outcomes_, end.upper);
        }
        return *slot;
    }

  private:
    const Program& program_;
    const Settings& settings_;
    const Plan& plan_;
    const Log& log_;
    const Outcomes& outcomes_;
    std::array<std::optional<Sums>, 2 * kMaxLeaves> known_;
};

StatementResult evaluate_statement(const Program& program, const Settings& settings,
                                   const Plan& plan, size_t s, SumsCache& sums) {
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
    const Known g = propagate(program.statements[s].formula, leaves);
    out.lower = g ? g->lo : -kInfinity;
    out.passed = known && out.lower >= 0;
    return out;
}

/// Forecast of an end by the development set: the leaf's mean, the expected distance of the bound
/// below it, and the standard deviation of that bound.
struct EndForecast {
    double mean = 0, width = 0, spread = 0;
};
EndForecast forecast_end(const Settings& settings, const LeafPlan& plan, const EndPlan& end,
                         const Sums& sums) {
    stats::Sum n, d;
    for (const double x : sums.n) n.add(x);
    for (const double x : sums.d) d.add(x);
    EndForecast out{.mean = n.value() / d.value()};
    std::vector<double> values;
    for (size_t u = 0; u < sums.n.size(); ++u) values.push_back(sums.n[u] - out.mean * sums.d[u]);
    const auto units = static_cast<double>(planned_units(settings, plan)),
               here = static_cast<double>(values.size());
    const double weight = d.value() / here;  // mean weight of a person
    const double error = std::sqrt(stats::moments(values).variance / units) / weight;
    const double need = -std::log(end.delta);
    const double m = end.end.upper ? -plan.hi : plan.lo;
    out.width = error * std::sqrt(2 * need) +
                plan.max_weight * (out.mean - m) * need / (3 * units * weight);
    out.spread = error * std::sqrt(1 + units / here);
    return out;
}

/// Returns the lower end of a statement's formula when the bounds lie `width` widths and `spread`
/// standard deviations from the means of the development set.
Known forecast_formula(const Program& program, const Settings& settings, const Plan& plan, size_t s,
                       SumsCache& sums, double width, double spread) {
    std::vector<Known> leaves;
    for (const Leaf& leaf : program.leaves) {
        leaves.push_back(range_of(leaf, program.impact_range));
    }
    for (const EndPlan& end : plan.statements[s]) {
        const size_t i = end.end.leaf;
        const EndForecast f = forecast_end(settings, plan.leaves[i], end, sums.of(end.end));
        const double bound = f.mean - width * f.width - spread * f.spread;
        const Interval range = range_of(program.leaves[i], program.impact_range);
        if (!std::isfinite(bound) || !leaves[i]) return std::nullopt;
        if (end.end.upper) {
            leaves[i]->hi = std::clamp(-bound, leaves[i]->lo, range.hi);
        } else {
            leaves[i]->lo = std::clamp(bound, range.lo, leaves[i]->hi);
        }
    }
    return propagate(program.statements[s].formula, leaves);
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
        const LeafView view = view_of(program, settings, selection, i);
        RAMPART_RETURN_IF_ERROR(check_possible(view));
        RAMPART_RETURN_IF_ERROR(plan_leaf(view, selection_outcomes, out.leaves[i]));
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
    for (size_t i = 0; i < program.leaves.size(); ++i) {
        const LeafView view = view_of(program, settings, vault, i);
        RAMPART_RETURN_IF_ERROR(check_possible(view));
        measure(view, plan.leaves[i]);
        RAMPART_RETURN_IF_ERROR(check_fixed_ranges(view, plan.leaves[i]));
        RAMPART_RETURN_IF_ERROR(check_counts(view, plan.leaves[i]));
    }
    plan.statements.clear();
    for (const Statement& statement : program.statements) {
        std::vector<EndPlan>& ends = plan.statements.emplace_back();
        for (const End& end : statement.needs) {
            EndPlan next{.end = end,
                         .delta = settings.delta / static_cast<double>(statement.needs.size())};
            RAMPART_TRY(next.bets, plan_bets(settings, plan.leaves[end.leaf], next));
            ends.push_back(next);
        }
    }
    return base::ok();
}

double pass_probability(const Program& program, const Settings& settings, const Plan& plan,
                        const Log& selection, const Outcomes& selection_outcomes) {
    SumsCache sums(program, settings, plan, selection, selection_outcomes);
    double least = 1;
    for (size_t s = 0; s < program.statements.size(); ++s) {
        const Known bound = forecast_formula(program, settings, plan, s, sums, 1, 0);
        const Known lower = forecast_formula(program, settings, plan, s, sums, 1, 1);
        if (!bound || !lower) return 0;
        const double spread = bound->lo - lower->lo;
        const double certain = bound->lo >= 0 ? 1 : 0;
        least = std::min(least, spread > 0 ? stats::normal_cdf(bound->lo / spread) : certain);
    }
    return least;
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
        out.statements.push_back(evaluate_statement(program, settings, plan, s, sums));
        out.passed = out.passed && out.statements.back().passed;
    }
    return out;
}

}  // namespace rampart::constraints
