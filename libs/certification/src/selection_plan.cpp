#include "selection_plan.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "measure.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/certification/reasons.hpp"
#include "rampart/constraints/reasons.hpp"
#include "rampart/stats/distributions.hpp"

namespace rampart::certification {
namespace {

using ope::LoggedFeedback;

/// Mean impact of an action in the development set, and the number of outcomes in it.
struct ActionMean {
    double mean = 0;
    size_t outcomes = 0;
};
enum class Action { kDecline, kApprove, kRefer };

ActionMean mean_impact(const GateConfig& config, const LoggedFeedback& selection,
                       const ope::Group& group, Action action) {
    const ope::LoggedDecisions& d = selection.decisions;
    stats::Sum sum;
    size_t n = 0;
    for (const uint32_t i : group.records) {
        const Action drawn = d.referral(i) != ope::Referral::kNone ? Action::kRefer
                             : d.approved[i] != 0                  ? Action::kApprove
                                                                   : Action::kDecline;
        if (drawn != action) continue;
        if (!outcome_expected(config, d, i)) {
            sum.add(*config.declined_impact);  // not granted
        } else if (d.has_impact[i] != 0) {
            sum.add(selection.impact[i]);
        } else {
            continue;
        }
        ++n;
    }
    return {n > 0 ? sum.value() / static_cast<double>(n) : 0, n};
}

/// Sets the control variates by the means of the development set. A mean may leave the range by a
/// rounding error, and the range computed from it would be too short.
void set_control_variates(const GateConfig& config, ControlVariateKind kind,
                          const ActionMean& approve, const ActionMean& decline,
                          const ActionMean& refer, GroupPlan& plan) {
    const auto within = [&](double x) { return std::clamp(x, config.impact_lo, config.impact_hi); };
    const bool known_decline = config.declined_impact && !config.declines_overridden;
    switch (kind) {
        case ControlVariateKind::kNone:
            plan.q_approve = plan.q_decline = within(0);
            break;
        case ControlVariateKind::kSingle: {
            const auto n1 = static_cast<double>(approve.outcomes);
            const auto n0 = static_cast<double>(decline.outcomes);
            plan.q_approve = plan.q_decline =
                within((n1 * approve.mean + n0 * decline.mean) / (n1 + n0));
            break;
        }
        case ControlVariateKind::kPerAction:
        case ControlVariateKind::kBest:
        case ControlVariateKind::kRegression:  // each record's own take precedence
            plan.q_approve = within(approve.mean);
            plan.q_decline = within(decline.mean);
    }
    if (known_decline) plan.q_decline = *config.declined_impact;
    if (!config.referrals) return;
    const bool own = kind != ControlVariateKind::kNone && kind != ControlVariateKind::kSingle;
    if (!own) {
        plan.q_refer = plan.q_approve;
    } else if (refer.outcomes >= config.min_outcomes) {
        plan.q_refer = within(refer.mean);
    } else {  // any number is right; few answers make a poor mean
        plan.q_refer = (plan.q_approve + plan.q_decline) / 2;
    }
}

/// Refuses where too many outcomes of the development set are missing, or its records erased: the
/// vault's would be, too, and of those no refusal may tell.
base::Status check_missing(const GateConfig& config, const LoggedFeedback& selection, uint32_t g) {
    const ope::Group& group = selection.decisions.groups[g];
    GroupPlan counts;
    for (const uint32_t i : group.records) {
        if (!outcome_expected(config, selection.decisions, i)) continue;
        ++counts.expected;
        counts.missing += selection.decisions.has_impact[i] == 0;
    }
    if (!enough_outcomes(config, counts)) {
        return base::make_error(
            constraints::Reason::kTooManyMissing,
            "group {}: {} of {} outcomes that should have matured are missing in the development "
            "set, more than a share of {}: find out why before testing",
            group.name, counts.missing, counts.expected, config.max_missing_rate);
    }
    counts.erased = selection.decisions.erased.in_group(g);
    if (enough_outcomes(config, counts)) return base::ok();
    return base::make_error(
        Reason::kTooManyErased,
        "group {}: {} records of the development set are of erased persons, or may be, which with "
        "{} missing outcomes of {} is more than a share of {}: what is left may look too good",
        group.name, counts.erased, counts.missing, counts.expected, config.max_missing_rate);
}

/// Distance by which a record of the vault may go beyond those of the development set.
constexpr double kRangeReserve = 1.25;

/// Sets the range of a person's values before the vault is read: what the development set's records
/// could be worth, with a reserve, and at least what a record can count in any case.
void plan_range(const GateConfig& config, const LoggedFeedback& selection, const ope::Group& group,
                GroupPlan& plan) {
    const ope::ImpactModel model = impact_model(config, plan);
    double lo = widest_loss(config, plan.against), hi = 0;
    for (const uint32_t i : group.records) {
        const ope::Record record =
            ope::record_at(selection.decisions, i, plan.against == Against::kAnchor);
        if (!ope::has_support(record, model)) continue;
        const ope::Interval range = ope::change_range(record, model);
        lo = std::min(lo, kRangeReserve * range.lo);
        hi = std::max(hi, kRangeReserve * range.hi);
    }
    plan.lo = config.records_per_person * std::min(lo + config.margin, lo);
    plan.hi = config.records_per_person * std::max(hi + config.margin, 0.0);
}

/// Returns the development values of the group's persons where the range is fixed beforehand.
std::vector<double> values_in_range(const GateConfig& config, const LoggedFeedback& selection,
                                    const ope::Group& group, const ope::UnitMap& units,
                                    const GroupPlan& plan) {
    const ope::ImpactModel model = impact_model(config, plan);
    std::vector<double> values(units.units, 0);
    for (size_t k = 0; k < group.records.size(); ++k) {
        const uint32_t i = group.records[k];
        ope::Record record =
            ope::record_at(selection.decisions, i, plan.against == Against::kAnchor);
        if (selection.decisions.has_impact[i] != 0) record.impact = selection.impact[i];
        values[units.unit_of[k]] += record_value(config, plan, record, model);
    }
    return values;
}

}  // namespace

base::Status plan_from_selection(const GateConfig& config, ControlVariateKind kind,
                                 const LoggedFeedback& selection, GroupPlan& plan,
                                 std::vector<double>& values) {
    const ope::Group& group = selection.decisions.groups[plan.index];
    const ActionMean approve = mean_impact(config, selection, group, Action::kApprove);
    const ActionMean decline = mean_impact(config, selection, group, Action::kDecline);
    const bool known_decline = config.declined_impact && !config.declines_overridden;
    const bool enough = approve.outcomes >= config.min_outcomes &&
                        (known_decline || decline.outcomes >= config.min_outcomes);
    if (!enough) {
        return base::make_error(
            constraints::Reason::kTooFewSelectionOutcomes,
            "group {}: the development set has {} outcomes of approvals and {} of declines; "
            "{} are needed of each action whose impact is not known",
            group.name, approve.outcomes, decline.outcomes, config.min_outcomes);
    }
    const ActionMean refer = mean_impact(config, selection, group, Action::kRefer);
    set_control_variates(config, kind, approve, decline, refer, plan);
    const ope::UnitMap units = ope::map_units(selection.decisions, group.records);
    if (config.records_per_person > 0) {
        RAMPART_RETURN_IF_ERROR(check_missing(config, selection, plan.index));
        plan_range(config, selection, group, plan);
        values = values_in_range(config, selection, group, units, plan);
        // a forecast: in the vault as many are erased
        values.insert(values.end(), selection.decisions.erased.in_group(plan.index), plan.lo);
    } else {
        values = ope::unit_values(selection.decisions, group.records, units, selection.impact,
                                  impact_model(config, plan), config.margin,
                                  plan.against == Against::kAnchor);
    }
    plan.selection_units = units.units;
    plan.plan_variance = stats::moments(values).variance;
    if (plan.plan_variance > 0 && std::isfinite(plan.plan_variance)) return base::ok();
    return base::make_error(
        Reason::kNoPlanVariance,
        "group {}: the change of impact does not vary in the development set, so that bets "
        "cannot be planned: the candidate changes nothing there",
        group.name);
}

namespace {

/// Mean and variance of a log wealth.
struct LogWealth {
    double mean = 0, variance = 0;
};

/// Returns P(the best of the bets alone reaches ln(1/delta)), its log wealth taken as normal.
/// `of_bet` gives its mean and variance; `lo`: the smallest value.
template <class OfBet>
double best_chance(const GroupPlan& group, double lo, double delta, const OfBet& of_bet) {
    double best = 0;
    for (size_t k = 0; k < stats::kBetCount; ++k) {
        const LogWealth wealth = of_bet(std::min(group.bets.bets[k], group.bets.cap / -lo));
        const double spread = std::sqrt(wealth.variance);
        const double excess = wealth.mean + std::log(group.bets.weights[k]) + std::log(delta);
        const double p = spread > 0 ? stats::normal_cdf(excess / spread) : 0;
        best = std::max(best, p);  // NaN loses
    }
    return best;
}

/// Returns the chance to pass by betting at a mean of the persons' values.
double chance_at(const GroupPlan& group, double mean, double delta) {
    const auto n = static_cast<double>(group.units), erased = static_cast<double>(group.erased);
    const double deviation = std::sqrt(group.plan_variance);
    const double lo = std::min(group.lo, mean - deviation);
    return best_chance(group, lo, delta, [&](double bet) {
        const double up = std::log1p(bet * (mean + deviation));
        const double down = std::log1p(bet * (mean - deviation));
        return LogWealth{n * (up + down) / 2 + erased * std::log1p(bet * group.lo),
                         n * (up - down) * (up - down) / 4};
    });
}

/// Returns the mean of persons' values that passes with probability `power` by a bound that is no
/// bet: the width of the bound, and what the mean may fall short of itself.
double mean_by_width(const RunPlan& run, const GroupPlan& group, double power) {
    const auto n = static_cast<double>(group.units), erased = static_cast<double>(group.erased);
    const stats::Moments sample{group.units + group.erased, 0, group.plan_variance};
    const stats::Range range{group.lo, group.hi};
    const double bound = run.config.bound == stats::BoundMethod::kStudentT
                             ? stats::t_lower_bound(sample, run.delta)
                         : run.config.bound == stats::BoundMethod::kHoeffding
                             ? stats::hoeffding_lower_bound(sample, range, run.delta)
                             : stats::maurer_pontil_lower_bound(sample, range, run.delta);
    const double short_by =
        stats::normal_quantile(power) * std::sqrt(group.plan_variance / (n + erased));
    return ((n + erased) * (short_by - bound) - erased * group.lo) / n;
}

}  // namespace

double pass_probability(std::span<const double> values, const GroupPlan& group, double delta) {
    const double lo = std::min(group.lo, *std::min_element(values.begin(), values.end()));
    const auto n = static_cast<double>(group.units + group.erased),
               n_c = static_cast<double>(values.size());
    std::vector<double> logs(values.size());
    return best_chance(group, lo, delta, [&](double bet) {
        for (size_t i = 0; i < values.size(); ++i) logs[i] = std::log1p(bet * values[i]);
        const stats::Moments growth = stats::moments(logs);
        return LogWealth{n * growth.mean, growth.variance * n * (1 + n / n_c)};
    });
}

std::optional<double> smallest_seen(const RunPlan& run, const GroupPlan& group, double power) {
    if (group.records == 0) return std::nullopt;  // all are erased
    const double per_record = static_cast<double>(group.units) / static_cast<double>(group.records);
    if (run.config.bound != stats::BoundMethod::kBetting) {
        const double mean = mean_by_width(run, group, power);
        if (!(mean <= group.hi)) return std::nullopt;  // false for NaN
        return mean * per_record - run.config.margin;
    }
    const auto enough = [&](double mean) { return chance_at(group, mean, run.delta) >= power; };
    double few = 0, seen = group.hi;
    if (!enough(seen)) return std::nullopt;
    for (int i = 0; i < 60; ++i) {
        const double middle = (few + seen) / 2;
        (enough(middle) ? seen : few) = middle;
    }
    return seen * per_record - run.config.margin;
}

base::Status check_split(const LoggedFeedback& selection, const VaultSource& vault,
                         std::string_view pseudonym_key) {
    const VaultNames& names = vault.names();
    if (names.groups.empty()) {
        return base::make_error(base::Reason::kNoGroups,
                                "there is no protected group to certify for");
    }
    const auto& groups = selection.decisions.groups;
    const auto same_name = [](const ope::Group& a, const std::string& b) { return a.name == b; };
    if (!std::equal(groups.begin(), groups.end(), names.groups.begin(), names.groups.end(),
                    same_name)) {
        return base::make_error(
            Reason::kDifferentGroups,
            "the development set and the vault must have the same groups in the same order");
    }
    std::vector<Pseudonym> persons;
    const std::unordered_set<std::string_view> ids(selection.decisions.unit_id.begin(),
                                                   selection.decisions.unit_id.end());
    for (const auto& id : ids) persons.push_back(pseudonym(pseudonym_key, "unit", id));
    std::sort(persons.begin(), persons.end());
    size_t shared = 0;
    auto at = persons.begin();  // both ascend: one walk along them
    RAMPART_RETURN_IF_ERROR(vault.read([&](std::span<const VaultRecord> block) {
        for (const VaultRecord& record : block) {
            while (at != persons.end() && *at < record.unit) ++at;
            shared += at != persons.end() && *at == record.unit;
        }
        return base::ok();
    }));
    if (shared == 0) return base::ok();
    return base::make_error(
        Reason::kPersonInBoth,
        "{} vault records are of persons who are in the development set as well: the split "
        "must be by person and for ever",
        shared);
}

}  // namespace rampart::certification
