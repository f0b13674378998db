#pragma once

#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/streaming/reader.hpp"

namespace rampart::streaming {

/// A reader's position in a partition, with the digest of the last record that it read, so that
/// another log of the same name is detected even if it has grown past the offset.
struct Bookmark {
    Offset next{0};
    std::string digest;  // digest of the record before `next`; empty: none was read
    bool operator==(const Bookmark&) const = default;
};

/// Computes SHA-256 (32 bytes) over offset, key, value and headers. Not over the time, which a log
/// may store with less precision.
std::string record_digest(const StoredRecord& record);

/// Returns the bookmark after this record.
Bookmark bookmark_after(const StoredRecord& record);

/// Checks that the partition is the one of the bookmark and has all records from `next` on.
/// Fails with data_loss "retention_gap": records from `next` on are gone; out_of_range
/// "offset_ahead": the log ends before `next`; failed_precondition "topic_recreated": the record
/// before `next` is another one. If retention has removed exactly that record, or it is erased,
/// only the ends can be compared.
base::Status check_bookmark(const Reader& reader, std::string_view topic, PartitionId partition,
                            const Bookmark& bookmark);

/// Returns whether the error is a fault of the log, not of a network or a disk: "retention_gap",
/// "offset_ahead", "topic_recreated", "partitions_changed". A retry does not help; an operator
/// must accept the gap.
bool is_gap(const base::Error& error);

/// Stored form: u8 format = 1, i64 next, field digest. decode fails with data_loss otherwise.
std::string encode(const Bookmark& bookmark);
base::Result<Bookmark> decode_bookmark(std::string_view bytes);

}  // namespace rampart::streaming
