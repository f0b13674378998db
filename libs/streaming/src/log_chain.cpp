#include "rampart/streaming/log_chain.hpp"

#include <algorithm>

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

}  // namespace rampart::streaming
