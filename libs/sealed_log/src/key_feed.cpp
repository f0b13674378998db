#include "rampart/sealed_log/key_feed.hpp"

#include <algorithm>

#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/privacy/reasons.hpp"

namespace rampart::sealed_log {
namespace {

using base::Result;
using base::Status;
using privacy::KeyRecord;
using streaming::Offset;
using streaming::PartitionId;

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

std::string cursor_at(Offset next) {
    std::string cursor;
    base::append_i64(cursor, next.value());
    return cursor;
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

Status KeyFeed::fetch(privacy::PersonKeys& keys) {
    RAMPART_TRY(const auto cursor, keys.cursor());
    RAMPART_TRY(const Offset begin, reader_.begin_offset(topic_, kOnly));
    Offset from = begin;
    if (!cursor.empty()) {
        RAMPART_TRY(const int64_t next, base::ByteReader(cursor).i64());
        from = std::max(begin, Offset(next));
    }
    // not further than to here, or it would not return while others write
    RAMPART_TRY(const Offset end, reader_.end_offset(topic_, kOnly));
    do {
        RAMPART_TRY(const auto stored, reader_.read(topic_, kOnly, from, kReadBatch));
        if (stored.empty()) return base::ok();
        std::vector<KeyRecord> records;
        for (const auto& one : stored) {
            RAMPART_TRY(auto record, decode(one));
            records.push_back(std::move(record));
        }
        from = Offset(stored.back().offset.value() + 1);
        RAMPART_RETURN_IF_ERROR(keys.learn(records, cursor_at(from)));
    } while (from < end);
    return base::ok();
}

}  // namespace rampart::sealed_log
