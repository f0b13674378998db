#include "services/rampartd/node_metrics.hpp"

#include <chrono>
#include <limits>
#include <map>

#include "rampart/base/log.hpp"
#include "rampart/decision_log/reasons.hpp"
#include "rampart/runtime/metric_list.hpp"
#include "rampart/runtime/version.hpp"
#include "rampart/storage/database_figures.hpp"
#include "services/rampartd/software.hpp"

namespace rampart::rampartd {

namespace metric = runtime::metric;
using base::Result;
using base::TimePoint;
using runtime::Samples;

namespace {

constexpr base::Logger kLog("rampartd");
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kNever = std::numeric_limits<double>::infinity();

double seconds_of(TimePoint time) { return static_cast<double>(time.micros()) / 1e6; }

/// Rounds down: to the byte it would say how many values of outcomes are 0.
double whole_mib(uint64_t bytes) { return static_cast<double>(bytes >> 20 << 20); }

double number(uint64_t value) { return static_cast<double>(value); }

/// The databases of one kind together.
struct OfKind {
    uint64_t open = 0, live_bytes = 0, pending = 0, level0 = 0, damaged = 0, stopped = 0,
             delayed = 0;
    std::optional<runtime::Histogram> synced_writes;
};

}  // namespace

NodeMetrics::NodeMetrics(Deps deps, runtime::Metrics& metrics) : deps_(std::move(deps)) {
    refresh();
    metrics.collect([this](Samples& out) { write(out); });
}

void NodeMetrics::refresh() {
    const std::lock_guard one(refresh_mutex_);
    const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
                         std::chrono::steady_clock::now().time_since_epoch())
                         .count();
    if (refreshed_ && now - *refreshed_ < kRefresh.micros()) return;
    refreshed_ = now;
    auto learning = read_learning();
    if (!learning) {
        kLog.warning("msg=\"metrics of learning not read\" reason={} what=\"{}\"",
                     learning.error().reason, learning.error().message);
        return;
    }
    const std::lock_guard lock(mutex_);
    learning_ = *std::move(learning);
}

Result<NodeMetrics::Learning> NodeMetrics::read_learning() {
    Learning learning;
    {
        const std::lock_guard lock(mutex_);
        learning = learning_;
    }
    learning.champion = deps_.registry.champion();
    RAMPART_TRY(learning.certified_until, deps_.registry.champion_certified_until());
    if (deps_.trainer != nullptr) {
        RAMPART_TRY(learning.progress, deps_.trainer->progress());
        RAMPART_RETURN_IF_ERROR(read_proposals(learning));
    }
    RAMPART_TRY(auto entries, deps_.registry.ledger_entries());
    if (entries.size() == ledger_.size()) return learning;
    RAMPART_TRY(const auto ledger, certification::DeltaLedger::open(entries));
    ledger_ = std::move(entries);
    learning.epoch = ledger.epoch();
    learning.runs_left = ledger.runs_left();
    learning.spent = ledger.spent();
    learning.left = ledger.current() ? ledger.current()->delta_epoch - ledger.spent() : 0;
    return learning;
}

base::Status NodeMetrics::read_proposals(Learning& learning) const {
    RAMPART_TRY(const auto all, deps_.registry.proposals(deps_.clock.now()));
    learning.proposals = 0;
    learning.proposal_end = learning.next_switch = std::nullopt;
    for (const auto& one : all) {
        if (one.state == registry::ProposalState::kScheduled)
            learning.next_switch =
                std::min(learning.next_switch.value_or(*one.switch_at), *one.switch_at);
        if (one.state != registry::ProposalState::kWaiting) continue;
        ++learning.proposals;
        learning.proposal_end = std::min(learning.proposal_end.value_or(one.expires), one.expires);
    }
    return base::ok();
}

void NodeMetrics::write(Samples& out) const {
    for (const auto& role : names_of(deps_.roles)) out.add(metric::kNodeRole, 1, {{"role", role}});
    write_deciding(out);
    deps_.log.write(out);
    if (deps_.roles.join) write_joining(out);
    write_storage(out);
    write_databases(out);
    write_learning(out);
    // "rampart 0.1.0, sources DIGEST"
    const std::string made_of = software();
    out.add(metric::kBuildInfo, 1,
            {{"version", std::string(runtime::version())},
             {"compiler", "g++ " __VERSION__},
             {"sources", made_of.substr(made_of.rfind(' ') + 1)}});
}

void NodeMetrics::write_deciding(Samples& out) const {
    size_t owned = 0, stopped = 0;
    for (const auto& view : deps_.decisions.partitions()) {
        owned += view.status || !view.status.error().is(decision_log::Reason::kFenced);
        stopped += !view.status;
    }
    out.add(metric::kPartitionsConfigured, deps_.decisions.partition_count());
    out.add(metric::kPartitionsOwned, number(owned));
    out.add(metric::kPartitionsStopped, number(stopped));
}

void NodeMetrics::write_joining(Samples& out) const {
    const auto counts = deps_.joiner.counts();
    out.add(metric::kJoinedDecisions, number(counts.decisions));
    out.add(metric::kJoinedOutcomes, number(counts.outcomes));
    out.add(metric::kJoinedMatured, number(counts.matured));
    out.add(metric::kJoinedOverdue, number(counts.overdue));
    out.add(metric::kJoinedUnmatched, number(counts.unmatched));
    out.add(metric::kJoinedErased, number(counts.erased));
    out.add(metric::kJoinedLate, number(counts.late_outcomes));
    out.add(metric::kJoinedCorrections, number(counts.corrections));
    const std::pair<const char*, uint64_t> kinds[] = {
        {"undecodable", counts.undecodable},
        {"conflicting_decision", counts.conflicting_decisions},
        {"conflicting_outcome", counts.conflicting_outcomes},
        {"foreign_draw", counts.foreign_draws}};
    for (const auto& [kind, count] : kinds) {
        out.add(metric::kQuarantined, number(count), {{"kind", kind}});
    }
    if (const auto queue = deps_.reviews.queue()) {
        const double age =
            queue->oldest ? seconds_of(deps_.clock.now()) - seconds_of(*queue->oldest) : 0;
        out.add(metric::kReviewsOpen, number(queue->open));
        out.add(metric::kReviewOldest, std::max(0.0, age));
    }
    out.add(metric::kJoinUncheckedDraws, number(deps_.draws.unchecked()));
    const auto clock = deps_.joiner.clock();
    const double behind =
        clock ? std::max(0.0, seconds_of(deps_.clock.now()) - seconds_of(*clock)) : kNone;
    out.add(metric::kJoinClockLag, behind);
    const auto& topics = deps_.log.topics();
    std::map<std::string, size_t> stopped{{topics.decisions, 0}, {topics.outcomes, 0}};
    for (const auto& one : deps_.stopped()) ++stopped[one.topic];
    for (const auto& [topic, count] : stopped) {
        out.add(metric::kJoinSourcesStopped, number(count), {{"topic", topic}});
    }
}

void NodeMetrics::write_storage(Samples& out) const {
    const auto memory = deps_.memory.usage();
    out.add(metric::kMemoryLimit, number(memory.limit));
    out.add(metric::kMemoryUsed, whole_mib(memory.used));
    out.add(metric::kMemoryPinned, whole_mib(memory.pinned));
    out.add(metric::kMemoryWriteBuffers, whole_mib(memory.write_buffers));
    out.add(metric::kCacheHits, number(memory.cache_hits));
    out.add(metric::kCacheMisses, number(memory.cache_misses));
    out.add(metric::kDatabaseStall, memory.stall_seconds);
    std::error_code failure;
    const auto space = std::filesystem::space(deps_.store, failure);
    out.add(metric::kDiskFree, failure ? kNone : number(space.available));
    out.add(metric::kDiskSize, failure ? kNone : number(space.capacity));
}

/// By kind, the last part of a database's path: of many partitions one figure.
void NodeMetrics::write_databases(Samples& out) const {
    std::map<std::string, OfKind> kinds;
    for (const auto& one : storage::database_figures()) {
        const auto relative = one.path.lexically_relative(deps_.store);
        if (relative.empty() || *relative.begin() == "..") continue;  // another node's
        auto& kind = kinds[one.path.filename().string()];
        ++kind.open;
        kind.live_bytes += one.live_bytes;
        kind.pending += one.pending_compaction_bytes;
        kind.level0 = std::max(kind.level0, one.level0_files);
        kind.damaged += one.damaged;
        kind.stopped += one.writes_stopped;
        kind.delayed += one.writes_delayed;
        if (!kind.synced_writes) kind.synced_writes.emplace(runtime::latency_bounds());
        kind.synced_writes->add(*one.synced_writes);
    }
    for (const auto& [name, kind] : kinds) {
        const runtime::Labels labels{{"database", name}};
        out.add(metric::kDatabasesOpen, number(kind.open), labels);
        out.add(metric::kDatabaseBytes, whole_mib(kind.live_bytes), labels);
        out.add(metric::kDatabasePending, whole_mib(kind.pending), labels);
        out.add(metric::kDatabaseLevel0, number(kind.level0), labels);
        out.add(metric::kDatabasesDamaged, number(kind.damaged), labels);
        out.add(metric::kWritesStopped, number(kind.stopped), labels);
        out.add(metric::kWritesDelayed, number(kind.delayed), labels);
        out.add(metric::kSyncedWriteSeconds, *kind.synced_writes, labels);
    }
}

void NodeMetrics::write_learning(Samples& out) const {
    Learning learning;
    {
        const std::lock_guard lock(mutex_);
        learning = learning_;
    }
    if (deps_.champion.registry_decides()) {
        const auto& until = learning.certified_until;
        out.add(metric::kCertificateEnd, until ? seconds_of(*until) : kNever);
        if (learning.champion) out.add(metric::kChampionSince, seconds_of(learning.champion->at));
    }
    if (deps_.lease != nullptr) {
        out.add(metric::kTrainerHeld, deps_.lease->held() ? 1 : 0);
        out.add(metric::kTrainerEpoch, number(deps_.lease->epoch()));
    }
    if (const auto followed = deps_.champion.followed()) {
        out.add(metric::kFollowedEpoch, number(followed->epoch));
        out.add(metric::kFollowedSequence, number(followed->sequence));
    }
    if (!learning.progress) return;
    const auto& progress = *learning.progress;
    using certification::Verdict;
    for (const Verdict verdict :
         {Verdict::kCertified, Verdict::kNoSolutionFound, Verdict::kRefused, Verdict::kIdentical}) {
        const auto found = progress.runs.find(verdict);
        out.add(metric::kRuns, found == progress.runs.end() ? 0 : number(found->second),
                {{"verdict", std::string(to_string(verdict))}});
    }
    out.add(metric::kRunTime, progress.last_run ? seconds_of(*progress.last_run) : kNone);
    out.add(metric::kRunSeconds, progress.last_seconds);
    out.add(metric::kUnexplained, progress.unexplained);
    out.add(metric::kNextDue, progress.next_due ? seconds_of(*progress.next_due) : kNever);
    out.add(metric::kProposalsWaiting, number(learning.proposals));
    const auto& end = learning.proposal_end;
    out.add(metric::kProposalEnd, end ? seconds_of(*end) : kNever);
    const auto& next_switch = learning.next_switch;
    out.add(metric::kProposalSwitch, next_switch ? seconds_of(*next_switch) : kNever);
    out.add(metric::kBudgetEpoch, learning.epoch);
    out.add(metric::kBudgetSpent, learning.spent);
    out.add(metric::kBudgetLeft, learning.left);
    out.add(metric::kBudgetRunsLeft, learning.runs_left);
}

}  // namespace rampart::rampartd
