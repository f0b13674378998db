#include <algorithm>

#include "outcome_joiner_impl.hpp"
#include "rampart/base/check.hpp"
#include "rampart/storage/reasons.hpp"

/// A round of OutcomeJoiner, and what becomes of a partition whose database is damaged.
namespace rampart::joiner {

using base::Result;
using base::Status;
using streaming::Offset;
using streaming::PartitionId;

Result<PollReport> OutcomeJoiner::poll(size_t limit, Ends* ends) {
    RAMPART_CHECK(limit >= 1, "poll(0)");
    if (impl_->held.empty()) return PollReport{};  // outcomes would be for no partition
    const std::lock_guard lock(impl_->write_mutex);
    if (ends != nullptr && ends->empty()) impl_->reader.settle();
    while (true) {
        impl_->mend();
        auto report = impl_->poll_once(limit, ends);
        // Read again without the partition that failed, whose database mend() sets aside, or
        // refuses: each at most twice. What the others have written by then is passed over.
        if (report || !impl_->any_newly_damaged()) return report;
    }
}

Result<PollReport> OutcomeJoiner::Impl::poll_once(size_t limit, Ends* ends) {
    Round round;
    for (size_t i = 0; i < partitions.size(); ++i) {
        if (!is_out(i)) RAMPART_RETURN_IF_ERROR(partitions[i]->finish_advance());
    }
    for (const auto& partition : partitions) round.batches.push_back(partition->begin());
    PollReport& report = round.report;
    for (size_t i = 0; i < partitions.size(); ++i) {
        if (const Status whole = partitions[i]->whole(); is_out(i) && !whole) {
            report.stopped.push_back({options.decisions_topic, held[i], whole.error()});
        }
    }
    std::vector<Source> sources;
    for (const auto& topic : {options.decisions_topic, options.outcomes_topic}) {
        const Status fit = check_topic(round, topic, sources);
        if (!fit) report.stopped.push_back({topic, kWholeTopic, fit.error()});
    }
    if (ends != nullptr) {
        const bool first = ends->empty();
        find_ends(round, sources, *ends);
        if (first) prefetch(sources, *ends);
    }
    const size_t share = std::max<size_t>(1, limit / std::max<size_t>(1, sources.size()));
    for (size_t i = 0; i < sources.size() && report.records < limit; ++i) {
        const Source& source = sources[(turn + i) % sources.size()];
        RAMPART_RETURN_IF_ERROR(read(round, source, std::min(share, limit - report.records), ends));
    }
    ++turn;
    if (!round.unreadable.empty() && options.on_unreadable) {
        RAMPART_RETURN_IF_ERROR(options.on_unreadable(round.unreadable));
    }
    RAMPART_RETURN_IF_ERROR(commit(round));
    if (report.records == 0 && report.stopped.empty()) {
        for (const auto& partition : partitions) {
            if (partition->rebuilding()) RAMPART_RETURN_IF_ERROR(partition->become_whole());
        }
    }
    return std::move(report);
}

void OutcomeJoiner::Impl::mend() {
    for (const auto& partition : partitions) {
        // how it went is in its whole()
        static_cast<void>(partition->mend([&] { return check_log_is_whole(*partition); }));
    }
}

bool OutcomeJoiner::Impl::any_newly_damaged() const {
    return std::any_of(partitions.begin(), partitions.end(),
                       [](const auto& partition) { return partition->is_newly_damaged(); });
}

Status OutcomeJoiner::Impl::all_whole(const std::set<PartitionId>& but_for) const {
    for (const auto& partition : partitions) {
        if (!but_for.contains(partition->id())) RAMPART_RETURN_IF_ERROR(partition->whole());
    }
    return base::ok();
}

/// Whether the log gives back all that the joined state of the partition follows from. What cannot
/// be read of that any more is not asked.
Status OutcomeJoiner::Impl::check_log_is_whole(const PartitionJoiner& partition) const {
    const auto& store = partition.store();
    const auto lacks = [&](const std::string& why) {
        return storage::state_damaged(
            store.db().path(), why + "; what was joined would be lost: restore it from a backup");
    };
    for (const auto& topic : {options.decisions_topic, options.outcomes_topic}) {
        RAMPART_TRY(const int32_t count, reader.partitions(topic));
        RAMPART_TRY(const std::string identity, reader.identity(topic));
        const auto known = store.known_topic(topic);
        if (known && *known && (*known)->identity != identity) {
            return lacks(fmt::format("topic '{}' is another", topic));
        }
        const bool decisions = topic == options.decisions_topic;
        for (int32_t p = 0; p < count; ++p) {
            const Source source{topic, PartitionId(p), decisions};
            if (decisions && source.partition != partition.id()) continue;
            RAMPART_TRY(const Offset begin, reader.begin_offset(topic, source.partition));
            if (begin > Offset(0)) {
                return lacks(
                    fmt::format("partition {} of topic '{}' begins at {} by now", p, topic, begin));
            }
            RAMPART_TRY(const Offset end, reader.end_offset(topic, source.partition));
            const auto mark = store.bookmark(source);
            if (mark && end < mark->next) {
                return lacks(
                    fmt::format("partition {} of topic '{}' ends at {}, and was read to {}", p,
                                topic, end, mark->next));
            }
        }
    }
    return base::ok();
}

OutcomeJoiner::Upkeep OutcomeJoiner::upkeep() const {
    Upkeep upkeep;
    for (const auto& partition : impl_->partitions) {
        upkeep.set_aside += partition->store().db().set_aside();
        const Status whole = partition->whole();
        if (whole) continue;
        const bool refused = whole.error().is(storage::Reason::kStateDamaged);
        ++(refused ? upkeep.refused : upkeep.rebuilding);
    }
    return upkeep;
}

}  // namespace rampart::joiner
