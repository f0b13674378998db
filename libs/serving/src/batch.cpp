#include "batch.hpp"

#include "rampart/serving/reasons.hpp"
#include "rampart/wire/reasons.hpp"

namespace rampart::serving {

using base::Status;
using decision_log::OwnedPartition;
using decision_log::PendingDecisions;
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

}  // namespace

Status check_same(const Application& application, const Decision& stored) {
    if (same_content(application, stored.application)) return base::ok();
    return base::make_error(Reason::kApplicationDiffers,
                            "application '{}' was decided before with other content; give a new "
                            "application an id of its own",
                            application.id);
}

Status check_batch(std::string_view what, size_t size) {
    if (size >= 1 && size <= limits::kMaxBatch) return base::ok();
    return base::make_error(wire::Reason::kBadBatch, "{} {}; 1 to {} are allowed", size, what,
                            limits::kMaxBatch);
}

void DecisionService::Batch::add_partitions(std::set<OwnedPartition*>& partitions) const {
    for (const auto& candidate : candidates) {
        if (!candidate.stored && !candidate.error) partitions.insert(candidate.partition);
    }
}

void DecisionService::Batch::finalise(PendingDecisions& pending) {
    PendingDecisions own;
    for (auto& candidate : candidates) {
        if (candidate.stored || candidate.error) continue;
        if (const auto status = finalise_one(candidate, own, pending); !status) {
            candidate.error = status.error();
            if (whole) return;
        }
    }
    pending.add(std::move(own));
}

Status DecisionService::Batch::finalise_one(Candidate& candidate, PendingDecisions& own,
                                            const PendingDecisions& before) const {
    const Application& application = *candidate.application;
    OwnedPartition& partition = *candidate.partition;
    const auto& id = candidate.decision.id;
    if (const auto status = partition.status(); !status) {
        return log_.refusal(partition, status.error());
    }
    // it may have been decided since prepare(): in the index, in this group, in this request
    for (const PendingDecisions* pending : {static_cast<const PendingDecisions*>(&own), &before}) {
        if (const Decision* twin = pending->find(id)) {
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
    const int64_t day = base::day_of(candidate.decision.decided_at);
    RAMPART_TRY(uint64_t explored, partition.index().explored_on(day));
    explored += own.explored_on(partition, day) + before.explored_on(partition, day);
    const bool allowed = !policies->stops.exploration && explored < partition.exploration_per_day();
    if (allowed != candidate.explore_allowed) {
        RAMPART_RETURN_IF_ERROR(candidate.decide(
            draw_key_, cool_off_, allowed, policies->stops.refer, candidate.decision.decided_at));
    }
    own.add(partition, candidate.decision);
    return base::ok();
}

void DecisionService::Batch::finish(const decision_log::AppendResult& result) {
    for (auto& candidate : candidates) {
        if (candidate.stored || candidate.error) continue;
        const auto& id = candidate.decision.id;
        if (const auto failed = result.failed.find(candidate.partition);
            failed != result.failed.end()) {
            candidate.error = failed->second;
            continue;
        }
        if (const auto refused = result.refused.find(id); refused != result.refused.end()) {
            candidate.error = refused->second;
            continue;
        }
        if (const auto earlier = result.earlier.find(id); earlier != result.earlier.end()) {
            const auto same = check_same(*candidate.application, earlier->second);
            if (!same) candidate.error = same.error();
            candidate.decision = earlier->second;
            continue;
        }
        if (const auto fenced = result.fenced.find(candidate.partition);
            fenced != result.fenced.end()) {
            candidate.error = fenced->second;
        }
    }
}

}  // namespace rampart::serving
