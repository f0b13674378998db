#include "outcome_joiner_impl.hpp"
#include "rampart/joiner/reasons.hpp"

/// The part of OutcomeJoiner that goes on behind a gap in the log.
namespace rampart::joiner {

using base::Result;
using base::Status;
using storage::Sync;
using streaming::Offset;
using streaming::PartitionId;

/// What a source of one held partition needs to go on; nullopt: nothing, it is in order.
Result<std::optional<AcceptedGap>> OutcomeJoiner::Impl::accept(size_t i, const Source& source) {
    PartitionJoiner& partition = *partitions[i];
    RAMPART_TRY(const auto bookmark, partition.bookmark(source));
    const Status fit = streaming::check_bookmark(reader, source.topic, source.partition, bookmark);
    if (fit) return std::optional<AcceptedGap>();
    if (!streaming::is_gap(fit.error())) return fit.error();
    RAMPART_TRY(const Offset begin, reader.begin_offset(source.topic, source.partition));
    RAMPART_RETURN_IF_ERROR(partition.mark_beyond_log());
    JoinBatch batch = partition.begin();
    batch.put_bookmark(source, {begin, ""});
    ++batch.counts().gaps_accepted;
    RAMPART_RETURN_IF_ERROR(partition.commit(batch, Sync::kAlways));
    partition.forget(source);
    return std::optional(
        AcceptedGap{held[i], source.topic, source.partition, fit.error(), bookmark.next, begin});
}

Result<std::vector<AcceptedGap>> OutcomeJoiner::accept_gap(std::string_view name, PartitionId id) {
    const std::lock_guard lock(impl_->write_mutex);
    const std::string topic(name);
    const bool decisions = topic == impl_->options.decisions_topic;
    if (!decisions && topic != impl_->options.outcomes_topic) {
        return base::make_error(Reason::kUnknownTopic,
                                "topic '{}' is not read here; '{}' and '{}' are", topic,
                                impl_->options.decisions_topic, impl_->options.outcomes_topic);
    }
    std::vector<AcceptedGap> accepted;
    std::vector<Source> sources;
    Impl::Round round;
    for (const auto& partition : impl_->partitions) round.batches.push_back(partition->begin());
    const Status fit = impl_->check_topic(round, topic, sources);
    if (!fit && !streaming::is_gap(fit.error())) return fit.error();
    if (id == kWholeTopic && !fit) {
        RAMPART_TRY(const int32_t count, impl_->reader.partitions(topic));
        RAMPART_TRY(const std::string identity, impl_->reader.identity(topic));
        if (decisions && count < impl_->options.partitions) return fit.error();
        for (size_t i = 0; i < impl_->partitions.size(); ++i) {
            RAMPART_RETURN_IF_ERROR(impl_->partitions[i]->mark_beyond_log());
            JoinBatch batch = impl_->partitions[i]->begin();
            batch.put_known_topic(topic, {identity, count});
            ++batch.counts().gaps_accepted;
            RAMPART_RETURN_IF_ERROR(impl_->partitions[i]->commit(batch, Sync::kAlways));
            accepted.push_back({impl_->held[i], topic, kWholeTopic, fit.error(), {}, {}});
        }
    }
    for (size_t i = 0; id != kWholeTopic && i < impl_->partitions.size(); ++i) {
        if (decisions && impl_->held[i] != id) continue;
        RAMPART_TRY(auto gap, impl_->accept(i, {topic, id, decisions}));
        if (gap) accepted.push_back(*std::move(gap));
    }
    if (!accepted.empty()) return accepted;
    return base::make_error(Reason::kNotStopped, "partition {} of topic '{}' has no gap to accept",
                            id, topic);
}

}  // namespace rampart::joiner
