#include <algorithm>
#include <set>

#include "rampart/base/limits.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/wire/record_codec.hpp"
#include "services/decision_service/batch.hpp"
#include "services/decision_service/reasons.hpp"

/// How decisions get into the log: the part of DecisionService that one thread at a time runs.
namespace rampart::decision_service {

using base::Result;
using base::Status;
using domain::Application;
using domain::Decision;
namespace limits = base::limits;

namespace {

/// The order of features does not make another application.
bool same_content(const Application& a, const Application& b) {
    const auto sorted = [](const Application& application) {
        auto features = application.features;
        std::sort(features.begin(), features.end(),
                  [](const auto& x, const auto& y) { return x.name < y.name; });
        return features;
    };
    return a.id == b.id && a.person == b.person && a.event_time == b.event_time &&
           (a.features == b.features || sorted(a) == sorted(b));
}

/// The log will never take the record, whatever the state of things; nothing was written.
bool is_refusal(const base::Error& error) {
    return error.code == base::ErrorCode::kInvalidArgument ||
           error.code == base::ErrorCode::kOutOfRange;
}

}  // namespace

Status check_same(const Application& application, const Decision& stored) {
    if (same_content(application, stored.application)) return base::ok();
    return base::make_error(Reason::kApplicationDiffers,
                            "application '{}' was decided before with other content; give a new "
                            "application an id of its own",
                            application.id);
}

/// Queues the batch. Whoever finds nobody committing commits for everybody queued, so that many
/// batches share one write to the disk.
void DecisionService::wait_for_turn(Batch& batch) {
    std::unique_lock lock(queue_mutex_);
    queue_.push_back(&batch);
    turn_.wait(lock, [&] { return batch.done || !committing_; });
    while (!batch.done) {
        const auto batches = take_queued();
        committing_ = true;
        lock.unlock();
        commit(batches);
        lock.lock();
        committing_ = false;
        for (Batch* one : batches) one->done = true;
        turn_.notify_all();
    }
}

std::vector<DecisionService::Batch*> DecisionService::take_queued() {
    // An upper estimate is enough: batches are far smaller than the limit.
    constexpr size_t kMaxTogether = 4 * limits::kMaxBatch;
    std::vector<Batch*> batches;
    size_t candidates = 0;
    while (!queue_.empty()) {
        candidates += queue_.front()->candidates.size();
        if (!batches.empty() && candidates > kMaxTogether) break;
        batches.push_back(queue_.front());
        queue_.pop_front();
    }
    return batches;
}

void DecisionService::commit(std::span<Batch* const> batches) {
    std::set<OwnedPartition*> touched;
    for (const Batch* batch : batches) {
        if (batch->job) batch->job();
        for (const auto& candidate : batch->candidates) {
            if (!candidate.stored && !candidate.error) touched.insert(candidate.partition);
        }
    }
    for (OwnedPartition* partition : touched) {
        // how it went is in its status
        if (partition->is_behind()) static_cast<void>(partition->catch_up());
    }
    Additions additions;
    for (Batch* batch : batches) resolve(*batch, additions);
    const Landing landing = append(additions);
    for (Batch* batch : batches) finish(*batch, landing);
}

/// Settles the batch's decisions and puts the new ones among them into `additions`; of a whole
/// batch nothing at all, if there is an error.
void DecisionService::resolve(Batch& batch, Additions& additions) const {
    Additions own;
    for (auto& candidate : batch.candidates) {
        if (candidate.stored || candidate.error) continue;
        if (const auto status = settle(candidate, batch, own, additions); !status) {
            candidate.error = status.error();
            if (batch.whole) return;
        }
    }
    for (auto& [partition, decision] : own.decisions) {
        additions.add(partition, std::move(decision));
    }
}

Status DecisionService::settle(Candidate& candidate, const Batch& batch, Additions& own,
                               const Additions& before) const {
    const Application& application = *candidate.application;
    OwnedPartition& partition = *candidate.partition;
    const auto& id = candidate.decision.id;
    if (const auto status = partition.status(); !status) return refusal(partition, status.error());
    // somebody else may have decided it since prepare(): in the index, in this group, in this
    // request
    for (const Additions* additions : {static_cast<const Additions*>(&own), &before}) {
        if (const Decision* twin = additions->find(id)) {
            RAMPART_RETURN_IF_ERROR(check_same(application, *twin));
            candidate.decision = *twin;
            return base::ok();
        }
    }
    RAMPART_TRY(auto stored, partition.index().find(id));
    if (stored) {
        RAMPART_RETURN_IF_ERROR(check_same(application, *stored));
        candidate.decision = *std::move(stored);
        candidate.stored = true;
        return base::ok();
    }
    const Additions::Day day(&partition, base::day_of(candidate.decision.decided_at));
    RAMPART_TRY(uint64_t explored, partition.index().explored_on(day.second));
    explored += own.explored_on(day) + before.explored_on(day);
    const bool allowed = explored < partition.exploration_per_day();
    if (allowed != candidate.explore_allowed) {
        RAMPART_TRY(candidate.decision,
                    decision::decide(*batch.policy, application, candidate.row, candidate.group,
                                     options_.draw_key, allowed, candidate.decision.decided_at));
    }
    own.add(&partition, candidate.decision);
    return base::ok();
}

/// Where each record landed. All go in one call, and so in one write to the disk, since a key's
/// partition is the decision's; one by one where that is not so, and where the log refuses one of
/// them for what it is, which must keep no other out.
std::vector<Result<streaming::Position>> DecisionService::write(
    std::span<const streaming::Record> records) {
    std::vector<Result<streaming::Position>> placed;
    placed.reserve(records.size());
    if (!partitions_added_) {
        const auto positions = deps_.writer.append(options_.decisions_topic, records);
        if (positions) {
            placed.insert(placed.end(), positions->begin(), positions->end());
            return placed;
        }
        if (!is_refusal(positions.error()) || records.size() == 1) {
            placed.insert(placed.end(), records.size(), positions.error());
            return placed;
        }
    }
    for (const auto& record : records) {
        const auto home = streaming::partition_of(record.key, options_.partitions);
        const auto position = deps_.writer.append_to(options_.decisions_topic, home, {&record, 1});
        placed.push_back(position.map([](const auto& all) { return all.front(); }));
    }
    return placed;
}

DecisionService::Landing DecisionService::append(const Additions& additions) {
    Landing landing;
    if (additions.decisions.empty()) return landing;
    std::vector<streaming::Record> records;
    records.reserve(additions.decisions.size());
    for (const auto& [partition, decision] : additions.decisions) {
        records.push_back(wire::to_record(decision, partition->epoch()));
    }
    const auto placed = write(records);
    std::map<OwnedPartition*, std::vector<streaming::StoredRecord>> landed;
    for (size_t i = 0; i < records.size(); ++i) {
        OwnedPartition* partition = additions.decisions[i].first;
        if (!placed[i] && is_refusal(placed[i].error())) {
            landing.refused.emplace(additions.decisions[i].second.id, placed[i].error());
        } else if (!placed[i]) {
            landing.failed.emplace(partition, placed[i].error());
        } else if (placed[i]->partition != partition->id()) {
            landing.failed.emplace(
                partition,
                base::make_error(streaming::Reason::kPartitionsChanged,
                                 "decision '{}' was written to partition {} and not to {}: "
                                 "topic '{}' no longer has {} partitions",
                                 records[i].key, placed[i]->partition, partition->id(),
                                 options_.decisions_topic, options_.partitions));
        } else {
            landed[partition].push_back(
                {partition->id(), placed[i]->offset, std::move(records[i])});
        }
    }
    for (const auto& [partition, error] : landing.failed) {
        owned(partition->id())->fell_behind(error);
    }
    for (const auto& [partition, stored] : landed) {
        if (!landing.failed.contains(partition)) take_in(*partition, stored, landing);
    }
    return landing;
}

/// Reads the log through the records that were just appended: only what counts there is
/// acknowledged.
void DecisionService::take_in(OwnedPartition& partition,
                              std::span<const streaming::StoredRecord> records, Landing& landing) {
    const auto fail = [&](const base::Error& why) {
        landing.failed.insert_or_assign(&partition, why);
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
            landing.refused.emplace(id, found.error());
            continue;
        }
        if (!found) return fail(found.error());
        if (*found) landing.earlier.emplace(id, **std::move(found));
        missing |= !*found;
    }
    const Fence fence = index.fence();
    if (fence.epoch <= partition.epoch()) {
        if (missing)
            fail(base::make_error(Reason::kNotCounted, "the index took no notice of a decision"));
        return;
    }
    give_up(partition.id(), fence.node);
    if (options_.on_given_up) options_.on_given_up(partition.id());
    // what came before the fence counts; the rest nobody will ever see
    landing.fenced.emplace(&partition, partition.status().error());
}

/// Tells the batch what became of what it had appended.
void DecisionService::finish(Batch& batch, const Landing& landing) {
    for (auto& candidate : batch.candidates) {
        if (candidate.stored || candidate.error) continue;
        if (const auto failed = landing.failed.find(candidate.partition);
            failed != landing.failed.end()) {
            candidate.error = failed->second;
            continue;
        }
        if (const auto refused = landing.refused.find(candidate.decision.id);
            refused != landing.refused.end()) {
            candidate.error = refused->second;
            continue;
        }
        const auto earlier = landing.earlier.find(candidate.decision.id);
        if (earlier != landing.earlier.end()) {
            const auto same = check_same(*candidate.application, earlier->second);
            if (!same) candidate.error = same.error();
            candidate.decision = earlier->second;
            continue;
        }
        if (const auto fenced = landing.fenced.find(candidate.partition);
            fenced != landing.fenced.end()) {
            candidate.error = fenced->second;
        }
    }
}

}  // namespace rampart::decision_service
