#include "rampart/registry/assignment_notice.hpp"

#include "notice_message.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/certification/reasons.hpp"
#include "rampart/registry/reasons.hpp"
#include "rampart/wire/assignment_codec.hpp"

namespace rampart::registry {
namespace {

constexpr uint8_t kFormat = 1;
constexpr std::string_view kContext = "rampart assignment notice";
constexpr std::string_view kKeyBegin = "assignment/";

std::string body_of(const AssignmentNotice& notice) {
    std::string body;
    base::append_u8(body, kFormat);
    for (const uint64_t number : {notice.epoch, notice.champion, notice.change})
        base::append_u64(body, number);
    base::append_field(body, notice.arm_key);
    base::append_field(body, notice.assignment ? wire::encode(*notice.assignment) : "");
    return body;
}

}  // namespace

std::string encode(const AssignmentNotice& notice, const base::SigningKey& key) {
    std::string bytes = body_of(notice);
    base::append_field(bytes, key.sign(notice_message(kContext, body_of(notice))));
    return bytes;
}

base::Result<AssignmentNotice> decode_assignment_notice(std::string_view bytes,
                                                        const base::VerifyingKey& key) {
    base::ByteReader in(bytes);
    RAMPART_TRY(const uint8_t format, in.u8());
    if (format != kFormat)
        return base::make_error(Reason::kBadNotice, "format {}, not {}", format, kFormat);
    AssignmentNotice notice;
    RAMPART_TRY(notice.epoch, in.u64());
    RAMPART_TRY(notice.champion, in.u64());
    RAMPART_TRY(notice.change, in.u64());
    RAMPART_TRY(const auto arm_key, in.field());
    RAMPART_TRY(const auto assignment, in.field());
    notice.arm_key = std::string(arm_key);
    const std::string_view body = bytes.substr(0, bytes.size() - in.rest().size());
    RAMPART_TRY(const auto signature, in.field());
    if (!in.empty() || notice.epoch == 0 || notice.change == 0)
        return base::make_error(Reason::kBadNotice, "damaged");
    if (!key.verify(notice_message(kContext, body), signature))
        return base::make_error(certification::Reason::kBadSignature, "not signed by key {}",
                                key.id());
    if (assignment.empty()) return notice;
    RAMPART_TRY(notice.assignment, wire::decode_assignment(assignment));
    return notice;
}

std::string assignment_notice_key(uint64_t epoch) { return fmt::format("{}{}", kKeyBegin, epoch); }

bool is_assignment_notice(std::string_view key) { return key.starts_with(kKeyBegin); }

}  // namespace rampart::registry
