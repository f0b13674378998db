#include "rampart/registry/audit_log.hpp"

#include <charconv>

#include "rampart/base/bytes.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/registry/audit_export.hpp"
#include "rampart/registry/reasons.hpp"

namespace rampart::registry {
namespace {

constexpr uint8_t kFormat = 1;
constexpr size_t kMaxDetails = 32;

std::string_view view(const base::Digest& digest) {
    return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

base::Result<base::Digest> take_digest(base::ByteReader& reader) {
    base::Digest digest;
    RAMPART_TRY(const auto bytes, reader.take(digest.bytes.size()));
    for (size_t i = 0; i < bytes.size(); ++i) digest.bytes[i] = static_cast<uint8_t>(bytes[i]);
    return digest;
}

/// Returns all hashed fields, each with its length: two different entries never give the same
/// bytes.
std::string hashed_bytes(const AuditEntry& entry) {
    std::string out;
    base::append_u8(out, kFormat);
    base::append_u64(out, entry.sequence);
    base::append_i64(out, entry.at.micros());
    base::append_field(out, entry.actor);
    base::append_field(out, entry.action);
    base::append_u32(out, static_cast<uint32_t>(entry.details.size()));
    for (const auto& [key, value] : entry.details) {
        base::append_field(out, key);
        base::append_field(out, value);
    }
    out += view(entry.previous);
    return out;
}

base::Status check_utf8(std::string_view what, std::string_view text) {
    if (base::is_utf8(text)) return base::ok();
    return base::make_error(Reason::kAuditEntry, "audit {} '{}' is not UTF-8: give it in UTF-8",
                            what, base::to_utf8(text));
}

base::Status check_name(std::string_view what, std::string_view name) {
    if (name.empty() || name.size() > base::limits::kMaxNameBytes) {
        return base::make_error(Reason::kAuditEntry, "audit {} has {} bytes: give 1 to {}", what,
                                name.size(), base::limits::kMaxNameBytes);
    }
    return check_utf8(what, name);
}

}  // namespace

base::Digest hash_of(const AuditEntry& entry) { return base::sha256(hashed_bytes(entry)); }

base::Result<AuditEntry> next_entry(const AuditHead& head, base::TimePoint at, std::string actor,
                                    std::string action,
                                    std::map<std::string, std::string> details) {
    RAMPART_RETURN_IF_ERROR(check_name("actor", actor));
    RAMPART_RETURN_IF_ERROR(check_name("action", action));
    if (details.size() > kMaxDetails) {
        return base::make_error(Reason::kAuditEntry, "audit entry has {} details: at most {}",
                                details.size(), kMaxDetails);
    }
    for (const auto& [key, value] : details) {
        RAMPART_RETURN_IF_ERROR(check_name("detail's name", key));
        if (value.size() > base::limits::kMaxTextBytes) {
            return base::make_error(Reason::kAuditEntry,
                                    "audit detail '{}' has {} bytes: at most {}", key, value.size(),
                                    base::limits::kMaxTextBytes);
        }
        RAMPART_RETURN_IF_ERROR(check_utf8(fmt::format("detail '{}'", key), value));
    }
    AuditEntry entry{.sequence = head.count + 1,
                     .at = at,
                     .actor = std::move(actor),
                     .action = std::move(action),
                     .details = std::move(details),
                     .previous = head.hash,
                     .hash = {}};
    entry.hash = hash_of(entry);
    return entry;
}

AuditHead head_of(const AuditEntry& last) { return {last.sequence, last.hash}; }

std::optional<AuditBreak> first_break(std::span<const AuditEntry> entries, const AuditHead& apart) {
    AuditHead head;
    const auto is_other = [&] { return head.count == apart.count && head.hash != apart.hash; };
    const auto other = [&] {
        return AuditBreak{
            head.count,
            base::make_error(Reason::kAuditEdited,
                             "audit log: entry {} was altered (its hash differs from the "
                             "separately stored head): restore the log from a copy",
                             head.count)};
    };
    if (is_other()) return other();
    for (const auto& entry : entries) {
        const uint64_t place = head.count + 1;
        if (entry.sequence != place) {
            return AuditBreak{
                place,
                base::make_error(Reason::kAuditReordered,
                                 "audit log: entry {} is at the position of entry {}: entries were "
                                 "removed or moved; restore the log from a copy",
                                 entry.sequence, place)};
        }
        if (entry.previous != head.hash || entry.hash != hash_of(entry)) {
            return AuditBreak{
                place, base::make_error(
                           Reason::kAuditEdited,
                           "audit log: entry {} or the one before it was changed after it was "
                           "written: restore the log from a copy",
                           entry.sequence)};
        }
        head = head_of(entry);
        if (is_other()) return other();
    }
    if (head.count < apart.count) {
        return AuditBreak{
            head.count + 1,
            base::make_error(Reason::kAuditTruncated,
                             "audit log: it ends at entry {}, but had {} entries: the last {} were "
                             "cut off; restore the log from a copy",
                             head.count, apart.count, apart.count - head.count)};
    }
    return std::nullopt;
}

base::Status verify_chain(std::span<const AuditEntry> entries, const AuditHead& apart) {
    if (auto found = first_break(entries, apart)) return std::move(found->error);
    return base::ok();
}

std::string encode(const AuditEntry& entry) {
    std::string out = hashed_bytes(entry);
    out += view(entry.hash);
    return out;
}

base::Result<AuditEntry> decode_audit_entry(std::string_view bytes) {
    base::ByteReader reader(bytes);
    AuditEntry entry;
    RAMPART_TRY(const auto format, reader.u8());
    if (format != kFormat) {
        return base::make_error(Reason::kAuditFormat,
                                "audit entry has format {}, this version reads {}", format,
                                kFormat);
    }
    RAMPART_TRY(entry.sequence, reader.u64());
    RAMPART_TRY(const auto at, reader.i64());
    entry.at = base::TimePoint::from_micros(at);
    RAMPART_TRY(entry.actor, reader.field());
    RAMPART_TRY(entry.action, reader.field());
    RAMPART_TRY(const auto count, reader.u32());
    if (count > kMaxDetails) {
        return base::make_error(Reason::kAuditFormat, "audit entry {} claims {} details",
                                entry.sequence, count);
    }
    for (uint32_t i = 0; i < count; ++i) {
        RAMPART_TRY(const auto key, reader.field());
        RAMPART_TRY(const auto value, reader.field());
        const bool in_order = entry.details.empty() || entry.details.rbegin()->first < key;
        if (!in_order) {
            return base::make_error(Reason::kAuditFormat, "audit entry {}: details out of order",
                                    entry.sequence);
        }
        entry.details.emplace(key, value);
    }
    RAMPART_TRY(entry.previous, take_digest(reader));
    RAMPART_TRY(entry.hash, take_digest(reader));
    if (!reader.empty()) {
        return base::make_error(Reason::kAuditFormat, "audit entry {}: {} bytes too many",
                                entry.sequence, reader.rest().size());
    }
    return entry;
}

std::string to_text(const AuditHead& head) {
    return fmt::format("{} {}\n", head.count, head.hash.hex());
}

base::Result<AuditHead> parse_audit_head(std::string_view text) {
    AuditHead head;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), head.count);
    const auto used = static_cast<size_t>(end - text.data());
    if (error == std::errc() && text.size() == used + 66 && text[used] == ' ' &&
        text.back() == '\n') {
        auto hash = base::Digest::from_hex(text.substr(used + 1, 64));
        if (hash) {
            head.hash = *hash;
            // Accepts one spelling only, so that every changed byte is detected.
            if (to_text(head) == text) return head;
        }
    }
    return base::make_error(
        Reason::kAuditHead,
        "the audit head is not '<count> <64 hex digits>': restore it from a copy");
}

}  // namespace rampart::registry
