#pragma once

#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/streaming/reader.hpp"

namespace rampart::streaming {

/// Where a reader stands in a partition, with the digest of the last record that it read, so that
/// another log under the same name is noticed even if it has grown past the offset.
struct Bookmark {
    Offset next{0};
    std::string digest;  // of the record before `next`; empty: none was read
    bool operator==(const Bookmark&) const = default;
};

/// SHA-256 (32 bytes) over offset, key, value and headers. Not over the time, which a log may keep
/// less exactly than it was given.
std::string record_digest(const StoredRecord& record);

/// Behind this record.
Bookmark bookmark_after(const StoredRecord& record);

/// Whether the partition is still the one that the bookmark was made in, and holds all that comes
/// next. data_loss "retention_gap": records from `next` on are gone; out_of_range "offset_ahead":
/// the log ends before `next`; failed_precondition "topic_recreated": the record before `next` is
/// another one. Where retention has taken that record (and no more), or it is erased, only the ends
/// can be compared.
base::Status check_bookmark(const Reader& reader, std::string_view topic, PartitionId partition,
                            const Bookmark& bookmark);

/// Whether something is wrong with the log, not with a network or a disk: "retention_gap",
/// "offset_ahead", "topic_recreated", "partitions_changed". Trying again does not help; somebody
/// has to accept the gap.
bool is_gap(const base::Error& error);

/// The stored form: u8 format = 1, i64 next, field digest. decode: data_loss for anything else.
std::string encode(const Bookmark& bookmark);
base::Result<Bookmark> decode_bookmark(std::string_view bytes);

}  // namespace rampart::streaming
