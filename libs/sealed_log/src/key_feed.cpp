#include "rampart/sealed_log/key_feed.hpp"

#include <algorithm>

#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/log.hpp"
#include "rampart/privacy/reasons.hpp"
#include "rampart/streaming/bookmark.hpp"
#include "rampart/streaming/reasons.hpp"

namespace rampart::sealed_log {
namespace {

using base::Result;
using base::Status;
using privacy::KeyRecord;
using streaming::Offset;
using streaming::PartitionId;

constexpr base::Logger kLog("sealed_log");
constexpr char kLive = 1, kDestroyed = 2;
constexpr size_t kReadBatch = 1000;
const PartitionId kOnly(0);

Result<KeyRecord> decode(const streaming::StoredRecord& stored) {
    auto id = base::from_hex(stored.record.key);
    const std::string& value = stored.record.value;
    const bool live = value.size() > 1 && value.front() == kLive;
    const bool destroyed = value.size() == 1 && value.front() == kDestroyed;
    if (!id || !(live || destroyed)) {
        return base::make_error(privacy::Reason::kBadPersonKey, "the record at {} is no person key",
                                stored.offset);
    }
    return KeyRecord{*std::move(id), value.substr(1)};
}

std::vector<KeyRecord> keys_among(std::span<const streaming::StoredRecord> stored) {
    std::vector<KeyRecord> records;
    for (const auto& one : stored) {
        if (auto record = decode(one)) records.push_back(*std::move(record));
    }
    return records;
}

/// Returns the error that a cursor keeps as "reason message".
std::optional<base::Error> error_of(const std::string& why) {
    const size_t space = why.find(' ');
    if (space == std::string::npos) return std::nullopt;
    const base::AnyReason ahead(streaming::Reason::kOffsetAhead);
    const bool is_ahead = why.starts_with(ahead->word);
    return base::make_error(is_ahead ? ahead : streaming::Reason::kTopicRecreated, "{}",
                            why.substr(space + 1));
}

}  // namespace

Status KeyFeed::publish(std::span<const KeyRecord> keys) {
    std::vector<streaming::Record> records;
    const auto now = std::max(clock_.now(), base::TimePoint());
    for (const auto& key : keys) {
        const char kind = key.wrapped.empty() ? kDestroyed : kLive;
        records.push_back({base::to_hex(key.id), kind + key.wrapped, now, {}});
    }
    return writer_.append_to(topic_, kOnly, records).map([](const auto&) {});
}

/// How far the topic was read. A store of an earlier release has the offset alone.
struct KeyFeed::Cursor {
    Offset next;
    std::string identity;  // the identity of the topic
    std::string digest;    // that of the record before `next`; empty: none
    std::string why;       // what was wrong with the topic, until it is accepted

    std::string encode() const {
        std::string bytes;
        base::append_i64(bytes, next.value());
        base::append_field(bytes, identity);
        base::append_field(bytes, digest);
        base::append_field(bytes, why);
        return bytes;
    }
    static Result<Cursor> decode(std::string_view bytes) {
        base::ByteReader in(bytes);
        Cursor cursor;
        RAMPART_TRY(const int64_t next, in.i64());
        cursor.next = Offset(next);
        if (in.empty()) return cursor;
        for (auto* field : {&cursor.identity, &cursor.digest, &cursor.why}) {
            RAMPART_TRY(const auto text, in.field());
            *field = text;
        }
        return cursor;
    }
};

/// Returns what shows that the topic is not the one that the cursor stands in.
Result<std::optional<base::Error>> KeyFeed::compare(const Cursor& cursor,
                                                    const std::string& identity) const {
    if (!cursor.identity.empty() && cursor.identity != identity) {
        return std::optional(base::make_error(streaming::Reason::kTopicRecreated,
                                              "topic '{}' is '{}', and '{}' was read before",
                                              topic_, identity, cursor.identity));
    }
    RAMPART_TRY(const Offset end, reader_.end_offset(topic_, kOnly));
    if (cursor.next > end) {
        return std::optional(base::make_error(streaming::Reason::kOffsetAhead,
                                              "topic '{}' ends at {}, and was read to {}", topic_,
                                              end, cursor.next));
    }
    if (compared_ || cursor.digest.empty()) return std::optional<base::Error>();
    RAMPART_TRY(const Offset begin, reader_.begin_offset(topic_, kOnly));
    const Offset last(cursor.next.value() - 1);
    if (last < begin) return std::optional<base::Error>();
    RAMPART_TRY(const auto records, reader_.read(topic_, kOnly, last, 1));
    // one that was replaced may be gone
    if (records.empty() || records.front().offset != last ||
        streaming::record_digest(records.front()) == cursor.digest) {
        return std::optional<base::Error>();
    }
    return std::optional(base::make_error(streaming::Reason::kTopicRecreated,
                                          "topic '{}': the record at {} is not the one that was "
                                          "read there",
                                          topic_, last));
}

/// Returns where to read on: from the beginning of a topic that is another one.
Result<KeyFeed::Cursor> KeyFeed::position(privacy::PersonKeys& keys) {
    RAMPART_TRY(const auto stored, keys.cursor());
    RAMPART_TRY(std::string identity, reader_.identity(topic_));
    Cursor cursor;
    std::optional<base::Error> why;
    if (!stored.empty()) {
        RAMPART_TRY(cursor, Cursor::decode(stored));
        RAMPART_TRY(why, compare(cursor, identity));
    }
    compared_ = true;
    if (why) {
        kLog.error(
            "msg=\"the topic of person keys is another, and is read from its beginning\" "
            "reason={} what=\"{}\" runbook=ops/runbooks/person-keys.md",
            why->reason, why->message);
        cursor = Cursor();
        cursor.why = why->reason + " " + why->message;
    }
    cursor.identity = std::move(identity);
    RAMPART_TRY(const Offset begin, reader_.begin_offset(topic_, kOnly));
    cursor.next = std::max(begin, cursor.next);
    if (why) RAMPART_RETURN_IF_ERROR(keys.learn({}, cursor.encode()));
    const std::lock_guard lock(mutex_);
    other_topic_ = error_of(cursor.why);
    return cursor;
}

Status KeyFeed::fetch(privacy::PersonKeys& keys) {
    const std::lock_guard lock(reading_);
    return read_on(keys);
}

/// Reads to the end, with reading_ held.
Status KeyFeed::read_on(privacy::PersonKeys& keys) {
    RAMPART_TRY(Cursor cursor, position(keys));
    // not further than to here, or it would not return while others write
    RAMPART_TRY(const Offset end, reader_.end_offset(topic_, kOnly));
    do {
        RAMPART_TRY(const auto stored, reader_.read(topic_, kOnly, cursor.next, kReadBatch));
        if (stored.empty()) return base::ok();
        cursor.next = Offset(stored.back().offset.value() + 1);
        cursor.digest = streaming::record_digest(stored.back());
        RAMPART_RETURN_IF_ERROR(learn(keys, stored, cursor));
    } while (cursor.next < end);
    return base::ok();
}

/// Hands on what are keys: all at once, or, where one of them is not of this deployment, each by
/// itself.
Status KeyFeed::learn(privacy::PersonKeys& keys, std::span<const streaming::StoredRecord> stored,
                      const Cursor& after) {
    for (const auto& one : stored) {
        if (const auto record = decode(one); !record) pass_over(one, record.error());
    }
    const auto records = keys_among(stored);
    const Status learnt = keys.learn(records, after.encode());
    if (learnt || !learnt.error().is(privacy::Reason::kBadPersonKey)) return learnt;
    RAMPART_TRY(const std::string before, keys.cursor());
    for (size_t i = 0; i < stored.size(); ++i) {
        const auto one = keys_among(stored.subspan(i, 1));
        const Status status = one.empty() ? base::ok() : keys.learn(one, before);
        if (status) continue;
        if (!status.error().is(privacy::Reason::kBadPersonKey)) return status;
        pass_over(stored[i], status.error());
    }
    return keys.learn({}, after.encode());
}

void KeyFeed::pass_over(const streaming::StoredRecord& stored, const base::Error& why) {
    const std::lock_guard lock(mutex_);
    if (!first_passed_over_ || stored.offset < first_passed_over_->first)
        first_passed_over_.emplace(stored.offset, why.message);
    if (passed_over_++ > 0) return;
    kLog.error(
        "msg=\"a record is no person key, and is passed over\" topic={} offset={} "
        "what=\"{}\" runbook=ops/runbooks/person-keys.md",
        topic_, stored.offset, why.message);
}

Status KeyFeed::state() const {
    const std::lock_guard lock(mutex_);
    if (other_topic_) {
        return other_topic_->with_context(
            "the topic of person keys was read again from its beginning, and may lack keys; see "
            "ops/runbooks/person-keys.md");
    }
    if (passed_over_ == 0) return base::ok();
    return base::make_error(privacy::Reason::kBadPersonKey,
                            "{} records of topic '{}' are no keys of this deployment and were "
                            "passed over, the first at offset {}: {}; see "
                            "ops/runbooks/person-keys.md",
                            passed_over_, topic_, first_passed_over_->first,
                            first_passed_over_->second);
}

Status KeyFeed::accept(privacy::PersonKeys& keys) {
    const std::lock_guard one(reading_);
    RAMPART_RETURN_IF_ERROR(read_on(keys));
    RAMPART_TRY(Cursor cursor, position(keys));
    RAMPART_RETURN_IF_ERROR(keys.publish_all());
    cursor.why.clear();
    RAMPART_RETURN_IF_ERROR(keys.learn({}, cursor.encode()));
    const std::lock_guard lock(mutex_);
    other_topic_.reset();
    passed_over_ = 0;
    first_passed_over_.reset();
    return base::ok();
}

}  // namespace rampart::sealed_log
