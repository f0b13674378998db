#include "rampart/base/log.hpp"
#include "services/decision_service/batch.hpp"
#include "services/decision_service/reasons.hpp"

/// The part of DecisionService that makes indices anew from the log while others are asked.
namespace rampart::decision_service {

using base::Result;
using base::Status;
using streaming::PartitionId;

namespace {

// Records of a turn: some milliseconds for which the other partitions' commits wait.
constexpr size_t kTurn = 250;

runtime::Gauge& gauge_of(runtime::Metrics& metrics, std::string_view name, std::string_view help) {
    return metrics.gauge(name, help, {{"database", "decisions"}});
}

}  // namespace

bool DecisionService::mend() {
    bool more = false;
    uint64_t set_aside = 0;
    double rebuilding = 0, refused = 0;
    for (const auto& partition : partitions_) {
        if (!partition) continue;
        if (partition->is_rebuilding()) {
            Batch batch;
            batch.job = [&] { more |= partition->mend(kTurn, [&] { return take(*partition); }); };
            wait_for_turn(batch);
        }
        set_aside += partition->index().set_aside();
        if (!partition->is_rebuilding()) continue;
        const Status status = partition->status();
        ++(status || status.error().is(Reason::kPartitionRebuilding) ? rebuilding : refused);
    }
    deps_.metrics
        .counter("rampart_databases_set_aside_total",
                 "Damaged databases set aside, to be made anew from the log.",
                 {{"database", "decisions"}})
        .add(set_aside - set_aside_);
    set_aside_ = set_aside;
    gauge_of(deps_.metrics, "rampart_partitions_rebuilding",
             "Partitions whose database is being made anew from the log.")
        .set(rebuilding);
    gauge_of(deps_.metrics, "rampart_partitions_refused",
             "Partitions whose damaged database cannot be made anew from the log.")
        .set(refused);
    return more;
}

Status DecisionService::all_whole() const {
    for (const auto& partition : partitions_) {
        if (!partition || !partition->is_rebuilding()) continue;
        if (const Status status = partition->status(); !status) {
            return refusal(*partition, status.error());
        }
    }
    return base::ok();
}

/// Damage that a call has met is the partition's matter, not the client's.
base::Error DecisionService::unless_rebuilding(PartitionId id, const base::Error& why) const {
    const OwnedPartition* partition = owned(id);
    if (why.code != base::ErrorCode::kDataLoss || partition == nullptr) return why;
    const Status status = partition->status();
    return partition->is_rebuilding() && !status ? refusal(*partition, status.error()) : why;
}

/// What the index has, if it is whole.
Result<std::optional<domain::Decision>> DecisionService::look_up(
    const OwnedPartition& partition, const domain::DecisionId& id) const {
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

}  // namespace rampart::decision_service
