#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rampart/champion_monitor/monitor_settings.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/monitoring/impact_monitor.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/runtime/metrics.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::champion_monitor {

/// What the monitor works with; all of it must outlive the monitor.
struct MonitorDeps {
    const domain::Product& product;
    const training_set::TrainingSetBuilder& builder;
    registry::ModelRegistry& registry;
    runtime::Metrics& metrics;
    bool declines_overridden = false;  // as the gate has it
};

/// The first alarm about a promotion, as the audit log keeps it. It stays, whatever comes later.
struct Alarm {
    base::TimePoint at;
    std::string groups;  // "sex=female (change); …"
};

/// A promotion that stands, and how those fare whom it concerns.
struct Watch {
    uint64_t promotion = 0;  // its number in the promotion log
    domain::PolicyId policy, previous;
    base::TimePoint since;
    bool decides = false;  // the policy is champion by this promotion
    std::optional<Alarm> alarm;
    monitoring::WatchState state;
    std::string problem;  // why it can't be watched; empty: it can
};

struct Look {
    base::TimePoint at;
    std::vector<Watch> watches;  // oldest promotion first
    bool rolled_back = false;
};

/// Watches the champion, and the champions that it stands on as long as decisions of theirs mature.
///
/// A look as of t is a function of what the store held at t (and of the configuration): bets from
/// D_c as known at the promotion, then the matured decisions that the promoted policy took since.
/// Only persons of D_c count, so that the figures may be shown to those who make candidates:
/// numbers about the vault would let the next candidate be fitted to it. An alarm is an audit
/// entry, once a promotion; with the action "rollback" the registry then goes back one champion, if
/// the one in alarm decides. That is never done twice for a promotion: a promotion that was rolled
/// back does not stand any more. Every step may be repeated: after a crash in between the same look
/// does what is left to do, with the same times and words.
///
/// Thread safe.
class ChampionMonitor {
  public:
    /// Errors: monitoring::validate's.
    static base::Result<std::unique_ptr<ChampionMonitor>> open(MonitorSettings settings,
                                                               MonitorDeps deps);

    /// The times in (after, until] at which a look is due.
    std::vector<base::TimePoint> due(base::TimePoint after, base::TimePoint until) const;
    bool is_due(base::TimePoint t) const;

    /// Looks as of `t`, a time that the joiner's clock has reached; raises alarms, rolls back.
    base::Result<Look> look(base::TimePoint t);

    /// The same without consequences: alarms are those that were raised.
    base::Result<Look> observe(base::TimePoint t);
    /// The last look since the start; nullopt: none yet.
    std::optional<Look> last_look() const;

    const MonitorSettings& settings() const { return settings_; }

  private:
    /// A promotion that stands at some time.
    struct Standing {
        registry::Promotion promotion;
        std::optional<base::TimePoint> superseded;  // by the one above it
    };

    ChampionMonitor(MonitorSettings settings, MonitorDeps deps)
        : settings_(std::move(settings)), deps_(deps) {}
    std::vector<Standing> standing(base::TimePoint t) const;
    base::TimePoint all_matured(base::TimePoint decided) const;
    base::Result<monitoring::WatchPlan> make_plan(const registry::Promotion& promotion) const;
    base::Result<monitoring::WatchState> state_of(const registry::Promotion& promotion,
                                                  const training_set::DevelopmentSet& known);
    base::Result<Look> watch_all(base::TimePoint t);
    base::Result<std::map<uint64_t, Alarm>> alarms() const;
    base::Status act(Look& look);
    base::Status raise(Watch& watch, base::TimePoint t);
    base::Result<bool> roll_back(const Watch& watch, base::TimePoint t);
    void count(const Look& look);

    MonitorSettings settings_;
    MonitorDeps deps_;
    mutable std::mutex mutex_;
    std::map<uint64_t, monitoring::WatchPlan> plans_;  // by promotion, of those that stand
    std::optional<Look> last_;
};

}  // namespace rampart::champion_monitor
