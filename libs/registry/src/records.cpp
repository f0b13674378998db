#include "records.hpp"

#include "rampart/base/bytes.hpp"
#include "rampart/registry/reasons.hpp"

namespace rampart::registry {
namespace {

constexpr uint8_t kFormat = 1, kWithEnd = 2;  // kWithEnd: a certificate that expires

/// Returns the format, which is at most `last`.
base::Result<uint8_t> read_format(base::ByteReader& reader, uint8_t last, std::string_view what,
                                  std::string_view id) {
    RAMPART_TRY(const auto format, reader.u8());
    if (format >= kFormat && format <= last) return format;
    return base::make_error(Reason::kRegistryFormat,
                            "{} {} has format {}, this version reads up to {}", what, id, format,
                            last);
}

base::Status check_end(const base::ByteReader& reader, std::string_view what, std::string_view id) {
    if (reader.empty()) return base::ok();
    return base::make_error(Reason::kRegistryFormat, "{} {}: {} bytes too many", what, id,
                            reader.rest().size());
}

}  // namespace

std::string encode(const ModelInfo& info) {
    std::string out;
    base::append_u8(out, kFormat);
    base::append_i64(out, info.registered_at.micros());
    base::append_field(out, info.actor);
    base::append_u64(out, info.bytes);
    return out;
}

base::Result<ModelInfo> decode_model_info(std::string_view id, std::string_view bytes) {
    base::ByteReader reader(bytes);
    ModelInfo info;
    info.id = domain::PolicyId(std::string(id));
    RAMPART_RETURN_IF_ERROR(read_format(reader, kFormat, "model", id));
    RAMPART_TRY(const auto at, reader.i64());
    info.registered_at = base::TimePoint::from_micros(at);
    RAMPART_TRY(info.actor, reader.field());
    RAMPART_TRY(info.bytes, reader.u64());
    RAMPART_RETURN_IF_ERROR(check_end(reader, "model", id));
    return info;
}

std::string encode(const CertificateInfo& info) {
    std::string out;
    base::append_u8(out, info.valid_until ? kWithEnd : kFormat);
    base::append_field(out, info.candidate.value());
    base::append_field(out, info.reference.value());
    base::append_field(out, info.verdict);
    base::append_field(out, info.evidence ? info.evidence->hex() : "");
    base::append_i64(out, info.stored_at.micros());
    if (info.valid_until) base::append_i64(out, info.valid_until->micros());
    return out;
}

base::Result<CertificateInfo> decode_certificate_info(std::string_view id, std::string_view bytes) {
    base::ByteReader reader(bytes);
    CertificateInfo info;
    RAMPART_TRY(info.id, base::Digest::from_hex(id));
    RAMPART_TRY(const auto format, read_format(reader, kWithEnd, "certificate", id));
    RAMPART_TRY(const auto candidate, reader.field());
    info.candidate = domain::PolicyId(std::string(candidate));
    RAMPART_TRY(const auto reference, reader.field());
    info.reference = domain::PolicyId(std::string(reference));
    RAMPART_TRY(info.verdict, reader.field());
    RAMPART_TRY(const auto evidence, reader.field());
    if (!evidence.empty()) {
        RAMPART_TRY(info.evidence, base::Digest::from_hex(evidence));
    }
    RAMPART_TRY(const auto at, reader.i64());
    info.stored_at = base::TimePoint::from_micros(at);
    if (format == kWithEnd) {
        RAMPART_TRY(const auto end, reader.i64());
        info.valid_until = base::TimePoint::from_micros(end);
    }
    RAMPART_RETURN_IF_ERROR(check_end(reader, "certificate", id));
    return info;
}

}  // namespace rampart::registry
