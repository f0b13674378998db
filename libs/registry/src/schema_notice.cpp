#include "rampart/registry/schema_notice.hpp"

#include <charconv>

#include "notice_message.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/certification/reasons.hpp"
#include "rampart/registry/reasons.hpp"

namespace rampart::registry {
namespace {

constexpr uint8_t kFormat = 1;
constexpr std::string_view kContext = "rampart schema notice";
constexpr std::string_view kKeyBegin = "schema/";

std::string body_of(const SchemaNotice& notice) {
    std::string body;
    base::append_u8(body, kFormat);
    base::append_u64(body, notice.epoch);
    base::append_field(body, notice.features);
    return body;
}

}  // namespace

std::string encode(const SchemaNotice& notice, const base::SigningKey& key) {
    std::string bytes = body_of(notice);
    base::append_field(bytes, key.sign(notice_message(kContext, body_of(notice))));
    return bytes;
}

base::Result<SchemaNotice> decode_schema_notice(std::string_view bytes,
                                                const base::VerifyingKey& key) {
    base::ByteReader in(bytes);
    RAMPART_TRY(const uint8_t format, in.u8());
    if (format != kFormat)
        return base::make_error(Reason::kBadNotice, "format {}, not {}", format, kFormat);
    SchemaNotice notice;
    RAMPART_TRY(notice.epoch, in.u64());
    RAMPART_TRY(const auto features, in.field());
    notice.features = std::string(features);
    const std::string_view body = bytes.substr(0, bytes.size() - in.rest().size());
    RAMPART_TRY(const auto signature, in.field());
    if (!in.empty()) return base::make_error(Reason::kBadNotice, "damaged");
    if (!key.verify(notice_message(kContext, body), signature))
        return base::make_error(certification::Reason::kBadSignature, "not signed by key {}",
                                key.id());
    return notice;
}

std::string schema_notice_key(uint64_t epoch) { return fmt::format("{}{}", kKeyBegin, epoch); }

bool is_schema_notice(std::string_view key) { return key.starts_with(kKeyBegin); }

std::optional<uint64_t> epoch_of_schema_notice(std::string_view key) {
    if (!is_schema_notice(key)) return std::nullopt;
    const auto digits = key.substr(kKeyBegin.size());
    uint64_t epoch = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), epoch);
    if (error != std::errc() || schema_notice_key(epoch) != key) return std::nullopt;
    return epoch;
}

}  // namespace rampart::registry
