#include "rampart/base/log.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/record_codec.hpp"
#include "services/decision_service/batch.hpp"
#include "services/decision_service/reasons.hpp"

/// The part of DecisionService that erases.
namespace rampart::decision_service {

using base::Status;
using streaming::PartitionId;

namespace {

constexpr base::Logger kLog("decision_service");

}  // namespace

Status DecisionService::erase(std::span<const domain::DecisionId> decisions, base::TimePoint now) {
    std::map<PartitionId, std::vector<domain::DecisionId>> homes;
    for (const auto& id : decisions) {
        homes[streaming::partition_of(id.value(), options_.partitions)].push_back(id);
    }
    for (const auto& [home, ids] : homes) {
        std::vector<streaming::Record> records;
        for (const auto& id : ids) records.push_back(wire::to_record(domain::Erasure{id, now}));
        RAMPART_RETURN_IF_ERROR(deps_.writer.append_to(options_.decisions_topic, home, records));
    }
    Status status;
    Batch batch;
    batch.job = [&] {
        for (const auto& partition : partitions_) {
            if (!partition || partition->given_up() || partition->is_rebuilding()) continue;
            if (!status) continue;
            if (homes.empty() || homes.contains(partition->id())) status = partition->catch_up();
        }
    };
    wait_for_turn(batch);
    recent_outcomes_.clear();
    RAMPART_RETURN_IF_ERROR(status);
    // decisions go on meanwhile
    for (const auto& [home, ids] : homes) {
        const OwnedPartition* partition = owned(home);
        if (partition != nullptr && partition->is_rebuilding()) continue;
        if (DecisionIndex* index = index_of(home)) {
            RAMPART_RETURN_IF_ERROR(index->compact_erased(ids));
        }
    }
    return base::ok();
}

Status DecisionService::erase_unreadable(std::span<const domain::DecisionId> decisions,
                                         base::TimePoint now) {
    std::vector<domain::DecisionId> left;
    Status status;
    const auto look = [&](const domain::DecisionId& id) -> Status {
        const PartitionId home = streaming::partition_of(id.value(), options_.partitions);
        OwnedPartition* partition = owned(home);
        if (partition == nullptr || partition->given_up() || partition->is_rebuilding()) {
            left.push_back(
                id);  // the index of its owner, or the one that is made anew, may have it
            return base::ok();
        }
        const auto found = partition->index().find(id);
        if (!found) return found.error().is(Reason::kErased) ? base::ok() : Status(found.error());
        if (*found) left.push_back(id);
        return base::ok();
    };
    // While nothing is decided: what was sealed before the key went is in the index by then. What
    // is not will be read from the log, as an erasure.
    Batch batch;
    batch.job = [&] {
        for (const auto& id : decisions) {
            if (status) status = look(id);
        }
    };
    wait_for_turn(batch);
    RAMPART_RETURN_IF_ERROR(status);
    if (left.empty()) return base::ok();
    kLog.info("msg=\"erasing what was decided while the person's key was destroyed\" decisions={}",
              left.size());
    return erase(left, now);
}

Status DecisionService::compact_erased() {
    for (const auto& partition : partitions_) {
        if (!partition || partition->given_up()) continue;
        RAMPART_RETURN_IF_ERROR(partition->index().compact_erased());
    }
    return base::ok();
}

}  // namespace rampart::decision_service
