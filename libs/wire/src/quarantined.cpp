#include "rampart/wire/quarantined.hpp"

#include <algorithm>
#include <cstdint>

#include "rampart/base/bytes.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/wire/quarantine_time.hpp"
#include "rampart/wire/reasons.hpp"
#include "rampart/wire/topics.hpp"

namespace rampart::wire {

using base::Result;

namespace {

constexpr size_t kHeaderRoom =
    4096;  // bytes of the record in the topic that are reserved for the headers
constexpr size_t kMaxMessageBytes = 1024;
constexpr size_t kMaxSchemaBytes = 256;

}  // namespace

Quarantined quarantine(std::string_view topic, const streaming::StoredRecord& stored,
                       const base::Error& why) {
    constexpr size_t room = base::limits::kMaxRecordBytes - kHeaderRoom;
    const streaming::Record& from = stored.record;
    Quarantined out{std::string(topic),
                    stored.partition,
                    stored.offset,
                    why.reason,
                    why.message.substr(0, kMaxMessageBytes),
                    {}};
    out.record.timestamp = std::max(from.timestamp, base::TimePoint());
    if (from.key.size() <= room) out.record.key = from.key;
    if (out.record.key.size() + from.value.size() <= room) out.record.value = from.value;
    for (const auto& header : from.headers) {
        if (header.name != kSchemaHeader || header.value.size() > kMaxSchemaBytes) continue;
        out.record.headers.push_back(header);
        break;
    }
    if (stored.appended_at) out.record.headers.push_back(appended_header(*stored.appended_at));
    return out;
}

streaming::Record to_record(const Quarantined& quarantined) {
    streaming::Record record = quarantined.record;
    std::erase_if(record.headers, is_appended_header);
    record.headers.push_back({"topic", quarantined.topic});
    record.headers.push_back({"partition", std::to_string(quarantined.partition.value())});
    record.headers.push_back({"offset", std::to_string(quarantined.offset.value())});
    record.headers.push_back({"reason", quarantined.reason});
    record.headers.push_back({"message", quarantined.message});
    return record;
}

std::string quarantine_key(std::string_view topic, streaming::PartitionId partition,
                           streaming::Offset offset) {
    std::string key;
    base::append_field(key, topic);
    base::append_u32(key, static_cast<uint32_t>(partition.value()));
    base::append_i64(key, offset.value());
    return key;
}

std::string encode_quarantined(const Quarantined& quarantined) {
    const auto& record = quarantined.record;
    std::string out;
    base::append_field(out, quarantined.reason);
    base::append_field(out, quarantined.message);
    base::append_field(out, record.key);
    base::append_field(out, record.value);
    base::append_i64(out, record.timestamp.micros());
    base::append_u32(out, static_cast<uint32_t>(record.headers.size()));
    for (const auto& header : record.headers) {
        base::append_field(out, header.name);
        base::append_field(out, header.value);
    }
    return out;
}

Result<Quarantined> decode_quarantined(std::string_view key, std::string_view value) {
    Quarantined out;
    base::ByteReader where(key), what(value);
    RAMPART_TRY(out.topic, where.field());
    RAMPART_TRY(const uint32_t partition, where.u32());
    RAMPART_TRY(const int64_t offset, where.i64());
    out.partition = streaming::PartitionId(static_cast<int32_t>(partition));
    out.offset = streaming::Offset(offset);
    RAMPART_TRY(out.reason, what.field());
    RAMPART_TRY(out.message, what.field());
    RAMPART_TRY(out.record.key, what.field());
    RAMPART_TRY(out.record.value, what.field());
    RAMPART_TRY(const int64_t micros, what.i64());
    out.record.timestamp = base::TimePoint::from_micros(micros);
    RAMPART_TRY(const uint32_t headers, what.u32());
    for (uint32_t i = 0; i < headers; ++i) {
        RAMPART_TRY(const auto name, what.field());
        RAMPART_TRY(const auto text, what.field());
        out.record.headers.push_back({std::string(name), std::string(text)});
    }
    if (!where.empty() || !what.empty() || partition > INT32_MAX || offset < 0) {
        return base::make_error(Reason::kBadQuarantineEntry,
                                "an entry of the quarantine is damaged");
    }
    return out;
}

}  // namespace rampart::wire
