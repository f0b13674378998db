#include "rampart/streaming/log_chain.hpp"

#include <algorithm>
#include <tuple>

#include "rampart/streaming/bookmark.hpp"
#include "rampart/streaming/reasons.hpp"

namespace rampart::streaming {

base::Result<ChainedPosition> extend_chain(const Reader& log, std::string_view topic,
                                           PartitionId partition, ChainedPosition from,
                                           std::optional<Offset> to) {
    constexpr size_t kBlock = 4096;
    RAMPART_TRY(const Offset end, log.end_offset(topic, partition));
    const Offset last = to.value_or(end);
    if (end < std::max(from.next, last)) {
        return base::make_error(Reason::kOffsetAhead,
                                "topic '{}', partition {}: the log ends at {}, before {}: records "
                                "are missing at its end, or it is another log",
                                topic, partition, end, std::max(from.next, last));
    }
    ChainedPosition at = from;
    while (at.next < last) {
        RAMPART_TRY(const auto records, log.read(topic, partition, at.next, kBlock));
        for (const StoredRecord& stored : records) {
            if (!(stored.offset < last)) break;
            base::Sha256 hash;
            hash.update(
                {reinterpret_cast<const char*>(at.chain.bytes.data()), at.chain.bytes.size()});
            hash.update(record_digest(stored));
            at.chain = hash.finish();
            at.next = Offset(stored.offset.value() + 1);
        }
        if (records.empty() || !(records.back().offset < last)) break;
    }
    at.next = std::max(at.next, last);  // the last offsets may never have had a record
    return at;
}

base::Result<ChainedPosition> resume_chain(const Reader& log, std::string_view topic,
                                           PartitionId partition, ChainedPosition from) {
    RAMPART_TRY(const Offset begin, log.begin_offset(topic, partition));
    RAMPART_TRY(const Offset end, log.end_offset(topic, partition));
    if (from.next < begin || end < from.next) from = {begin, {}, begin};
    return extend_chain(log, topic, partition, from);
}

base::Result<CheckedRecords> check_chain(const Reader& log, std::string_view topic,
                                         PartitionId partition, std::vector<ChainedPosition> kept) {
    CheckedRecords checked;
    if (kept.empty()) return checked;
    std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
        return std::tie(a.begin, a.next) < std::tie(b.begin, b.next);
    });
    checked.begin = kept.front().begin;
    RAMPART_TRY(const Offset first, log.begin_offset(topic, partition));
    std::optional<ChainedPosition> at;  // as far as the chain of the last position was read
    for (const ChainedPosition& position : kept) {
        checked.end = std::max(checked.end, position.next);
        if (at && at->begin != position.begin) at.reset();
        if (!at && !(position.begin < first)) at = {position.begin, {}, position.begin};
        if (!at && position.next < first) continue;
        if (!at) at = position;
        if (checked.from == checked.to) checked.from = checked.to = at->next;
        if (checked.to < at->next) {
            checked.in_holes += at->next.value() - checked.to.value();
            checked.to = at->next;
        }
        RAMPART_TRY(at, extend_chain(log, topic, partition, *at, position.next));
        if (at->chain != position.chain) {
            return base::make_error(Reason::kOtherLog,
                                    "topic '{}', partition {}: the records before offset {} are "
                                    "not those of then: records were left out, put in or changed",
                                    topic, partition, position.next);
        }
        checked.to = std::max(checked.to, position.next);
    }
    return checked;
}

}  // namespace rampart::streaming
