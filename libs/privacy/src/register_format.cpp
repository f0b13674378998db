#include "register_format.hpp"

#include "rampart/privacy/reasons.hpp"

namespace rampart::privacy {

using base::Result;
using base::TimePoint;

namespace {

// An erasure's second form has records, the third details of decisions as well.
constexpr uint8_t kFormat = kRegisterFormat, kCountedFormat = 2, kDetailedFormat = 3;

void append(std::string& value, const PendingDecision& decision) {
    base::append_field(value, decision.id);
    base::append_u8(value, decision.details ? 1 : 0);
    if (!decision.details) return;
    base::append_field(value, decision.details->application);
    base::append_i64(value, decision.details->event_time.micros());
    base::append_i64(value, decision.details->decided_at.micros());
}

Result<PendingDecision> read_pending(base::ByteReader& in, uint8_t format) {
    PendingDecision decision;
    RAMPART_TRY(decision.id, in.field());
    if (format < kDetailedFormat) return decision;
    RAMPART_TRY(const uint8_t detailed, in.u8());
    if (detailed > 1) return damaged_register();
    if (detailed == 0) return decision;
    auto& details = decision.details.emplace();
    RAMPART_TRY(details.application, in.field());
    RAMPART_TRY(details.event_time, read_time(in));
    RAMPART_TRY(details.decided_at, read_time(in));
    return decision;
}

/// Reads whether an erasure has counted its records.
Result<bool> read_counted(base::ByteReader& in, uint8_t format) {
    if (format < kDetailedFormat) return format == kCountedFormat;
    RAMPART_TRY(const uint8_t counted, in.u8());
    if (counted > 1) return damaged_register();
    return counted == 1;
}

}  // namespace

base::Error damaged_register() {
    return base::make_error(Reason::kBadRegister, "an entry in the register of holds is damaged");
}

Result<TimePoint> read_time(base::ByteReader& in) {
    RAMPART_TRY(const int64_t micros, in.i64());
    return TimePoint::from_micros(micros);
}

std::string kind_of(const ErasedRecords& records) {
    std::string key;
    base::append_field(key, records.month);
    base::append_u8(key, static_cast<uint8_t>(records.side));
    base::append_field(key, records.action);
    base::append_u8(key, records.later ? 1 : 0);
    base::append_field(key, records.cell);
    return key;
}

Result<ErasedRecords> read_erased(base::ByteReader& in) {
    ErasedRecords out;
    RAMPART_TRY(out.month, in.field());
    RAMPART_TRY(const uint8_t side, in.u8());
    RAMPART_TRY(out.action, in.field());
    RAMPART_TRY(const uint8_t later, in.u8());
    RAMPART_TRY(out.cell, in.field());
    RAMPART_TRY(out.records, in.u64());
    if (side > 1 || later > 1) return damaged_register();
    out.side = static_cast<ErasedRecords::Side>(side);
    out.later = later == 1;
    return out;
}

std::string encode(const PendingErasure& erasure) {
    std::string value;
    base::append_u8(value, kDetailedFormat);
    base::append_i64(value, erasure.asked_at.micros());
    base::append_u32(value, static_cast<uint32_t>(erasure.decisions.size()));
    for (const auto& decision : erasure.decisions) append(value, decision);
    base::append_u8(value, erasure.records ? 1 : 0);
    if (!erasure.records) return value;
    base::append_u32(value, static_cast<uint32_t>(erasure.records->size()));
    for (const auto& records : *erasure.records) {
        value += kind_of(records);
        base::append_u64(value, records.records);
    }
    return value;
}

Result<PendingErasure> decode_erasure(const PersonTag& person, std::string_view value) {
    base::ByteReader in(value);
    PendingErasure erasure;
    erasure.person = person;
    RAMPART_TRY(const uint8_t format, in.u8());
    if (format < kFormat || format > kDetailedFormat) return damaged_register();
    RAMPART_TRY(erasure.asked_at, read_time(in));
    RAMPART_TRY(const uint32_t count, in.u32());
    for (uint32_t i = 0; i < count; ++i) {
        RAMPART_TRY(auto decision, read_pending(in, format));
        erasure.decisions.push_back(std::move(decision));
    }
    RAMPART_TRY(const bool counted, read_counted(in, format));
    if (counted) {
        erasure.records.emplace();
        RAMPART_TRY(const uint32_t kinds, in.u32());
        for (uint32_t i = 0; i < kinds; ++i) {
            RAMPART_TRY(auto records, read_erased(in));
            erasure.records->push_back(std::move(records));
        }
    }
    if (!in.empty()) return damaged_register();
    return erasure;
}

}  // namespace rampart::privacy
