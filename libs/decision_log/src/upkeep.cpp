#include "rampart/decision_log/decision_log.hpp"
#include "rampart/decision_log/reasons.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/record_codec.hpp"

/// What is done between the commits: trying again, making indices anew, gaps and erasures.
namespace rampart::decision_log {

using base::Result;
using base::Status;
using streaming::PartitionId;

namespace {

// Most records of a partition read at once; mend() reads the rest.
constexpr size_t kFirstReading = 1000;
// Records of a turn: some milliseconds for which the other partitions' commits wait.
constexpr size_t kTurn = 250;

}  // namespace

/// Asks for the end of a partition's log first: where that takes long, no commit waits for it.
void DecisionLog::maintain() {
    for (const auto& partition : partitions_) {
        if (!partition || !partition->is_behind()) continue;
        const auto end = deps_.reader.end_offset(options_.topic, partition->id());
        if (!end) {
            partition->fell_behind(end.error());
            continue;
        }
        between_commits([&] {
            if (partition->is_behind()) recover(*partition);
        });
    }
}

/// Reads to the log's end what a partition lacks, and claims it if the start could not. How it went
/// is in the partition's status.
void DecisionLog::recover(OwnedPartition& partition) {
    const Status caught_up =
        partition.has_begun() ? partition.catch_up() : partition.begin(kFirstReading);
    if (!caught_up || !options_.claim || partition.epoch() > 0) return;
    if (const Status taken = take(partition); !taken) partition.fell_behind(taken.error());
}

bool DecisionLog::mend() {
    bool more = false;
    for (const auto& partition : partitions_) {
        if (!partition || !partition->is_rebuilding()) continue;
        between_commits([&] { more |= partition->mend(kTurn, [&] { return take(*partition); }); });
    }
    return more;
}

Upkeep DecisionLog::upkeep() const {
    Upkeep upkeep;
    for (const auto& partition : partitions_) {
        if (!partition) continue;
        upkeep.set_aside += partition->index().set_aside();
        if (!partition->is_rebuilding()) continue;
        const Status status = partition->status();
        const bool goes_on = status || status.error().is(Reason::kPartitionRebuilding);
        ++(goes_on ? upkeep.rebuilding : upkeep.refused);
    }
    return upkeep;
}

bool DecisionLog::give_up(PartitionId partition, const std::string& to) {
    OwnedPartition* found = owned(partition);
    return found != nullptr && found->give_up(to);
}

Result<std::vector<AcceptedGap>> DecisionLog::accept_gap(PartitionId which) {
    const bool all = which == PartitionId(-1);
    if (!all && owned(which) == nullptr) return not_owner(which);
    Result<std::vector<AcceptedGap>> accepted = std::vector<AcceptedGap>();
    between_commits([&] {
        for (const auto& partition : partitions_) {
            if (!partition || (!all && partition->id() != which)) continue;
            auto gap = accept_gap_of(*partition, which);
            if (!gap) {
                accepted = gap.error();
                return;
            }
            if (*gap) accepted->push_back(**std::move(gap));
        }
    });
    return accepted;
}

Result<std::optional<AcceptedGap>> DecisionLog::accept_gap_of(OwnedPartition& partition,
                                                              PartitionId which) {
    if (partition.given_up()) return not_owner(partition.id());
    RAMPART_TRY(const int32_t count, deps_.reader.partitions(options_.topic));
    RAMPART_TRY(auto gap, partition.index().accept_gap(options_.topic, which));
    partitions_added_ = count > options_.partitions;
    const Status caught_up = partition.catch_up();
    if (caught_up && partition.epoch() == 0) RAMPART_RETURN_IF_ERROR(take(partition));
    // what is a gap in this partition yet is in its status, to be accepted next
    if (!caught_up && !is_gap(caught_up.error()) && !partition.is_rebuilding()) {
        return caught_up.error();
    }
    return gap;
}

/// Asks where all partitions end that this node decides for and that do not stand still, at once.
std::map<PartitionId, Result<streaming::Offset>> DecisionLog::ends_of_owned() const {
    std::vector<PartitionId> places;
    for (const auto& partition : partitions_)
        if (partition && partition->status()) places.push_back(partition->id());
    if (places.empty()) return {};
    const auto found = deps_.reader.end_offsets(options_.topic, places);
    std::map<PartitionId, Result<streaming::Offset>> ends;
    for (size_t i = 0; i < places.size(); ++i) ends.emplace(places[i], found[i]);
    return ends;
}

Status DecisionLog::erase(std::span<const domain::DecisionId> decisions, base::TimePoint now) {
    std::map<PartitionId, std::vector<domain::DecisionId>> homes;
    for (const auto& id : decisions) homes[home_of(id)].push_back(id);
    for (const auto& [home, ids] : homes) {
        std::vector<streaming::Record> records;
        for (const auto& id : ids) records.push_back(wire::to_record(domain::Erasure{id, now}));
        RAMPART_RETURN_IF_ERROR(deps_.writer.append_to(options_.topic, home, records));
    }
    Status status;
    between_commits([&] {
        // nothing is appended meanwhile: a question to a broker for each partition would be felt
        const auto ends = homes.empty() ? ends_of_owned() : decltype(ends_of_owned())();
        const auto behind = [&](const OwnedPartition& partition) {
            const auto end = ends.find(partition.id());
            if (end == ends.end()) return homes.contains(partition.id());
            return !end->second || partition.index().next() < *end->second;
        };
        for (const auto& partition : partitions_) {
            if (!partition || partition->given_up() || partition->is_rebuilding()) continue;
            if (!behind(*partition)) continue;
            const Status read = partition->catch_up();
            if (status) status = read;  // the first failure; the others read on
        }
    });
    RAMPART_RETURN_IF_ERROR(status);
    // decisions go on meanwhile
    for (const auto& [home, ids] : homes) {
        OwnedPartition* partition = owned(home);
        if (partition == nullptr || partition->is_rebuilding() || partition->given_up()) continue;
        RAMPART_RETURN_IF_ERROR(partition->index().compact_erased(ids));
    }
    return base::ok();
}

Result<std::vector<domain::DecisionId>> DecisionLog::not_erased(
    std::span<const domain::DecisionId> decisions) {
    std::vector<domain::DecisionId> left;
    Status status;
    const auto look = [&](const domain::DecisionId& id) -> Status {
        const OwnedPartition* partition = owned(home_of(id));
        if (partition == nullptr || partition->given_up() || partition->is_rebuilding()) {
            // the index of its owner, or the one that is made anew, may have it
            left.push_back(id);
            return base::ok();
        }
        const auto found = partition->index().find(id);
        if (!found) return found.error().is(Reason::kErased) ? base::ok() : Status(found.error());
        if (*found) left.push_back(id);
        return base::ok();
    };
    // While nothing is decided: what was sealed before the key went is in the index by then. What
    // is not will be read from the log, as an erasure.
    between_commits([&] {
        for (const auto& id : decisions) {
            if (status) status = look(id);
        }
    });
    RAMPART_RETURN_IF_ERROR(status);
    return left;
}

Status DecisionLog::compact_erased() {
    for (const auto& partition : partitions_) {
        if (!partition || partition->given_up()) continue;
        RAMPART_RETURN_IF_ERROR(partition->index().compact_erased());
    }
    return base::ok();
}

}  // namespace rampart::decision_log
