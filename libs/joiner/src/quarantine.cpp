#include "listings.hpp"
#include "outcome_joiner_impl.hpp"
#include "rampart/joiner/reasons.hpp"
#include "rampart/joiner/unread_decision.hpp"
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
    size_t count = 0;
    RAMPART_RETURN_IF_ERROR(impl_->all_whole({}));
    RAMPART_RETURN_IF_ERROR(visit_quarantined([&](const Quarantined& one) {
        count +=
            is_unread_decision(one, impl_->options.decisions_topic) && one.record.timestamp <= t;
        return base::ok();
    }));
    for (const auto& partition : impl_->partitions) {
        RAMPART_TRY(const size_t dropped, partition->store().dropped_unread(t));
        count += dropped;
    }
    RAMPART_RETURN_IF_ERROR(impl_->all_whole({}));  // none was made anew, and empty, meanwhile
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
    RAMPART_RETURN_IF_ERROR(impl_->partitions[home]->finish_advance());
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

/// Takes all that match out of one partition's quarantine, in one scan and as many writes as it
/// takes. What is withheld is not counted: that there was some depends on an outcome.
Status OutcomeJoiner::Impl::drop_matching(
    PartitionJoiner& partition, const std::function<bool(const Quarantined&)>& matches) const {
    std::vector<std::string> keys;
    uint64_t shown = 0;
    const auto drop = [&]() -> Status {
        JoinBatch batch = partition.begin();
        for (const auto& key : keys) batch.erase(kQuarantine, key);
        batch.counts().dropped += shown;
        keys.clear();
        shown = 0;
        return partition.commit(batch, Sync::kAlways);
    };
    const auto visit = [&](const Quarantined& one) -> Result<bool> {
        if (!matches(one)) return true;
        keys.push_back(wire::quarantine_key(one.topic, one.partition, one.offset));
        shown += !is_withheld(one);
        if (keys.size() == kDroppedPerWrite) RAMPART_RETURN_IF_ERROR(drop());
        return true;
    };
    RAMPART_RETURN_IF_ERROR(joiner::visit_quarantined(partition.store(), visit));
    return keys.empty() ? base::ok() : drop();
}

Status OutcomeJoiner::drop_quarantined_if(const std::function<bool(const Quarantined&)>& matches) {
    const std::lock_guard lock(impl_->write_mutex);
    for (const auto& partition : impl_->partitions) {
        RAMPART_RETURN_IF_ERROR(impl_->drop_matching(*partition, matches));
    }
    return base::ok();
}

Status OutcomeJoiner::drop_quarantined(std::string_view topic, PartitionId partition, Offset offset,
                                       Withheld withheld) {
    const std::lock_guard lock(impl_->write_mutex);
    RAMPART_TRY(const auto found, impl_->find_quarantined(topic, partition, offset, withheld));
    JoinBatch batch = impl_->partitions[found.first]->begin();
    const auto key = wire::quarantine_key(topic, partition, offset);
    if (is_unread_decision(found.second, impl_->options.decisions_topic))
        batch.drop_unread(key, found.second.record.timestamp);
    else
        batch.erase(kQuarantine, key);
    ++batch.counts().dropped;
    return impl_->partitions[found.first]->commit(batch, Sync::kAlways);
}

}  // namespace rampart::joiner
