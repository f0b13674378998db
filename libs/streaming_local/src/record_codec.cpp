#include "record_codec.hpp"

#include "rampart/base/bytes.hpp"
#include "rampart/streaming_local/reasons.hpp"

namespace rampart::streaming_local {
namespace {

constexpr uint8_t kFormat = 1;

base::Status check_format(base::ByteReader& in) {
    RAMPART_TRY(const uint8_t format, in.u8());
    if (format != kFormat) {
        return base::make_error(Reason::kBadRecord, "a stored record has format {}, not {}", format,
                                kFormat);
    }
    return base::ok();
}

}  // namespace

std::string encode(const streaming::Record& record) {
    std::string out;
    base::append_u8(out, kFormat);
    base::append_i64(out, record.timestamp.micros());
    base::append_field(out, record.key);
    base::append_field(out, record.value);
    base::append_u32(out, static_cast<uint32_t>(record.headers.size()));
    for (const auto& [name, value] : record.headers) {
        base::append_field(out, name);
        base::append_field(out, value);
    }
    return out;
}

base::Result<streaming::Record> decode_record(std::string_view bytes) {
    base::ByteReader in(bytes);
    RAMPART_RETURN_IF_ERROR(check_format(in));
    streaming::Record record;
    RAMPART_TRY(const int64_t micros, in.i64());
    record.timestamp = base::TimePoint::from_micros(micros);
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
    return record;
}

base::Result<base::TimePoint> timestamp_of(std::string_view bytes) {
    base::ByteReader in(bytes);
    RAMPART_RETURN_IF_ERROR(check_format(in));
    RAMPART_TRY(const int64_t micros, in.i64());
    return base::TimePoint::from_micros(micros);
}

}  // namespace rampart::streaming_local
