#include "listings.hpp"
#include "outcome_joiner_impl.hpp"
#include "rampart/joiner/reasons.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/reasons.hpp"

/// The part of OutcomeJoiner that works on what lies in quarantine.
namespace rampart::joiner {

using base::Error;
using base::Result;
using base::Status;
using storage::Sync;
using streaming::Offset;
using streaming::PartitionId;

namespace {
constexpr size_t kDroppedPerWrite = 1000;
}  // namespace

/// The record and the position in `partitions` of the one that keeps it.
Result<std::pair<size_t, Quarantined>> OutcomeJoiner::Impl::find_quarantined(
    std::string_view topic, PartitionId partition, Offset offset, Withheld withheld) const {
    const std::string key = wire::quarantine_key(topic, partition, offset);
    for (size_t i = 0; i < partitions.size(); ++i) {
        RAMPART_TRY(const auto value, partitions[i]->store().db().get(kQuarantine, key));
        if (!value) continue;
        RAMPART_TRY(auto found, wire::decode_quarantined(key, *value));
        if (withheld == Withheld::kHidden && is_withheld(found)) break;
        return std::pair(i, std::move(found));
    }
    return base::make_error(wire::Reason::kNotQuarantined,
                            "offset {} of partition {} of topic '{}' is not in quarantine here",
                            offset, partition, topic);
}

Status OutcomeJoiner::visit_quarantined(const QuarantineVisitor& visit) const {
    for (const auto& partition : impl_->partitions) {
        RAMPART_RETURN_IF_ERROR(joiner::visit_quarantined(
            partition->store(),
            [&](const Quarantined& one) { return visit(one).map([] { return true; }); }));
    }
    return base::ok();
}

Result<size_t> OutcomeJoiner::unread_decisions(base::TimePoint t) const {
    const auto known = reason_info(Reason::kConflictingDecision).word;
    size_t count = 0;
    RAMPART_RETURN_IF_ERROR(visit_quarantined([&](const Quarantined& one) {
        count += one.topic == impl_->options.decisions_topic && one.reason != known &&
                 one.record.timestamp <= t;
        return base::ok();
    }));
    return count;
}

Result<std::optional<Error>> OutcomeJoiner::replay_quarantined(std::string_view topic,
                                                               PartitionId partition, Offset offset,
                                                               Withheld withheld) {
    const std::lock_guard lock(impl_->write_mutex);
    RAMPART_TRY(const auto found, impl_->find_quarantined(topic, partition, offset, withheld));
    const auto& [i, quarantined] = found;
    const bool decision = quarantined.topic == impl_->options.decisions_topic;
    size_t home = i;
    if (!decision) {
        const auto event = wire::decode_outcome_event(quarantined.record);
        if (event) home = impl_->home_of(wire::decision_of(*event).value());
        if (home == impl_->partitions.size()) {
            return std::optional(Error(base::make_error(
                Reason::kNotHeld, "decision '{}' belongs to a partition that is held elsewhere",
                wire::decision_of(*event))));
        }
    }
    JoinBatch batch = impl_->partitions[home]->begin();
    const PartitionJoiner& partition_joiner = *impl_->partitions[home];
    // it becomes known now, whenever it was appended: the log does not say that
    const Arrival arrival = partition_joiner.arrival(std::nullopt);
    RAMPART_TRY(
        const auto why,
        decision ? partition_joiner.reducer().admitted_decision(batch, quarantined.record, arrival)
                 : impl_->reduce(batch, partition_joiner, false, quarantined.record, arrival));
    if (why) return why;  // the batch is dropped: nothing changes
    ++batch.counts().replayed;
    if (home == i) {
        batch.erase(kQuarantine, wire::quarantine_key(topic, partition, offset));
        RAMPART_RETURN_IF_ERROR(impl_->partitions[i]->commit(batch, Sync::kAlways));
        return std::optional<Error>();
    }
    // applied first: after a crash in between it is a duplicate
    RAMPART_RETURN_IF_ERROR(impl_->partitions[home]->commit(batch, Sync::kAlways));
    JoinBatch old = impl_->partitions[i]->begin();
    old.erase(kQuarantine, wire::quarantine_key(topic, partition, offset));
    RAMPART_RETURN_IF_ERROR(impl_->partitions[i]->commit(old, Sync::kAlways));
    return std::optional<Error>();
}

/// Takes up to kDroppedPerWrite out of one partition's quarantine; false: there was no more.
Result<bool> OutcomeJoiner::Impl::drop_some(
    PartitionJoiner& partition, const std::function<bool(const Quarantined&)>& matches) const {
    JoinBatch batch = partition.begin();
    size_t dropped = 0;
    RAMPART_RETURN_IF_ERROR(
        joiner::visit_quarantined(partition.store(), [&](const Quarantined& one) -> Result<bool> {
            if (!matches(one)) return true;
            batch.erase(kQuarantine, wire::quarantine_key(one.topic, one.partition, one.offset));
            return ++dropped < kDroppedPerWrite;
        }));
    batch.counts().dropped += dropped;
    RAMPART_RETURN_IF_ERROR(partition.commit(batch, Sync::kAlways));
    return dropped == kDroppedPerWrite;
}

Status OutcomeJoiner::drop_quarantined_if(const std::function<bool(const Quarantined&)>& matches) {
    const std::lock_guard lock(impl_->write_mutex);
    for (const auto& partition : impl_->partitions) {
        bool more = true;
        while (more) {
            RAMPART_TRY(more, impl_->drop_some(*partition, matches));
        }
    }
    return base::ok();
}

Status OutcomeJoiner::drop_quarantined(std::string_view topic, PartitionId partition, Offset offset,
                                       Withheld withheld) {
    const std::lock_guard lock(impl_->write_mutex);
    RAMPART_TRY(const auto found, impl_->find_quarantined(topic, partition, offset, withheld));
    JoinBatch batch = impl_->partitions[found.first]->begin();
    batch.erase(kQuarantine, wire::quarantine_key(topic, partition, offset));
    ++batch.counts().dropped;
    return impl_->partitions[found.first]->commit(batch, Sync::kAlways);
}

}  // namespace rampart::joiner
