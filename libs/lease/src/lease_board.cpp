#include "rampart/lease/lease_board.hpp"

#include "rampart/base/log.hpp"
#include "rampart/lease/reasons.hpp"
#include "rampart/streaming/reasons.hpp"

namespace rampart::lease {

using base::Status;
using streaming::Offset;
using streaming::PartitionId;

namespace {

constexpr base::Logger kLog("lease");
constexpr size_t kReadBatch = 1000;
const PartitionId kOnly(0);                   // the topic has one partition
constexpr std::string_view kStop = "/stop/";  // in keys of registry::StopFeed

bool counts(const LeaseRecord& record, const Lease& lease) {
    const bool holder = record.epoch == lease.epoch && record.session == lease.session;
    switch (record.kind) {
        case LeaseRecord::Kind::kClaim:
            return record.replaces == lease.last_sign && record.epoch > lease.epoch;
        case LeaseRecord::Kind::kBeat:
            return record.epoch > lease.epoch || (holder && !lease.released) ||
                   (record.epoch == lease.epoch && !lease.proven);
        case LeaseRecord::Kind::kRelease:
            return record.epoch > lease.epoch || holder;
    }
    return false;
}

}  // namespace

LeaseBoard::LeaseBoard(const streaming::Reader& reader, std::string topic, std::string group)
    : reader_(reader), topic_(std::move(topic)), group_(std::move(group)) {}

const Lease* LeaseBoard::find(PartitionId partition) const {
    const auto it = leases_.find(partition);
    return it == leases_.end() ? nullptr : &it->second;
}

Status LeaseBoard::start() {
    RAMPART_TRY(const int32_t partitions, reader_.partitions(topic_));
    if (partitions != 1) {
        return base::make_error(
            Reason::kBadTopic,
            "topic '{}' has {} partitions; it must have one, which defines the order of leases",
            topic_, partitions);
    }
    RAMPART_TRY(next_, reader_.begin_offset(topic_, kOnly));
    started_ = true;
    return base::ok();
}

Status LeaseBoard::refresh() {
    if (!started_) RAMPART_RETURN_IF_ERROR(start());
    for (bool anew = false;;) {
        const auto records = reader_.read(topic_, kOnly, next_, kReadBatch);
        const bool ahead = !records && records.error().is(streaming::Reason::kOffsetAhead);
        if (!records && !anew && (ahead || records.error().is(streaming::Reason::kRetentionGap))) {
            if (ahead) {
                kLog.error(
                    "msg=\"the topic of leases is another, and is read from its beginning\" "
                    "what=\"{}\" runbook=ops/runbooks/partitions.md",
                    records.error().message);
            }
            // what is known stays, as epochs only grow; compaction keeps each partition's last
            RAMPART_RETURN_IF_ERROR(start());
            anew = true;
            continue;
        }
        if (!records) return records.error();
        if (records->empty()) return base::ok();
        for (const auto& record : *records) apply(record);
        next_ = Offset(records->back().offset.value() + 1);
    }
}

void LeaseBoard::apply(const streaming::StoredRecord& stored) {
    if (stored.record.key.find(kStop) != std::string::npos) return;
    const auto key = lease_of(stored.record.key);
    if (key && key->first != group_) return;
    const auto record = decode_lease(stored.record.value);
    if (!key || !record) {
        kLog.warning(
            "msg=\"skipped a record that is not a lease\" topic={} offset={} reason=\"{}\"", topic_,
            stored.offset, key ? record.error().message : "its key");
        return;
    }
    Lease& lease = leases_[key->second];
    if (lease.epoch != 0 && !counts(*record, lease)) return;
    lease.node = record->node;
    lease.session = record->session;
    lease.address = record->address;
    lease.epoch = record->epoch;
    lease.ttl = record->ttl;
    lease.released = record->kind == LeaseRecord::Kind::kRelease;
    lease.proven = record->kind != LeaseRecord::Kind::kClaim;
    lease.last_sign = stored.offset;
    lease.signed_at = stored.appended_at;
}

}  // namespace rampart::lease
