#include "record_codec.hpp"

#include "rampart/base/bytes.hpp"
#include "rampart/streaming_local/reasons.hpp"

namespace rampart::streaming_local {
namespace {

constexpr uint8_t kUntimed = 1;  // without the time of the append
constexpr uint8_t kTimed = 2;
constexpr size_t kStampAt = sizeof(uint8_t) + sizeof(int64_t);  // behind format and time

base::Result<uint8_t> read_format(base::ByteReader& in) {
    RAMPART_TRY(const uint8_t format, in.u8());
    if (format != kUntimed && format != kTimed) {
        return base::make_error(Reason::kBadRecord, "a stored record has format {}, not {} or {}",
                                format, kUntimed, kTimed);
    }
    return format;
}

}  // namespace

std::string encode(const streaming::Record& record, bool timed) {
    std::string out;
    base::append_u8(out, timed ? kTimed : kUntimed);
    base::append_i64(out, record.timestamp.micros());
    if (timed) base::append_i64(out, 0);
    base::append_field(out, record.key);
    base::append_field(out, record.value);
    base::append_u32(out, static_cast<uint32_t>(record.headers.size()));
    for (const auto& [name, value] : record.headers) {
        base::append_field(out, name);
        base::append_field(out, value);
    }
    return out;
}

void stamp(std::string& encoded, base::TimePoint appended_at) {
    std::string bytes;
    base::append_i64(bytes, appended_at.micros());
    encoded.replace(kStampAt, bytes.size(), bytes);
}

base::Result<StoredContent> decode_record(std::string_view bytes) {
    base::ByteReader in(bytes);
    RAMPART_TRY(const uint8_t format, read_format(in));
    StoredContent content;
    streaming::Record& record = content.record;
    RAMPART_TRY(const int64_t micros, in.i64());
    record.timestamp = base::TimePoint::from_micros(micros);
    if (format == kTimed) {
        RAMPART_TRY(const int64_t appended, in.i64());
        content.appended_at = base::TimePoint::from_micros(appended);
    }
    RAMPART_TRY(record.key, in.field());
    RAMPART_TRY(record.value, in.field());
    RAMPART_TRY(const uint32_t headers, in.u32());
    for (uint32_t i = 0; i < headers; ++i) {
        RAMPART_TRY(const auto name, in.field());
        RAMPART_TRY(const auto value, in.field());
        record.headers.push_back({std::string(name), std::string(value)});
    }
    if (!in.empty())
        return base::make_error(Reason::kBadRecord, "a stored record is followed by other bytes");
    return content;
}

base::Result<base::TimePoint> timestamp_of(std::string_view bytes) {
    base::ByteReader in(bytes);
    RAMPART_RETURN_IF_ERROR(read_format(in).map([](uint8_t) {}));
    RAMPART_TRY(const int64_t micros, in.i64());
    return base::TimePoint::from_micros(micros);
}

}  // namespace rampart::streaming_local
