#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>

#include "rampart/base/clock.hpp"
#include "rampart/certification/delta_ledger.hpp"
#include "rampart/decision/draw_check.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/lease/trainer_lease.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/retraining/training_loop.hpp"
#include "rampart/runtime/metrics.hpp"
#include "rampart/serving/decision_service.hpp"
#include "rampart/storage/memory_budget.hpp"
#include "services/rampartd/champion_switch.hpp"
#include "services/rampartd/log_access.hpp"
#include "services/rampartd/review_desk.hpp"
#include "services/rampartd/roles.hpp"

namespace rampart::rampartd {

/// What a node says of itself in /metrics beside what it counts: states, read when they are asked
/// for. What lies behind locks that are held for long (registry, runs) is read by refresh() before.
/// Thread safe.
class NodeMetrics {
  public:
    /// All of it has to outlive the metrics' last prometheus_text().
    struct Deps {
        std::filesystem::path store;
        const base::Clock& clock;
        const LogAccess& log;
        const storage::MemoryBudget& memory;
        const joiner::OutcomeJoiner& joiner;
        const decision::DrawCheck& draws;
        const serving::DecisionService& decisions;
        const registry::ModelRegistry& registry;
        const retraining::TrainingLoop* trainer;  // nullptr: training is off
        std::function<std::vector<joiner::StoppedPartition>()> stopped;
        const lease::TrainerLease* lease;  // nullptr: as of Loop::Deps
        const ChampionSwitch& champion;
        Roles roles;
        const ReviewDesk& reviews;
    };
    /// Adds its collector to `metrics`.
    NodeMetrics(Deps deps, runtime::Metrics& metrics);

    /// Reads what is behind long locks anew, at most every kRefresh; may wait for a promotion. A
    /// failure leaves what was known, and is logged.
    void refresh();
    static constexpr base::Duration kRefresh = base::Duration::seconds(5);

  private:
    /// What refresh() has read.
    struct Learning {
        std::optional<registry::Promotion> champion;
        std::optional<base::TimePoint> certified_until;
        std::optional<retraining::TrainingLoop::Progress> progress;
        size_t proposals = 0;                         // that wait
        std::optional<base::TimePoint> proposal_end;  // when the first of them expires
        std::optional<base::TimePoint> next_switch;   // the first that is scheduled
        uint32_t epoch = 0, runs_left = 0;
        double spent = 0, left = 0;
    };
    base::Result<Learning> read_learning();
    base::Status read_proposals(Learning& learning) const;
    void write(runtime::Samples& out) const;
    void write_joining(runtime::Samples& out) const;
    void write_deciding(runtime::Samples& out) const;
    void write_storage(runtime::Samples& out) const;
    void write_databases(runtime::Samples& out) const;
    void write_learning(runtime::Samples& out) const;

    const Deps deps_;
    std::mutex refresh_mutex_;          // one refresh at a time
    std::optional<int64_t> refreshed_;  // steady microseconds
    std::vector<std::string> ledger_;   // entries as of the last refresh: replayed if they are more
    mutable std::mutex mutex_;          // held to copy, no longer
    Learning learning_;
};

}  // namespace rampart::rampartd
