#include "rampart/decision_log/decision_log.hpp"

#include <algorithm>

#include "rampart/base/limits.hpp"
#include "rampart/decision_log/reasons.hpp"
#include "rampart/storage/reasons.hpp"
#include "rampart/streaming/partition_list.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/streaming/reasons.hpp"

namespace rampart::decision_log {

using base::Result;
using base::Status;
using streaming::PartitionId;

namespace {

// Most records of a partition read before the first answer; mend() reads the rest.
constexpr size_t kFirstReading = 1000;
// An upper estimate is enough: batches are far smaller than the limit.
constexpr size_t kMaxTogether = 4 * base::limits::kMaxBatch;

Result<std::vector<PartitionId>> owned_of(const DecisionLogOptions& options) {
    if (options.partitions < 1 || options.partitions > kMaxPartitions) {
        return base::make_error(streaming::Reason::kBadPartitions,
                                "{} partitions; 1 to {} are allowed", options.partitions,
                                kMaxPartitions);
    }
    std::vector<PartitionId> owned = options.owned;
    if (streaming::names_none(owned)) return std::vector<PartitionId>();
    if (owned.empty()) {
        for (int32_t p = 0; p < options.partitions; ++p) owned.emplace_back(p);
    }
    std::sort(owned.begin(), owned.end());
    const bool twice = std::adjacent_find(owned.begin(), owned.end()) != owned.end();
    if (twice || owned.front().value() < 0 || owned.back().value() >= options.partitions) {
        return base::make_error(streaming::Reason::kBadPartitions,
                                "the partitions to own have to be different ones of 0 to {}",
                                options.partitions - 1);
    }
    return owned;
}

}  // namespace

DecisionLog::DecisionLog(DecisionLogOptions options, DecisionLogDeps deps)
    : options_(std::move(options)),
      deps_(deps),
      commits_([this](std::span<Work* const> works) { commit(works); }, kMaxTogether) {}

Result<std::unique_ptr<DecisionLog>> DecisionLog::open(DecisionLogOptions options,
                                                       DecisionLogDeps deps) {
    RAMPART_TRY(const int32_t partitions, deps.reader.partitions(options.topic));
    if (partitions < options.partitions) {
        return base::make_error(
            streaming::Reason::kPartitionsChanged,
            "topic '{}' has {} partitions, and {} are configured; the number is fixed once "
            "decisions are in it",
            options.topic, partitions, options.partitions);
    }
    std::unique_ptr<DecisionLog> log(new DecisionLog(std::move(options), deps));
    log->partitions_added_ = partitions > log->options_.partitions;
    RAMPART_RETURN_IF_ERROR(log->open_partitions());
    RAMPART_RETURN_IF_ERROR(log->claim_partitions());
    return log;
}

Status DecisionLog::open_partitions() {
    RAMPART_TRY(const auto owned, owned_of(options_));
    partitions_.resize(static_cast<size_t>(options_.partitions));
    size_t done = 0, away = 0;
    Status first_away;
    for (const PartitionId p : owned) {
        if (options_.on_read) options_.on_read(done++, owned.size());
        RAMPART_TRY(auto index,
                    DecisionIndex::open(
                        {options_.folder / std::to_string(p.value()) / "decisions", options_.topic,
                         p, options_.partitions, options_.memory, options_.environment},
                        deps_.reader));
        auto& partition = partitions_[static_cast<size_t>(p.value())];
        partition = std::make_unique<OwnedPartition>(
            std::move(index),
            exploration_share(options_.exploration_per_day, p, options_.partitions));
        const auto status = partition->begin(kFirstReading);
        if (status || is_gap(status.error()) || partition->is_rebuilding()) continue;
        if (status.error().code != base::ErrorCode::kUnavailable) return status;
        // tried again by maintain(); the others decide meanwhile
        if (away++ == 0) first_away = status;
    }
    return away < owned.size() ? base::ok() : first_away;
}

/// Claims after the indices have caught up, so that a partition is without an owner for as short a
/// time as can be.
Status DecisionLog::claim_partitions() {
    Epochs fences;
    for (const auto& partition : partitions_) {
        if (partition) fences[partition->id()] = partition->index().fence().epoch;
    }
    if (!options_.claim) {
        for (const auto& [p, epoch] : fences) {
            if (epoch == 0) continue;
            return base::make_error(
                Reason::kFenced,
                "partition {} has a fence of epoch {}: the log is shared by nodes that hold "
                "leases, "
                "and without one this node's decisions would not count",
                p, epoch);
        }
        return base::ok();
    }
    RAMPART_TRY(claimed_, options_.claim(fences));
    for (const auto& partition : partitions_) {
        if (partition && partition->status()) RAMPART_RETURN_IF_ERROR(take(*partition));
    }
    return base::ok();
}

Status DecisionLog::take(OwnedPartition& partition) {
    if (!options_.claim) return base::ok();
    const auto claimed = claimed_.find(partition.id());
    if (claimed == claimed_.end()) {
        return base::make_error(Reason::kNoEpoch, "partition {} was claimed without an epoch",
                                partition.id());
    }
    return partition.take(claimed->second, options_.node, deps_.clock.now(), options_.topic,
                          deps_.writer);
}

Status DecisionLog::any_decides() const {
    return std::any_of(partitions_.begin(), partitions_.end(),
                       [](const auto& partition) { return partition && partition->status(); })
               ? base::ok()
               : all_decide();
}

Status DecisionLog::all_decide() const {
    size_t owned = 0, stopped = 0;
    std::optional<base::Error> first;
    for (const auto& partition : partitions_) {
        if (!partition) continue;
        ++owned;
        const auto status = partition->status();
        if (status) continue;
        ++stopped;
        if (!first) {
            first = status.error().with_context(fmt::format("partition {}", partition->id()));
        }
    }
    if (!first) return base::ok();
    return first->with_context(
        fmt::format("{} of {} partitions stand still, the first", stopped, owned));
}

Status DecisionLog::all_whole() const {
    for (const auto& partition : partitions_) {
        if (!partition || !partition->is_rebuilding()) continue;
        if (const Status status = partition->status(); !status) {
            return refusal(*partition, status.error());
        }
    }
    return base::ok();
}

std::vector<PartitionView> DecisionLog::partitions() const {
    std::vector<PartitionView> views;
    for (const auto& partition : partitions_) {
        if (!partition) continue;
        const auto& index = partition->index();
        views.push_back({partition->id(), partition->epoch(), partition->status(), index.fence(),
                         index.counts()});
    }
    return views;
}

PartitionId DecisionLog::home_of(const domain::DecisionId& id) const {
    return streaming::partition_of(id.value(), options_.partitions);
}

OwnedPartition* DecisionLog::owned(PartitionId partition) const {
    const auto at = static_cast<size_t>(partition.value());
    return partition.value() >= 0 && at < partitions_.size() ? partitions_[at].get() : nullptr;
}

Result<std::optional<domain::Decision>> DecisionLog::look_up(const OwnedPartition& partition,
                                                             const domain::DecisionId& id) const {
    const auto check = [&]() -> Status {
        const Status status = partition.status();
        if (status || !partition.is_rebuilding()) return base::ok();
        return refusal(partition, status.error());
    };
    RAMPART_RETURN_IF_ERROR(check());
    auto found = partition.index().find(id);
    RAMPART_RETURN_IF_ERROR(check());  // it may have been set aside meanwhile
    return found;
}

bool DecisionLog::is_elsewhere(PartitionId partition) const {
    const OwnedPartition* here = owned(partition);
    return here == nullptr || here->given_up();
}

std::optional<Owner> DecisionLog::other_owner(PartitionId partition) const {
    if (!options_.owner_of) return std::nullopt;
    auto owner = options_.owner_of(partition);
    // this node has lost the partition, and has not read yet to whom
    if (owner && owner->node == options_.node) return std::nullopt;
    return owner;
}

base::Error DecisionLog::not_owner(PartitionId partition) const {
    const auto owner = other_owner(partition);
    return base::make_error(
        Reason::kNotOwner, "partition {} of {} is not decided here but by {}; ask there", partition,
        options_.partitions, owner ? fmt::format("the node '{}'", owner->node) : "another node");
}

base::Error DecisionLog::refusal(const OwnedPartition& partition, const base::Error& why) const {
    if (partition.given_up()) return not_owner(partition.id());
    if (!is_gap(why) && !why.is(storage::Reason::kStateDamaged)) return why;
    return base::make_error(Reason::kPartitionStopped, "partition {} stands still: {}",
                            partition.id(), why.message);
}

base::Error DecisionLog::unless_rebuilding(PartitionId id, const base::Error& why) const {
    const OwnedPartition* partition = owned(id);
    if (why.code != base::ErrorCode::kDataLoss || partition == nullptr) return why;
    const Status status = partition->status();
    return partition->is_rebuilding() && !status ? refusal(*partition, status.error()) : why;
}

}  // namespace rampart::decision_log
