#include "rampart/registry/audit_reading.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>

#include "rampart/base/reasons.hpp"
#include "rampart/base/utf8.hpp"

namespace rampart::registry {
namespace {

namespace json = boost::json;
using base::Result;

constexpr std::string_view kCertificate = "certificate", kReason = "reason";

/// Names of the details that say what an action acted on, and what was there before and after.
struct Meaning {
    std::string_view action, object, before, after;
};
constexpr auto kMeanings = std::to_array<Meaning>({
    {"register_model", "model", "", ""},
    {"certify", "candidate", "", ""},
    {"bootstrap", "model", "", "model"},
    {"promote", "model", "replaced", "model"},
    {"rollback", "model", "replaced", "model"},
    {"propose_candidate", "candidate", "", ""},
    {"open_proposal", "proposal", "replaces", "model"},
    {"approve_proposal", "proposal", "", ""},
    {"reject_proposal", "proposal", "", ""},
    {"end_proposal", "proposal", "", "state"},
    {"start_assignment", "assignment", "", ""},
    {"end_assignment", "assignment", "", ""},
    {"press_stop", "kind", "", ""},
    {"release_stop", "kind", "", ""},
    {"monitor_alarm", "policy", "", ""},
    {"override", "decision", "", "action_taken"},
    {"hold_add", "person", "", ""},
    {"hold_remove", "person", "", ""},
    {"erase", "person", "", ""},
    {"erased", "person", "", ""},
    {"erase_refused", "person", "", ""},
    {"person_export", "person", "", ""},
    {"read_decisions", "person", "", ""},
    {"token_create", "principal", "", "scopes"},
    {"token_rotate", "principal", "", ""},
    {"token_revoke", "principal", "", ""},
    {"provider_keys_changed", "issuer", "", ""},
    {"principals_changed", "", "", "principals"},
    {"read_figures", "certificate", "", ""},
    {"accept_gap", "topic", "", ""},
    {"quarantine_drop", "topic", "", ""},
    {"quarantine_replay", "topic", "", ""},
    {"clock_accept", "", "", "accepted"},
    {"key_rotated", "key", "from", "to"},
    {"declare_schema", "feature_schema", "", "declaration"},
    {"store_key_made", "", "", "id"},
    {"store_key_changed", "", "from", "to"},
    {"keys_exported", "file", "", ""},
    {"keys_imported", "keys", "", ""},
    {"trainer_handed_over", "file", "", ""},
    {"trainer_taken_over", "", "from", "to"},
    {"protected_attributes_removed", "folder", "", ""},
});

std::string detail_of(const ShownEntry& entry, std::string_view name) {
    const auto found = entry.details.find(std::string(name));
    return found == entry.details.end() ? std::string() : found->second;
}

/// Whether the entry, as it is shown, is one of those asked for: what is withheld is not compared.
bool fits(const ShownEntry& entry, const AuditRequest& request) {
    const auto is = [](const std::string& wanted, const std::string& text) {
        return wanted.empty() || wanted == text;
    };
    const auto names_it = [&](const auto& detail) {
        return detail.first != kReason && detail.second == request.object;
    };
    return is(request.principal, entry.principal) && is(request.action, entry.action) &&
           (!request.from || *request.from <= entry.at) &&
           (!request.to || entry.at < *request.to) &&
           (is(request.object, entry.object) ||
            std::any_of(entry.details.begin(), entry.details.end(), names_it));
}

base::Error bad_filter(std::string_view prefix, std::string_view name, std::string_view what) {
    return base::make_error(base::Reason::kBadUsage, "{}{}: {}", prefix, name, what);
}

Result<uint64_t> whole_number(std::string_view text, uint64_t lo, uint64_t hi) {
    uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [last, failure] = std::from_chars(text.data(), end, value);
    if (failure == std::errc() && last == end && value >= lo && value <= hi) return value;
    return base::make_error(base::Reason::kBadNumber, "'{}' is not a whole number from {} to {}",
                            text.substr(0, 32), lo, hi);
}

json::value value_of(const std::string& text) {
    return text.empty() ? json::value(nullptr) : json::value(text);
}

json::object object_of(const ShownEntry& entry) {
    json::object details;
    for (const auto& [name, value] : entry.details) details[name] = value;
    return {{"number", entry.number},
            {"at", base::to_iso8601(entry.at)},
            {"principal", entry.principal},
            {"action", entry.action},
            {"object", value_of(entry.object)},
            {"before", value_of(entry.before)},
            {"after", value_of(entry.after)},
            {"details", std::move(details)},
            {"withheld", json::array(entry.withheld.begin(), entry.withheld.end())}};
}

}  // namespace

ShownEntry shown(AuditEntry entry, const CertificateNames& names) {
    ShownEntry out{.number = entry.sequence,
                   .at = entry.at,
                   .principal = base::to_utf8(entry.actor),
                   .action = base::to_utf8(entry.action),
                   .object = {},
                   .before = {},
                   .after = {},
                   .details = {},
                   .withheld = {}};
    for (auto& [name, value] : entry.details) {
        if (out.action == "ledger" && name.starts_with("entry")) {
            out.withheld.push_back(name);
            continue;
        }
        if (name == kCertificate) {
            if (const auto digest = base::Digest::from_hex(value)) value = names.name_of(*digest);
        }
        out.details.emplace(base::to_utf8(name), base::to_utf8(value));
    }
    const auto* meaning = std::find_if(kMeanings.begin(), kMeanings.end(),
                                       [&](const auto& one) { return one.action == out.action; });
    if (meaning == kMeanings.end()) return out;
    out.object = detail_of(out, meaning->object);
    out.before = detail_of(out, meaning->before);
    out.after = detail_of(out, meaning->after);
    return out;
}

Result<AuditRequest> parse_audit_request(const std::map<std::string, std::string>& parts,
                                         std::string_view prefix) {
    constexpr uint64_t kMostCursor = (uint64_t{1} << 53) - 1;  // exact in every JSON reader
    AuditRequest request;
    for (const auto& [name, text] : parts) {
        if (text.empty()) return bad_filter(prefix, name, "is empty");
        base::Status read;
        const auto number = [&](uint64_t lo, uint64_t hi, auto& out) -> base::Status {
            RAMPART_TRY(out, whole_number(text, lo, hi));
            return base::ok();
        };
        const auto time = [&](auto& out) -> base::Status {
            RAMPART_TRY(out, base::parse_iso8601(text));
            return base::ok();
        };
        if (name == "principal") {
            request.principal = text;
        } else if (name == "action") {
            request.action = text;
        } else if (name == "object") {
            request.object = text;
        } else if (name == "from") {
            read = time(request.from);
        } else if (name == "to") {
            read = time(request.to);
        } else if (name == "limit") {
            read = number(1, kMostAuditLimit, request.limit);
        } else if (name == "cursor") {
            read = number(0, kMostCursor, request.cursor);
        } else {
            return bad_filter(prefix, name, "is not a known filter");
        }
        if (!read) return read.error().with_context(fmt::format("{}{}", prefix, name));
    }
    if (request.from && request.to && *request.to <= *request.from)
        return base::make_error(base::Reason::kBadTime, "{}to: does not lie after from", prefix);
    return request;
}

Result<AuditPage> read_audit_page(const ModelRegistry& registry, const AuditRequest& request) {
    AuditPage page;
    RAMPART_TRY(auto entries, registry.audit_entries(request.cursor, SIZE_MAX));
    // read after the entries, so that it knows each certificate that they name
    RAMPART_TRY(const auto names, CertificateNames::read(registry));
    for (auto& entry : entries) {
        auto one = shown(std::move(entry), names);
        if (!fits(one, request)) continue;
        if (page.entries.size() == request.limit) {
            page.next = page.entries.back().number;
            return page;
        }
        page.entries.push_back(std::move(one));
    }
    return page;
}

Result<std::optional<ShownEntry>> read_audit_entry(const ModelRegistry& registry, uint64_t number) {
    RAMPART_TRY(auto entries, registry.audit_entries());
    if (number == 0 || number > entries.size()) return std::nullopt;
    RAMPART_TRY(const auto names, CertificateNames::read(registry));
    return shown(std::move(entries[number - 1]), names);
}

std::string to_json(const ShownEntry& entry) { return json::serialize(object_of(entry)); }

std::string to_json(const AuditPage& page) {
    json::array entries;
    for (const auto& entry : page.entries) entries.push_back(object_of(entry));
    return json::serialize(
        json::object{{"entries", std::move(entries)},
                     {"next_cursor", page.next ? json::value(*page.next) : json::value(nullptr)}});
}

}  // namespace rampart::registry
