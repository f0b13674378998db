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
    bool declines_overridden = false;  // as in the gate's settings
};

/// First alarm about a promotion, as the audit log keeps it. It is never withdrawn.
struct Alarm {
    base::TimePoint at;
    std::string groups;  // "sex=female (change); …"
};

/// Watched promotion and its state: a promotion that has not been rolled back.
struct Watch {
    uint64_t promotion = 0;  // sequence number in the promotion log
    domain::PolicyId policy, previous;
    base::TimePoint since;
    bool decides = false;  // the policy is champion by this promotion
    std::optional<Alarm> alarm;
    monitoring::WatchState state;
    std::string problem;  // reason why it cannot be watched; empty: it can
};

struct Look {
    base::TimePoint at;
    std::vector<Watch> watches;  // oldest promotion first
    bool rolled_back = false;
};

/// Watches the champion and, as long as decisions of theirs mature, the champions before it.
///
/// A look as of t is a function of the store's content at t and of the configuration: bets from the
/// development set as known at the promotion, then the matured decisions that the promoted policy
/// took since. Only persons of the development set count, so that modellers may see the figures:
/// numbers about the vault would let the next candidate be fitted to it. An alarm is an audit
/// entry, once per promotion; with the action "rollback" the registry then goes back one champion,
/// if the promotion in alarm decides. A promotion is rolled back at most once. Every step may be
/// repeated: after a crash the same look does the remaining steps, with the same times and texts.
///
/// Thread safe.
class ChampionMonitor {
  public:
    /// Checks the settings, and puts down in the metrics how many alarms stand, as they are stored.
    /// Errors: monitoring::validate's; the registry's.
    static base::Result<std::unique_ptr<ChampionMonitor>> open(MonitorSettings settings,
                                                               MonitorDeps deps);

    /// Returns the times in (after, until] at which a look is due.
    std::vector<base::TimePoint> due(base::TimePoint after, base::TimePoint until) const;

    /// Looks as of `t`, a time that the joiner's clock has reached; raises alarms, rolls back.
    base::Result<Look> look(base::TimePoint t);

    /// Returns the same without consequences; alarms are those that were raised before.
    base::Result<Look> observe(base::TimePoint t);
    /// Returns the last look since the start, or what was observed before the first; nullopt:
    /// neither. Does not wait for a look under way.
    std::optional<Look> last_look() const;

    const MonitorSettings& settings() const { return settings_; }

  private:
    /// Promotion that was not rolled back before some time.
    struct Standing {
        registry::Promotion promotion;
        std::optional<base::TimePoint> superseded;  // by the promotion after it
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
    bool is_watched(const Standing& one, base::TimePoint t) const;
    base::Status count_stored();
    void count(const Look& look);
    void keep(const Look& look);

    MonitorSettings settings_;
    MonitorDeps deps_;
    std::mutex looking_;                               // one look at a time
    std::map<uint64_t, monitoring::WatchPlan> plans_;  // by promotion
    mutable std::mutex last_mutex_;
    std::optional<Look> last_;
};

}  // namespace rampart::champion_monitor
