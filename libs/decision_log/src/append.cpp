#include <set>

#include "rampart/decision_log/decision_log.hpp"
#include "rampart/decision_log/reasons.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/wire/record_codec.hpp"

/// How decisions get into the log: the part of DecisionLog that one thread at a time runs.
namespace rampart::decision_log {

using base::Result;
using streaming::PartitionId;

namespace {

/// The log will never take the record, whatever the state of things; nothing was written.
bool is_refusal(const base::Error& error) {
    return error.code == base::ErrorCode::kInvalidArgument ||
           error.code == base::ErrorCode::kOutOfRange;
}

}  // namespace

void DecisionLog::commit(Batch& batch) {
    Work work{&batch};
    commits_.run(work);
}

void DecisionLog::between_commits(std::function<void()> job) {
    Work work{nullptr, std::move(job)};
    commits_.run(work);
}

void DecisionLog::commit(std::span<Work* const> works) {
    std::set<OwnedPartition*> touched;
    for (const Work* work : works) {
        if (work->job) work->job();
        if (work->batch != nullptr) work->batch->add_partitions(touched);
    }
    for (OwnedPartition* partition : touched) {
        if (partition->is_behind() && partition->may_try()) recover(*partition);
    }
    PendingDecisions pending;
    for (const Work* work : works) {
        if (work->batch != nullptr) work->batch->finalise(pending);
    }
    const AppendResult result = append(pending);
    for (const Work* work : works) {
        if (work->batch != nullptr) work->batch->finish(result);
    }
}

/// Returns where each record landed. All go in one call, and so in one write to the disk, since a
/// key's partition is the decision's; one by one where the log refuses one of them for what it is,
/// which must keep no other out.
std::vector<Result<streaming::Position>> DecisionLog::write(
    std::span<const streaming::Record> records) {
    if (partitions_added_) return write_by_home(records);
    auto placed = deps_.writer.append_each(options_.topic, records);
    for (size_t i = 0; i < records.size() && records.size() > 1; ++i) {
        if (!placed[i] && is_refusal(placed[i].error())) {
            const auto home = streaming::partition_of(records[i].key, options_.partitions);
            placed[i] = write_to(home, records.subspan(i, 1)).front();
        }
    }
    return placed;
}

/// Appends to one partition, and returns a result for each record.
std::vector<Result<streaming::Position>> DecisionLog::write_to(
    PartitionId home, std::span<const streaming::Record> records) {
    const auto placed = deps_.writer.append_to(options_.topic, home, records);
    if (placed) return {placed->begin(), placed->end()};
    return std::vector<Result<streaming::Position>>(records.size(), placed.error());
}

/// Appends where a key's partition is not the decision's any more: the records of each partition in
/// one call. Where one of them is refused for what it is, those of its partition go one by one.
std::vector<Result<streaming::Position>> DecisionLog::write_by_home(
    std::span<const streaming::Record> records) {
    std::map<PartitionId, std::vector<size_t>> homes;
    for (size_t i = 0; i < records.size(); ++i)
        homes[streaming::partition_of(records[i].key, options_.partitions)].push_back(i);
    std::vector<Result<streaming::Position>> placed(records.size(), streaming::Position{});
    for (const auto& [home, members] : homes) {
        std::vector<streaming::Record> group;
        for (const size_t i : members) group.push_back(records[i]);
        const auto together = write_to(home, group);
        const bool refused = !together.front() && is_refusal(together.front().error());
        for (size_t k = 0; k < members.size(); ++k) {
            const bool alone = refused && group.size() > 1;
            placed[members[k]] =
                alone ? write_to(home, std::span(group).subspan(k, 1)).front() : together[k];
        }
    }
    return placed;
}

AppendResult DecisionLog::append(const PendingDecisions& pending) {
    AppendResult result;
    const auto& entries = pending.entries();
    if (entries.empty()) return result;
    std::vector<streaming::Record> records;
    records.reserve(entries.size());
    for (const auto& [partition, decision] : entries) {
        records.push_back(wire::to_record(decision, partition->epoch()));
    }
    const auto placed = write(records);
    std::map<OwnedPartition*, std::vector<streaming::StoredRecord>> appended;
    for (size_t i = 0; i < records.size(); ++i) {
        OwnedPartition* partition = entries[i].first;
        if (!placed[i] && is_refusal(placed[i].error())) {
            result.refused.emplace(entries[i].second.id, placed[i].error());
        } else if (!placed[i]) {
            result.failed.emplace(partition, placed[i].error());
        } else if (placed[i]->partition != partition->id()) {
            result.failed.emplace(
                partition,
                base::make_error(streaming::Reason::kPartitionsChanged,
                                 "decision '{}' was written to partition {} and not to {}: "
                                 "topic '{}' no longer has {} partitions",
                                 records[i].key, placed[i]->partition, partition->id(),
                                 options_.topic, options_.partitions));
        } else {
            appended[partition].push_back(
                {partition->id(), placed[i]->offset, std::move(records[i])});
        }
    }
    for (const auto& [partition, error] : result.failed) {
        owned(partition->id())->fell_behind(error);
    }
    for (const auto& [partition, stored] : appended) {
        if (!result.failed.contains(partition)) apply_appended(*partition, stored, result);
    }
    return result;
}

/// Reads the log through the records that were just appended: only what counts there is
/// acknowledged.
void DecisionLog::apply_appended(OwnedPartition& partition,
                                 std::span<const streaming::StoredRecord> records,
                                 AppendResult& result) {
    const auto fail = [&](const base::Error& why) {
        result.failed.insert_or_assign(&partition, why);
    };
    DecisionIndex& index = partition.index();
    const auto all_count = index.apply(records);
    if (!all_count) {
        partition.fell_behind(all_count.error());
        return fail(all_count.error());
    }
    if (*all_count) return;
    bool missing = false;
    for (const auto& stored : records) {
        const domain::DecisionId id(stored.record.key);
        auto found = index.find(id);
        if (!found && found.error().is(Reason::kErased)) {
            result.refused.emplace(id, found.error());
            continue;
        }
        if (!found) return fail(found.error());
        if (*found) result.earlier.emplace(id, **std::move(found));
        missing |= !*found;
    }
    const Fence fence = index.fence();
    if (fence.epoch <= partition.epoch()) {
        if (missing)
            fail(base::make_error(Reason::kNotCounted, "the index took no notice of a decision"));
        return;
    }
    const bool first = give_up(partition.id(), fence.node);
    if (first && options_.on_given_up) options_.on_given_up(partition.id());
    // what came before the fence counts; the rest is never read
    result.fenced.emplace(&partition, partition.status().error());
}

}  // namespace rampart::decision_log
