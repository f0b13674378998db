#include "rampart/monitoring/impact_monitor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_set>

#include "rampart/base/reasons.hpp"
#include "rampart/monitoring/reasons.hpp"
#include "rampart/ope/reasons.hpp"
#include "rampart/ope/value_bound.hpp"
#include "rampart/stats/confidence_bound.hpp"
#include "rampart/stats/confidence_sequence.hpp"
#include "rampart/stats/reasons.hpp"

namespace rampart::monitoring {
namespace {

using base::make_error;
using base::Result;
using base::Status;
using ope::ImpactModel;
using ope::LoggedDecisions;
using ope::LoggedFeedback;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kMinOutcomes = 10;  // per action that matters, for its control variate
/// Later applicants may differ a little more between the two policies than any in the development
/// set.
constexpr double kRangeReserve = 1.25;

ope::Record record_at(const LoggedFeedback& f, uint32_t i) {
    ope::Record record = ope::record_at(f.decisions, i);
    if (f.decisions.has_impact[i] != 0) record.impact = f.impact[i];
    return record;
}

bool unanswered(const LoggedDecisions& d, uint32_t i) {
    return d.referral(i) == ope::Referral::kUnanswered;
}

/// Returns the first record of each person among `records`, in their order.
std::vector<uint32_t> first_of_each(const LoggedDecisions& d,
                                    const std::vector<uint32_t>& records) {
    std::vector<uint32_t> first;
    std::unordered_set<std::string_view> seen;
    seen.reserve(records.size());
    for (const uint32_t i : records) {
        if (seen.insert(d.unit_id[i]).second) first.push_back(i);
    }
    return first;
}

/// Returns the impact of the action taken; a missing one counts in the champion's favour.
double realised(const LoggedDecisions& d, uint32_t i, std::optional<double> impact,
                const ImpactModel& model) {
    if (model.declined && !d.granted(i) && !unanswered(d, i)) return *model.declined;
    return impact.value_or(model.hi);
}

/// Returns whether a drawn decline, whose impact is taken as known, was granted by people.
bool granted_decline(const LoggedDecisions& d, uint32_t i, const ImpactModel& model) {
    return model.declined && !model.declines_overridden && d.approved[i] == 0 && d.is_overridden(i);
}

bool missing(const LoggedDecisions& d, uint32_t i, const ImpactModel& model) {
    return d.has_impact[i] == 0 && (!model.declined || d.granted(i) || unanswered(d, i));
}

/// Returns the mean impact of drawn approvals or declines with known impact; nullopt: too few.
std::optional<double> mean_impact(const LoggedFeedback& f, const std::vector<uint32_t>& records,
                                  bool approved) {
    stats::Sum sum;
    size_t count = 0;
    for (const uint32_t i : records) {
        if ((f.decisions.approved[i] != 0) != approved || f.decisions.has_impact[i] == 0 ||
            f.decisions.referral(i) != ope::Referral::kNone)
            continue;
        sum.add(f.impact[i]);
        ++count;
    }
    if (count < kMinOutcomes) return std::nullopt;
    return sum.value() / static_cast<double>(count);
}

bool could_be_drawn(const ope::Record& record) {
    if (record.referral != ope::Referral::kNone) return record.p_refer > 0;
    return record.approved ? record.p > 0 : ope::decline_probability(record.p, record.p_refer) > 0;
}

/// Plans the bets on the change, from the values of Z if the champion had decided the persons of
/// the development set.
Status plan_change(const MonitorConfig& config, const LoggedFeedback& before,
                   const std::vector<uint32_t>& persons, double delta, PlannedGroup& group) {
    std::vector<double> values;
    group.lo = 0;
    for (const uint32_t i : persons) {
        ope::Record record = record_at(before, i);
        record.p = record.reference;
        record.p_refer = record.reference_refer;
        if (!ope::has_support(record, group.impact)) continue;
        group.lo = std::min(group.lo, ope::change_range(record, group.impact).lo);
        if (could_be_drawn(record)) values.push_back(ope::impact_change(record, group.impact));
    }
    group.lo = kRangeReserve * group.lo - config.margin;
    const auto sample = stats::moments(values);
    if (values.size() < kMinOutcomes) {
        group.unplanned = std::string("too_few_outcomes");
    } else if (!(sample.variance > 0) || !(group.lo < 0)) {
        group.unplanned = std::string("nothing_changes");
    } else {
        RAMPART_TRY(group.change, stats::plan_bets({persons.size(), sample.variance}, group.lo,
                                                   delta, {.cap = config.bet_cap}));
    }
    return base::ok();
}

/// Plans the bets against "the realised impact is at least the floor".
Status plan_level(const MonitorConfig& config, const LoggedFeedback& before,
                  const std::vector<uint32_t>& persons, double delta, PlannedGroup& group) {
    std::vector<double> impacts;
    for (const uint32_t i : persons) {
        const auto record = record_at(before, i);
        impacts.push_back(realised(before.decisions, i, record.impact, group.impact));
    }
    const double variance = stats::moments(impacts).variance;
    if (!(variance > 0)) return base::ok();
    RAMPART_TRY(group.level,
                stats::plan_bets({persons.size(), variance}, *config.floor - group.impact.hi, delta,
                                 {.cap = config.bet_cap}));
    return base::ok();
}

Result<PlannedGroup> plan_group(const MonitorConfig& config, const ImpactModel& impact,
                                const LoggedFeedback& before, const ope::Group& members,
                                double delta) {
    PlannedGroup group{
        .name = members.name, .unplanned = {}, .impact = impact, .change = {}, .level = {}};
    const auto persons = first_of_each(before.decisions, members.records);
    group.units = persons.size();
    if (config.floor) RAMPART_RETURN_IF_ERROR(plan_level(config, before, persons, delta, group));
    const bool declines_matter = !impact.declined || impact.declines_overridden;
    const auto approve = mean_impact(before, persons, true);
    const auto decline = declines_matter ? mean_impact(before, persons, false) : 0.0;
    // people seldom grant what was drawn as a decline: its control variate is then near the known
    // impact
    const auto control_variates = decline ? decline : impact.declined;
    if (!approve || !control_variates) {
        group.unplanned = std::string("too_few_outcomes");
        return group;
    }
    group.impact.q_approve = std::clamp(*approve, impact.lo, impact.hi);
    group.impact.q_decline = std::clamp(*control_variates, impact.lo, impact.hi);
    RAMPART_RETURN_IF_ERROR(plan_change(config, before, persons, delta, group));
    return group;
}

/// Values of a group's persons in order, for look().
struct Gathered {
    std::vector<double> changes;  // Z - margin
    std::vector<double> levels;   // floor - realised impact
};

Gathered gather(const WatchPlan& plan, const PlannedGroup& group, const LoggedFeedback& since,
                const std::vector<uint32_t>& records, GroupState& state) {
    Gathered out;
    const auto persons = first_of_each(since.decisions, records);
    state.repeats = records.size() - persons.size();
    for (const uint32_t i : persons) {
        const auto record = record_at(since, i);
        if (plan.config.floor) {
            out.levels.push_back(*plan.config.floor -
                                 realised(since.decisions, i, record.impact, group.impact));
        }
        if (!group.unplanned.empty()) continue;
        if (granted_decline(since.decisions, i, group.impact)) {
            state.blind = std::string("declines_overridden");
        }
        if (!ope::has_support(record, group.impact)) {
            ++state.unsupported;
        } else if (ope::change_range(record, group.impact).lo - plan.config.margin < group.lo) {
            ++state.out_of_range;
        } else {
            ++state.persons;
            state.missing += missing(since.decisions, i, group.impact) ? 1 : 0;
            out.changes.push_back(ope::impact_change(record, group.impact) - plan.config.margin);
        }
    }
    return out;
}

/// Share of the persons that the bets were planned for after which a further bettor begins.
constexpr size_t kBlocks = 4;

stats::StartedWealth wealth_of(const PlannedGroup& group, const stats::Bets& bets, double lo,
                               const std::vector<double>& values) {
    return stats::log_wealth_over_starts(values, lo, bets,
                                         std::max<size_t>(1, group.units / kBlocks));
}

/// Returns the level of a bound: the bettor from the promotion on has half of the wealth, so that a
/// bound beyond the limit is an alarm, too.
double bound_level(const WatchPlan& plan) { return std::exp(-plan.log_needed) / 2; }

void judge_change(const WatchPlan& plan, const PlannedGroup& group,
                  const std::vector<double>& values, GroupState& state) {
    const double margin = plan.config.margin;
    state.at_most = state.shown_hi = kInfinity;
    state.shown_lo = -kInfinity;
    if (values.empty()) return;
    state.change = -(stats::moments(values).mean + margin);
    const auto wealth = wealth_of(group, group.change, group.lo, values);
    state.log_wealth = wealth.log_wealth;
    state.since = wealth.start;
    state.change_since = -(stats::moments(std::span(values).subspan(wealth.start)).mean + margin);
    state.at_most =
        -(stats::betting_lower_bound(values, group.lo, group.change, bound_level(plan)) + margin);
    stats::AsymptoticSequence sequence(bound_level(plan), std::max<size_t>(1, group.units));
    for (const double value : values) sequence.add(-(value + margin));
    state.shown_lo = sequence.lower();
    state.shown_hi = sequence.upper();
    if (!std::isfinite(state.log_wealth)) {
        state.blind = std::string("not_computable");
    }
}

void judge_level(const WatchPlan& plan, const PlannedGroup& group,
                 const std::vector<double>& values, GroupState& state) {
    if (!group.level) return;
    const double lo = *plan.config.floor - group.impact.hi;
    Level level;
    level.at_most = kInfinity;
    if (!values.empty()) {
        level.mean = *plan.config.floor - stats::moments(values).mean;
        level.log_wealth = wealth_of(group, *group.level, lo, values).log_wealth;
        level.at_most = *plan.config.floor -
                        stats::betting_lower_bound(values, lo, *group.level, bound_level(plan));
        level.persons = values.size();
    }
    state.level = level;
}

/// A test, its wealth as a multiple of what all tests together need, and its answer.
struct Test {
    double wealth = 0;
    bool* answer = nullptr;
};

/// Answers yes for a test where in each set of tests that has it the mean of the wealths is
/// enough (closed testing). The smallest mean is that with all tests of less wealth than it.
void answer(std::vector<Test> tests) {
    std::sort(tests.begin(), tests.end(),
              [](const Test& a, const Test& b) { return a.wealth < b.wealth; });
    for (const Test& test : tests) {
        double sum = test.wealth, count = 1;
        for (const Test& other : tests) {
            if (&other == &test || !(other.wealth < sum / count)) continue;
            sum += other.wealth;
            ++count;
        }
        *test.answer = sum / count >= 1 + 1e-12;  // rounding of the sum
    }
}

/// Decides which groups are in alarm. A test that may raise none has no wealth.
void judge(const WatchPlan& plan, WatchState& state) {
    const double all = std::log(plan.config.delta);
    std::vector<Test> tests;
    const auto add = [&](bool may, double log_wealth, bool& yes) {
        const bool counts = may && std::isfinite(log_wealth);
        tests.push_back({counts ? std::exp(std::min(600.0, log_wealth + all)) : 0, &yes});
    };
    for (GroupState& group : state.groups) {
        add(group.blind.empty() && group.persons >= plan.config.min_units, group.log_wealth,
            group.worse);
        if (!group.level) continue;
        add(group.level->persons >= plan.config.min_units, group.level->log_wealth,
            group.level->below);
    }
    answer(std::move(tests));
}

Status check_impacts(const WatchPlan& plan, const LoggedFeedback& since) {
    if (plan.groups.empty()) return base::ok();
    const ImpactModel& model = plan.groups.front().impact;
    for (size_t i = 0; i < since.impact.size(); ++i) {
        const double x = since.impact[i];
        if (since.decisions.has_impact[i] != 0 && !(x >= model.lo && x <= model.hi)) {
            return make_error(ope::Reason::kImpactOutOfRange,
                              "record {}: impact {} lies outside the declared range [{}, {}]",
                              since.decisions.record_id[i], x, model.lo, model.hi);
        }
    }
    return base::ok();
}

}  // namespace

Status validate(const MonitorConfig& config, const ImpactModel& impact) {
    if (!(config.delta > 0 && config.delta <= 0.5)) {
        return make_error(stats::Reason::kBadDelta, "delta is {}: must lie in (0, 0.5]",
                          config.delta);
    }
    if (!(config.margin >= 0 && std::isfinite(config.margin))) {
        return make_error(Reason::kBadMargin, "margin is {}: must be at least 0 and finite",
                          config.margin);
    }
    if (!(config.bet_cap > 0 && config.bet_cap < 1)) {
        return make_error(base::Reason::kBadBetCap, "bet_cap is {}: must lie in (0, 1)",
                          config.bet_cap);
    }
    if (config.min_units < 1) {
        return make_error(Reason::kBadMinUnits, "min_units is 0: must be at least 1");
    }
    if (!(std::isfinite(impact.lo) && std::isfinite(impact.hi) && impact.lo < impact.hi)) {
        return make_error(base::Reason::kBadRange,
                          "the impact's range is [{}, {}]: must be an interval", impact.lo,
                          impact.hi);
    }
    if (config.floor && !(*config.floor >= impact.lo && *config.floor < impact.hi)) {
        return make_error(Reason::kBadFloor, "floor is {}: must lie in [{}, {})", *config.floor,
                          impact.lo, impact.hi);
    }
    return base::ok();
}

Result<WatchPlan> plan_watch(const MonitorConfig& config, const ImpactModel& impact,
                             const LoggedFeedback& before) {
    RAMPART_RETURN_IF_ERROR(validate(config, impact));
    RAMPART_RETURN_IF_ERROR(ope::validate(before));
    WatchPlan plan{.config = config, .groups = {}};
    const size_t tests = before.decisions.groups.size() * (config.floor ? 2 : 1);
    const double delta = config.delta / static_cast<double>(std::max<size_t>(1, tests));
    plan.log_needed = -std::log(delta);
    for (const auto& members : before.decisions.groups) {
        RAMPART_TRY(auto group, plan_group(config, impact, before, members, delta));
        plan.groups.push_back(std::move(group));
    }
    return plan;
}

bool WatchState::alarm() const {
    return std::any_of(groups.begin(), groups.end(), [](const auto& g) { return g.alarm(); });
}

Result<WatchState> look(const WatchPlan& plan, const LoggedFeedback& since) {
    RAMPART_RETURN_IF_ERROR(ope::validate(since));
    RAMPART_RETURN_IF_ERROR(check_impacts(plan, since));
    const auto& groups = since.decisions.groups;
    const bool same =
        std::equal(groups.begin(), groups.end(), plan.groups.begin(), plan.groups.end(),
                   [](const auto& a, const auto& b) { return a.name == b.name; });
    if (!same) {
        return make_error(base::Reason::kOtherGroups,
                          "the decisions' {} groups are not the {} that were planned for",
                          groups.size(), plan.groups.size());
    }
    WatchState state{.log_needed = plan.log_needed, .groups = {}};
    for (size_t g = 0; g < groups.size(); ++g) {
        const PlannedGroup& group = plan.groups[g];
        GroupState one{.name = group.name, .blind = group.unplanned, .level = {}};
        const auto gathered = gather(plan, group, since, groups[g].records, one);
        judge_change(plan, group, gathered.changes, one);
        judge_level(plan, group, gathered.levels, one);
        state.groups.push_back(std::move(one));
    }
    judge(plan, state);
    return state;
}

}  // namespace rampart::monitoring
