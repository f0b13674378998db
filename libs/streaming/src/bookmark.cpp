#include "rampart/streaming/bookmark.hpp"

#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/streaming/reasons.hpp"

namespace rampart::streaming {
namespace {

using base::Result;
using base::Status;

constexpr uint8_t kFormat = 1;

base::Error gone(std::string_view topic, PartitionId partition, Offset next, Offset begin) {
    return base::make_error(Reason::kRetentionGap,
                            "topic '{}', partition {}: the next record to read is {}, but the log "
                            "begins at {}; the records between are gone",
                            topic, partition, next, begin);
}

}  // namespace

std::string record_digest(const StoredRecord& stored) {
    std::string head;
    base::append_i64(head, stored.offset.value());
    base::Sha256 hash;
    hash.update(head);
    hash.update_field(stored.record.key);
    hash.update_field(stored.record.value);
    for (const Header& header : stored.record.headers) {
        hash.update_field(header.name);
        hash.update_field(header.value);
    }
    const auto digest = hash.finish();
    return {digest.bytes.begin(), digest.bytes.end()};
}

Bookmark bookmark_after(const StoredRecord& record) {
    return {Offset(record.offset.value() + 1), record_digest(record)};
}

Status check_bookmark(const Reader& reader, std::string_view topic, PartitionId partition,
                      const Bookmark& bookmark) {
    RAMPART_TRY(const Offset begin, reader.begin_offset(topic, partition));
    if (bookmark.next < begin) return gone(topic, partition, bookmark.next, begin);
    RAMPART_TRY(const Offset end, reader.end_offset(topic, partition));
    if (end < bookmark.next) {
        return base::make_error(Reason::kOffsetAhead,
                                "topic '{}', partition {}: the next record to read is {}, but the "
                                "log ends at {}: it was truncated or recreated",
                                topic, partition, bookmark.next, end);
    }
    if (bookmark.digest.empty() || bookmark.next == begin) return base::ok();
    const Offset last(bookmark.next.value() - 1);
    RAMPART_TRY(const auto records, reader.read(topic, partition, last, 1));
    if (!records.empty() && records.front().offset == last &&
        (records.front().seal == Seal::kErased ||  // there is nothing to compare
         record_digest(records.front()) == bookmark.digest)) {
        return base::ok();
    }
    return base::make_error(Reason::kTopicRecreated,
                            "topic '{}', partition {}: the record at {} is not the one that "
                            "was read there: the topic was recreated, or this is another log",
                            topic, partition, last);
}

bool is_gap(const base::Error& error) {
    return error.is(Reason::kRetentionGap) || error.is(Reason::kOffsetAhead) ||
           error.is(Reason::kTopicRecreated) || error.is(Reason::kPartitionsChanged);
}

std::string encode(const Bookmark& bookmark) {
    std::string out;
    base::append_u8(out, kFormat);
    base::append_i64(out, bookmark.next.value());
    base::append_field(out, bookmark.digest);
    return out;
}

Result<Bookmark> decode_bookmark(std::string_view bytes) {
    base::ByteReader in(bytes);
    RAMPART_TRY(const uint8_t format, in.u8());
    if (format != kFormat) {
        return base::make_error(Reason::kBadBookmark, "a bookmark has format {}, not {}", format,
                                kFormat);
    }
    RAMPART_TRY(const int64_t next, in.i64());
    RAMPART_TRY(const auto digest, in.field());
    if (!in.empty() || next < 0 || (!digest.empty() && digest.size() != 32)) {
        return base::make_error(Reason::kBadBookmark, "a bookmark is damaged");
    }
    return Bookmark{Offset(next), std::string(digest)};
}

}  // namespace rampart::streaming
