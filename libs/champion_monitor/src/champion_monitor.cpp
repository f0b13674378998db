#include "rampart/champion_monitor/champion_monitor.hpp"

#include <algorithm>
#include <charconv>

#include "rampart/base/log.hpp"
#include "rampart/runtime/metric_list.hpp"
#include "rampart/training/gate_inputs.hpp"

namespace rampart::champion_monitor {
namespace {

using base::Result;
using base::Status;
using base::TimePoint;
using training_set::DevelopmentSet;

constexpr base::Logger kLog("monitor");
constexpr std::string_view kActor = "monitor", kAlarm = "monitor_alarm";
constexpr size_t kRowsToPlan = 2'000'000;  // for a watch; more are not read into memory

/// Returns the rows that `wanted` accepts, with the parts that a gate input reads.
template <class Wanted>
DevelopmentSet rows_of(const DevelopmentSet& set, const Wanted& wanted) {
    DevelopmentSet out;
    out.as_known_at = set.as_known_at;
    out.schema = set.schema;
    out.group_names = set.group_names;
    out.cell_names = set.cell_names;
    for (size_t i = 0; i < set.rows.size(); ++i) {
        if (!wanted(set.rows[i])) continue;
        const auto features = set.features_of(i);
        out.rows.push_back(set.rows[i]);
        out.features.insert(out.features.end(), features.begin(), features.end());
    }
    training_set::number_records(out.rows);  // the first of a person among these
    return out;
}

std::string groups_in_alarm(const monitoring::WatchState& state) {
    std::string out;
    for (const auto& group : state.groups) {
        if (!group.alarm()) continue;
        out += fmt::format("{}{} ({})", out.empty() ? "" : "; ", group.name,
                           !group.worse                        ? "level"
                           : group.level && group.level->below ? "change, level"
                                                               : "change");
    }
    return out;
}

/// Returns the figures of the groups in alarm as text.
std::string figures_of(const monitoring::WatchState& state) {
    std::string out;
    for (const auto& group : state.groups) {
        if (!group.alarm()) continue;
        out += out.empty() ? "" : "; ";
        if (group.worse) {
            out += fmt::format("{}: change {:.4g} a decision, at most {:.4g}, over {} persons",
                               group.name, group.change, group.at_most, group.persons);
            if (group.since > 0) {
                out += fmt::format(", {:.4g} over the last {}", group.change_since,
                                   group.persons - group.since);
            }
        } else {
            out += fmt::format("{}: impact {:.4g} a decision, at most {:.4g}", group.name,
                               group.level->mean, group.level->at_most);
        }
    }
    return out;
}

}  // namespace

Result<std::unique_ptr<ChampionMonitor>> ChampionMonitor::open(MonitorSettings settings,
                                                               MonitorDeps deps) {
    ope::ImpactModel range;
    range.lo = deps.product.impact.lo;
    range.hi = deps.product.impact.hi;
    const auto valid = monitoring::validate(settings.config, range);
    if (!valid) return valid.error().with_context(std::string("section [monitor]"));
    std::unique_ptr<ChampionMonitor> monitor(new ChampionMonitor(std::move(settings), deps));
    RAMPART_RETURN_IF_ERROR(monitor->count_stored());
    return monitor;
}

std::vector<TimePoint> ChampionMonitor::due(TimePoint after, TimePoint until) const {
    std::vector<TimePoint> times;
    if (!settings_.enabled) return times;
    const auto every = base::Duration::days(settings_.every_days);
    int64_t steps = after.micros() / every.micros();
    if (after.micros() < 0) --steps;  // towards zero is upwards there
    for (auto t = TimePoint::from_micros(steps * every.micros()); t <= until; t = t + every) {
        if (t > after) times.push_back(t);
    }
    return times;
}

std::vector<ChampionMonitor::Standing> ChampionMonitor::standing(TimePoint t) const {
    std::vector<Standing> stack;
    for (const auto& promotion : deps_.registry.promotions()) {
        if (promotion.at > t) break;
        if (promotion.kind == registry::PromotionKind::kRollback) {
            stack.pop_back();
            stack.back().superseded.reset();
        } else {
            if (!stack.empty()) stack.back().superseded = promotion.at;
            stack.push_back({promotion, std::nullopt});
        }
    }
    return stack;
}

/// Returns the time at which all outcomes of a decision of that time have matured.
TimePoint ChampionMonitor::all_matured(TimePoint decided) const {
    const auto& product = deps_.product;
    TimePoint last = product.label.maturity(decided);
    if (const auto& name = product.impact.measure) {
        if (const auto* measure = product.find_measure(*name)) {
            last = std::max(last, measure->maturity(decided));
        }
    }
    return last;
}

/// Whether a look as of `t` watches it: as long as decisions of its policy mature.
bool ChampionMonitor::is_watched(const Standing& one, TimePoint t) const {
    const auto every = base::Duration::days(settings_.every_days);
    return one.promotion.kind == registry::PromotionKind::kPromotion &&
           (!one.superseded || all_matured(*one.superseded) + every > t);
}

Result<monitoring::WatchPlan> ChampionMonitor::make_plan(
    const registry::Promotion& promotion) const {
    RAMPART_TRY(const auto policy, deps_.registry.load_model(promotion.policy));
    RAMPART_TRY(const auto previous, deps_.registry.load_model(*promotion.replaced));
    // a plan may be made from any part of what was known before
    RAMPART_TRY(const auto known,
                deps_.builder.development_sample(promotion.at, {.max_rows = kRowsToPlan}));
    const auto matured = rows_of(
        known, [&](const auto& row) { return all_matured(row.event_time) <= promotion.at; });
    RAMPART_TRY(const auto before,
                training::selection_feedback(matured, previous.policy, policy.policy));
    const auto& impact = deps_.product.impact;
    ope::ImpactModel model;
    model.lo = impact.lo;
    model.hi = impact.hi;
    model.declined = impact.declined;
    model.declines_overridden = deps_.declines_overridden;
    return monitoring::plan_watch(settings_.config, model, before);
}

Result<monitoring::WatchState> ChampionMonitor::state_of(const registry::Promotion& promotion,
                                                         const DevelopmentSet& known) {
    auto plan = plans_.find(promotion.sequence);
    if (plan == plans_.end()) {
        RAMPART_TRY(auto made, make_plan(promotion));
        plan = plans_.emplace(promotion.sequence, std::move(made)).first;
    }
    RAMPART_TRY(const auto policy, deps_.registry.load_model(promotion.policy));
    RAMPART_TRY(const auto previous, deps_.registry.load_model(*promotion.replaced));
    const auto since = rows_of(known, [&](const auto& row) {
        return row.policy == promotion.policy && row.event_time >= promotion.at &&
               all_matured(row.event_time) <= known.as_known_at;
    });
    RAMPART_TRY(const auto decisions,
                training::selection_feedback(since, previous.policy, policy.policy));
    return monitoring::look(plan->second, decisions);
}

Result<std::map<uint64_t, Alarm>> ChampionMonitor::alarms() const {
    RAMPART_TRY(const auto entries, deps_.registry.audit_entries());
    std::map<uint64_t, Alarm> found;
    for (const auto& entry : entries) {
        if (entry.action != kAlarm || entry.actor != kActor) continue;
        const auto promotion = entry.details.find("promotion");
        const auto groups = entry.details.find("groups");
        if (promotion == entry.details.end() || groups == entry.details.end()) continue;
        uint64_t sequence = 0;
        const auto& digits = promotion->second;
        std::from_chars(digits.data(), digits.data() + digits.size(), sequence);
        found.try_emplace(sequence, Alarm{entry.at, groups->second});
    }
    return found;
}

Result<Look> ChampionMonitor::watch_all(TimePoint t) {
    Look out{.at = t, .watches = {}};
    std::optional<base::Result<DevelopmentSet>> known;
    std::map<uint64_t, Alarm> raised;
    for (const auto& one : standing(t)) {
        const auto& promotion = one.promotion;
        if (!is_watched(one, t)) continue;
        if (!known) {
            // the oldest comes first
            known = deps_.builder.development_rows(t, promotion.at);
            if (!*known && !training::is_about_data(known->error())) return known->error();
            RAMPART_TRY(raised, alarms());
        }
        Watch watch;
        watch.promotion = promotion.sequence;
        watch.policy = promotion.policy;
        watch.previous = *promotion.replaced;
        watch.since = promotion.at;
        watch.decides = !one.superseded;
        if (const auto alarm = raised.find(promotion.sequence); alarm != raised.end()) {
            watch.alarm = alarm->second;
        }
        // too many rows are a problem of the watches, and must not stop the training
        auto state =
            *known ? state_of(promotion, **known) : Result<monitoring::WatchState>(known->error());
        if (!state && !training::is_about_data(state.error())) return state.error();
        if (state) watch.state = std::move(*state);
        if (!state) watch.problem = state.error().message;
        out.watches.push_back(std::move(watch));
    }
    std::erase_if(plans_, [&](const auto& plan) {
        return std::none_of(out.watches.begin(), out.watches.end(),
                            [&](const auto& watch) { return watch.promotion == plan.first; });
    });
    return out;
}

Status ChampionMonitor::raise(Watch& watch, TimePoint t) {
    const Alarm alarm{t, groups_in_alarm(watch.state)};
    kLog.warning("msg=\"alarm: a group fares worse than under the policy before\" promotion={}",
                 watch.promotion);
    RAMPART_RETURN_IF_ERROR(
        deps_.registry.record_operation(t, kActor, kAlarm,
                                        {{"promotion", fmt::format("{}", watch.promotion)},
                                         {"policy", watch.policy.value()},
                                         {"previous", watch.previous.value()},
                                         {"groups", alarm.groups},
                                         {"figures", figures_of(watch.state)},
                                         {"delta", fmt::format("{}", settings_.config.delta)}}));
    watch.alarm = alarm;
    return base::ok();
}

/// Rolls the promotion back; returns whether that was done. The certificate distinguishes this
/// promotion of the policy from another one.
Result<bool> ChampionMonitor::roll_back(const Watch& watch, TimePoint t) {
    const auto champion = deps_.registry.champion();
    const auto promotions = deps_.registry.promotions();
    const auto promoted = std::find_if(promotions.begin(), promotions.end(), [&](const auto& p) {
        return p.sequence == watch.promotion;
    });
    if (!champion || promoted == promotions.end() || champion->policy != watch.policy ||
        champion->certificate != promoted->certificate || champion->at > t) {
        return false;
    }
    const auto reason =
        fmt::format("monitor: alarm of {} about promotion {}: {}",
                    base::to_iso8601(watch.alarm->at), watch.promotion, watch.alarm->groups);
    const auto done = deps_.registry.rollback(t, kActor, reason, watch.policy);
    if (done) return true;
    if (done.error().code == base::ErrorCode::kFailedPrecondition) return false;  // an operator did
    return done.error();
}

Status ChampionMonitor::act(Look& look) {
    for (auto& watch : look.watches) {
        if (!watch.alarm && watch.problem.empty() && watch.state.alarm()) {
            RAMPART_RETURN_IF_ERROR(raise(watch, look.at));
        }
    }
    // the last promotion alone decides
    if (!settings_.rollback || look.watches.empty()) return base::ok();
    auto& watch = look.watches.back();
    if (!watch.decides || !watch.alarm) return base::ok();
    RAMPART_TRY(look.rolled_back, roll_back(watch, look.at));
    if (look.rolled_back) watch.decides = false;
    return base::ok();
}

/// Puts down what stands of the alarms before the first look since the start, which may be days
/// off: of each promotion that was not rolled back, and that a look at the last promotion, or at
/// the last alarm, would have watched.
Status ChampionMonitor::count_stored() {
    auto& metrics = deps_.metrics;
    metrics.counter(runtime::metric::kMonitorLooks);
    metrics.counter(runtime::metric::kMonitorRollbacks);
    RAMPART_TRY(const auto raised, alarms());
    const auto promotions = deps_.registry.promotions();
    std::optional<TimePoint> t;
    if (!promotions.empty()) t = promotions.back().at;
    for (const auto& [sequence, alarm] : raised) t = std::max(t, std::optional(alarm.at));
    size_t standing_alarms = 0;
    if (t) {
        for (const auto& one : standing(*t)) {
            standing_alarms += is_watched(one, *t) && raised.contains(one.promotion.sequence);
        }
    }
    metrics.gauge(runtime::metric::kMonitorAlarms).set(static_cast<double>(standing_alarms));
    return base::ok();
}

void ChampionMonitor::count(const Look& look) {
    auto& metrics = deps_.metrics;
    metrics.counter(runtime::metric::kMonitorLooks).add();
    if (look.rolled_back) metrics.counter(runtime::metric::kMonitorRollbacks).add();
    const auto alarms = std::count_if(look.watches.begin(), look.watches.end(),
                                      [](const auto& watch) { return watch.alarm.has_value(); });
    metrics.gauge(runtime::metric::kMonitorAlarms).set(static_cast<double>(alarms));
    const auto* champion =
        !look.watches.empty() && look.watches.back().decides ? &look.watches.back().state : nullptr;
    for (const auto& group : deps_.builder.group_names()) {
        double evidence = 0;
        if (champion != nullptr) {
            for (const auto& one : champion->groups) {
                if (one.name != group) continue;
                const double wealth =
                    std::max(one.log_wealth, one.level ? one.level->log_wealth : 0.0);
                evidence = std::max(0.0, wealth / champion->log_needed);
            }
        }
        metrics.gauge(runtime::metric::kMonitorEvidence, {{"group", group}}).set(evidence);
    }
}

Result<Look> ChampionMonitor::look(TimePoint t) {
    const std::lock_guard lock(looking_);
    RAMPART_TRY(auto look, watch_all(t));
    RAMPART_RETURN_IF_ERROR(act(look));
    keep(look);
    return look;
}

Result<Look> ChampionMonitor::observe(TimePoint t) {
    const std::lock_guard lock(looking_);
    RAMPART_TRY(auto look, watch_all(t));
    if (!last_look()) keep(look);
    return look;
}

void ChampionMonitor::keep(const Look& look) {
    count(look);
    const std::lock_guard lock(last_mutex_);
    last_ = look;
}

std::optional<Look> ChampionMonitor::last_look() const {
    const std::lock_guard lock(last_mutex_);
    return last_;
}

}  // namespace rampart::champion_monitor
