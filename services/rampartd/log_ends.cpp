#include "services/rampartd/log_ends.hpp"

#include <algorithm>
#include <map>

namespace rampart::rampartd {

using base::Result;
using certification::LogEnd;
using streaming::ChainedPosition;
using streaming::Offset;
using streaming::PartitionId;

namespace {

ChainedPosition position_of(const LogEnd& end) {
    const auto offset = [](uint64_t n) { return Offset(static_cast<int64_t>(n)); };
    return {offset(end.next), end.chain, offset(end.begin)};
}

}  // namespace

Result<std::vector<LogEnd>> log_ends(const streaming::Reader& log, std::string_view topic,
                                     const std::vector<LogEnd>& known) {
    std::vector<LogEnd> ends;
    RAMPART_TRY(const auto partitions, log.partitions(topic));
    for (int32_t p = 0; p < partitions; ++p) {
        const auto found = std::find_if(known.begin(), known.end(), [&](const LogEnd& end) {
            return end.partition == static_cast<uint32_t>(p);
        });
        const auto from = found == known.end() ? ChainedPosition{} : position_of(*found);
        RAMPART_TRY(const auto end, streaming::resume_chain(log, topic, PartitionId(p), from));
        ends.push_back({static_cast<uint32_t>(p), static_cast<uint64_t>(end.next.value()),
                        end.chain, static_cast<uint64_t>(end.begin.value())});
    }
    return ends;
}

Result<std::vector<CheckedPartition>> check_log(const streaming::Reader& log,
                                                std::string_view topic,
                                                const std::vector<LogEnd>& ends) {
    std::map<uint32_t, std::vector<ChainedPosition>> by_partition;
    for (const LogEnd& end : ends) by_partition[end.partition].push_back(position_of(end));
    std::vector<CheckedPartition> checked;
    for (auto& [p, kept] : by_partition) {
        const PartitionId partition(static_cast<int32_t>(p));
        RAMPART_TRY(const auto records,
                    streaming::check_chain(log, topic, partition, std::move(kept)));
        checked.push_back({p, records});
    }
    return checked;
}

Result<std::vector<LogEnd>> committed_ends(const certification::DeltaLedger& ledger) {
    std::vector<LogEnd> ends;
    for (const auto& bytes : ledger.entries()) {
        RAMPART_TRY(const auto entry, certification::decode_ledger_entry(bytes));
        const auto* run = std::get_if<certification::Registration>(&entry.body);
        if (run != nullptr) ends.insert(ends.end(), run->log.begin(), run->log.end());
    }
    return ends;
}

}  // namespace rampart::rampartd
