#include <set>

#include "rampart/decision_log/decision_log.hpp"
#include "rampart/decision_log/reasons.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/wire/record_codec.hpp"

/// How decisions get into the log: the part of DecisionLog that one thread at a time runs.
namespace rampart::decision_log {

using base::Result;

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
/// key's partition is the decision's; one by one where that is not so, and where the log refuses
/// one of them for what it is, which must keep no other out.
std::vector<Result<streaming::Position>> DecisionLog::write(
    std::span<const streaming::Record> records) {
    const auto write_one = [&](const streaming::Record& record) {
        const auto home = streaming::partition_of(record.key, options_.partitions);
        return deps_.writer.append_to(options_.topic, home, {&record, 1})
            .map([](const auto& positions) { return positions.front(); });
    };
    std::vector<Result<streaming::Position>> placed;
    if (partitions_added_) {
        for (const auto& record : records) placed.push_back(write_one(record));
        return placed;
    }
    placed = deps_.writer.append_each(options_.topic, records);
    for (size_t i = 0; i < records.size() && records.size() > 1; ++i) {
        if (!placed[i] && is_refusal(placed[i].error())) placed[i] = write_one(records[i]);
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
