#include "rampart/lease/lease_record.hpp"

#include <algorithm>
#include <charconv>

#include "rampart/base/bytes.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/lease/reasons.hpp"

namespace rampart::lease {

using base::Result;
using base::Status;
using streaming::PartitionId;

namespace {

constexpr uint8_t kFormat = 1;
constexpr size_t kSessionBytes = 16;
constexpr size_t kMaxHostBytes = 253;
constexpr std::string_view kTrainerName = "trainer";

base::Error bad(std::string_view what) {
    return base::make_error(Reason::kBadLease, "a lease record has a bad {}", what);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_host_character(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-';
}
bool is_name_character(char c) { return is_host_character(c) || c == '_'; }

/// Returns whether it is 1 to 65535, without a zero in front.
bool is_port(std::string_view text) {
    if (text.empty() || text.size() > 5 || text[0] == '0') return false;
    uint32_t port = 0;
    const char* end = text.data() + text.size();
    const auto [last, failure] = std::from_chars(text.data(), end, port);
    return failure == std::errc() && last == end && port <= 65535;
}

bool is_host(std::string_view text) {
    if (text.empty() || text.size() > kMaxHostBytes) return false;
    if (text.front() != '[') {
        return text.front() != '.' && text.front() != '-' &&
               std::all_of(text.begin(), text.end(), is_host_character);
    }
    if (text.size() < 4 || text.back() != ']') return false;
    const auto inside = text.substr(1, text.size() - 2);
    return inside.find(':') != std::string_view::npos &&
           std::all_of(inside.begin(), inside.end(),
                       [](char c) { return is_hex_digit(c) || c == ':' || c == '.'; });
}

}  // namespace

Status check_name(std::string_view what, std::string_view name) {
    if (!name.empty() && name.size() <= base::limits::kMaxNameBytes &&
        std::all_of(name.begin(), name.end(), is_name_character)) {
        return base::ok();
    }
    return base::make_error(
        Reason::kBadName, "{} is '{}'; 1 to {} of a-z A-Z 0-9 . _ - are allowed", what,
        name.substr(0, base::limits::kMaxNameBytes), base::limits::kMaxNameBytes);
}

Status check_address(std::string_view address) {
    std::string_view rest = address;
    for (const std::string_view scheme : {"https://", "http://"}) {
        if (!rest.starts_with(scheme)) continue;
        rest.remove_prefix(scheme.size());
        const size_t colon = rest.rfind(':');
        if (colon == std::string_view::npos) break;
        if (is_host(rest.substr(0, colon)) && is_port(rest.substr(colon + 1))) return base::ok();
        break;
    }
    return base::make_error(Reason::kBadNodeAddress,
                            "'{}' is not http:// or https://, a host, ':' and a port, without a "
                            "path",
                            address.substr(0, kMaxHostBytes));
}

std::string encode(const LeaseRecord& record) {
    std::string out;
    base::append_u8(out, kFormat);
    base::append_u8(out, static_cast<uint8_t>(record.kind));
    base::append_u64(out, record.epoch);
    base::append_i64(out, record.replaces ? record.replaces->value() : -1);
    base::append_i64(out, record.ttl.micros());
    base::append_field(out, record.node);
    base::append_field(out, record.session);
    if (!record.address.empty()) base::append_field(out, record.address);
    return out;
}

Result<LeaseRecord> decode_lease(std::string_view bytes) {
    base::ByteReader in(bytes);
    RAMPART_TRY(const uint8_t format, in.u8());
    if (format != kFormat) return bad("format");
    LeaseRecord record;
    RAMPART_TRY(const uint8_t kind, in.u8());
    if (kind < 1 || kind > 3) return bad("kind");
    record.kind = static_cast<LeaseRecord::Kind>(kind);
    RAMPART_TRY(record.epoch, in.u64());
    RAMPART_TRY(const int64_t replaces, in.i64());
    RAMPART_TRY(const int64_t ttl, in.i64());
    RAMPART_TRY(const auto node, in.field());
    RAMPART_TRY(const auto session, in.field());
    record.ttl = base::Duration::micros(ttl);
    record.node = node;
    record.session = session;
    if (!in.empty()) {
        RAMPART_TRY(record.address, in.field());
        if (!check_address(record.address)) return bad("address");
    }
    if (record.epoch == 0) return bad("epoch");
    const bool claim = record.kind == LeaseRecord::Kind::kClaim;
    if (replaces < -1 || (replaces >= 0 && !claim)) return bad("predecessor");
    if (replaces >= 0) record.replaces = streaming::Offset(replaces);
    if (ttl <= 0) return bad("ttl");
    if (!check_name("node", node)) return bad("node");
    if (session.size() != kSessionBytes || !in.empty()) return bad("session");
    return record;
}

std::string lease_key(std::string_view group, PartitionId partition) {
    if (partition == kTrainer) return fmt::format("{}/{}", group, kTrainerName);
    return fmt::format("{}/{}", group, partition);
}

std::optional<std::pair<std::string_view, PartitionId>> lease_of(std::string_view key) {
    const size_t slash = key.find('/');
    if (slash == std::string_view::npos || !check_name("group", key.substr(0, slash))) return {};
    const auto digits = key.substr(slash + 1);
    if (digits == kTrainerName) return std::pair(key.substr(0, slash), kTrainer);
    int32_t partition = 0;
    const char* end = digits.data() + digits.size();
    const auto [last, failure] = std::from_chars(digits.data(), end, partition);
    const bool plain = digits == "0" || (!digits.empty() && digits[0] >= '1' && digits[0] <= '9');
    if (failure != std::errc() || last != end || !plain) return {};
    return std::pair(key.substr(0, slash), PartitionId(partition));
}

}  // namespace rampart::lease
