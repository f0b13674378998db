#include "services/rampartd/events.hpp"

#include <algorithm>
#include <charconv>

#include "rampart/access/reasons.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/protected_attributes/reasons.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using base::Result;

namespace {

constexpr uint64_t kMostId = (uint64_t{1} << 53) - 1;  // exact in every JSON reader

/// What an action of the audit log is beside an entry, and which of its details names what it was
/// about: a policy, a proposal, an assignment or a button; never a person.
struct Shown {
    std::string_view action;
    EventKind kind;
    std::string_view object;
};
constexpr auto kShown = std::to_array<Shown>({
    {"bootstrap", EventKind::kPromotion, "model"},
    {"promote", EventKind::kPromotion, "model"},
    {"rollback", EventKind::kPromotion, "model"},
    {"propose_candidate", EventKind::kProposal, "candidate"},
    {"open_proposal", EventKind::kProposal, "proposal"},
    {"approve_proposal", EventKind::kProposal, "proposal"},
    {"reject_proposal", EventKind::kProposal, "proposal"},
    {"end_proposal", EventKind::kProposal, "proposal"},
    {"start_assignment", EventKind::kAssignment, "assignment"},
    {"end_assignment", EventKind::kAssignment, "assignment"},
    {"certify", EventKind::kCertificate, "candidate"},
    {"press_stop", EventKind::kStop, "kind"},
    {"release_stop", EventKind::kStop, "kind"},
    {"monitor_alarm", EventKind::kAlarm, "policy"},
});

Json text_or_null(const std::map<std::string, std::string>& details, std::string_view name) {
    const auto found = details.find(std::string(name));
    return found == details.end() ? Json(nullptr) : Json(base::to_utf8(found->second));
}

}  // namespace

std::vector<std::string> EventKinds::names() const {
    std::vector<std::string> names;
    for (const auto& [kind, name] : kEventKinds)
        if (has(kind)) names.emplace_back(name);
    return names;
}

access::Scope scope_of(EventKind kind) {
    return kind == EventKind::kAudit ? access::Scope::kAudit : access::Scope::kRead;
}

Result<EventKinds> read_event_kinds(const std::map<std::string, std::string>& query,
                                    const access::Scopes& scopes) {
    EventKinds kinds;
    for (const auto& [name, value] : query) {
        if (name != "kinds")
            return base::make_error(protected_attributes::Reason::kUnknownField,
                                    "$.{}: is not a known parameter of the query", name);
    }
    const auto given = query.find("kinds");
    if (given == query.end()) {
        for (const auto& [kind, name] : kEventKinds)
            if (scopes.has(scope_of(kind))) kinds.add(kind);
        return kinds;
    }
    std::string_view rest = given->second;
    if (rest.empty())
        return base::make_error(protected_attributes::Reason::kMissingField,
                                "$.kinds: is empty: leave it out, or name kinds");
    for (bool more = true; more;) {
        const auto name = rest.substr(0, rest.find(','));
        more = name.size() < rest.size();
        if (more) rest.remove_prefix(name.size() + 1);
        const auto kind = base::value_of(kEventKinds, name, Reason::kUnknownEventKind);
        if (!kind) return kind.error().with_context("$.kinds");
        if (!scopes.has(scope_of(*kind)))
            return base::make_error(access::Reason::kMissingScope,
                                    "$.kinds: events of kind {} need the scope {}", name,
                                    access::to_string(scope_of(*kind)));
        kinds.add(*kind);
    }
    return kinds;
}

Result<uint64_t> read_last_event_id(std::string_view text) {
    uint64_t id = 0;
    const char* end = text.data() + text.size();
    const auto [last, failure] = std::from_chars(text.data(), end, id);
    if (failure == std::errc() && last == end && id <= kMostId) return id;
    return base::make_error(base::Reason::kBadNumber,
                            "Last-Event-ID: '{}' is no id of an event: send the last one that was "
                            "received, or leave the header out",
                            base::to_utf8(text.substr(0, 32)));
}

std::string event_text(std::string_view name, const Json& data, uint64_t id) {
    std::string text = fmt::format("event: {}\n", name);
    if (id > 0) text += fmt::format("id: {}\n", id);
    return text + fmt::format("data: {}\n\n", data.text());
}

std::string events_of(const registry::AuditEntry& entry, const EventKinds& kinds) {
    const auto action = base::to_utf8(entry.action);
    const auto shown = std::find_if(kShown.begin(), kShown.end(),
                                    [&](const auto& one) { return one.action == action; });
    const bool of_its_own = shown != kShown.end() && kinds.has(shown->kind);
    const bool audited = kinds.has(EventKind::kAudit);
    std::vector<Json::Member> data{
        {"number", entry.sequence}, {"at", base::to_iso8601(entry.at)}, {"action", action}};
    std::string text;
    const auto audit = Json::object(data);
    if (of_its_own) {
        data.emplace_back("object", text_or_null(entry.details, shown->object));
        text += event_text(base::name_of(kEventKinds, shown->kind), Json::object(data),
                           audited ? 0 : entry.sequence);
    }
    if (audited) text += event_text("audit", audit, entry.sequence);
    return text;
}

}  // namespace rampart::rampartd
