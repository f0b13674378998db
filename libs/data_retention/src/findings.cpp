#include "findings.hpp"

#include "rampart/joiner/reasons.hpp"
#include "rampart/joiner/unread_decision.hpp"

namespace rampart::data_retention {

using base::Result;
using base::Status;

namespace {

/// A person id as it lies in a protobuf message of ours: field 2, its length, its bytes.
std::string field_of(const domain::PersonId& person) {
    std::string bytes = "\x12";
    const size_t size = person.value().size();
    if (size < 128) {
        bytes += static_cast<char>(size);
    } else {
        bytes += static_cast<char>(0x80 | (size & 0x7f));
        bytes += static_cast<char>(size >> 7);
    }
    return bytes + person.value();
}

}  // namespace

About::About(const domain::PersonId& person, const Findings& found) : field_(field_of(person)) {
    for (const auto& id : found.ids) keys_.insert(id.value());
    for (const auto& one : found.decisions) keys_.insert(one.application.value());
}

Status count_quarantined(const ErasureDeps& deps, const domain::PersonId& person, Findings& found) {
    const About about(person, found);
    const auto word = reason_info(joiner::Reason::kWithheldOutcome).word;
    found.quarantined = found.withheld = found.unread = 0;
    RAMPART_RETURN_IF_ERROR(deps.joiner.visit_quarantined([&](const auto& one) {
        if (!about(one)) return base::ok();
        ++(one.reason == word ? found.withheld : found.quarantined);
        found.unread += joiner::is_unread_decision(one, deps.log.decisions_topic);
        return base::ok();
    }));
    return deps.applications.visit_quarantined([&](const auto& one) {
        found.quarantined += about(one);
        return base::ok();
    });
}

Result<Findings> find(const ErasureDeps& deps, const domain::PersonId& person,
                      const std::optional<privacy::PendingErasure>& pending) {
    Findings found;
    RAMPART_TRY(found.decisions, deps.joiner.decisions_of(std::span(&person, 1)));
    std::set<std::string> ids;
    for (const auto& one : found.decisions) ids.insert(one.decision.value());
    if (pending) {
        for (const auto& [id, details] : pending->decisions) {
            if (!ids.insert(id).second || !details) continue;
            found.decisions.push_back({person, domain::DecisionId(id),
                                       domain::ApplicationId(details->application),
                                       details->event_time, details->decided_at});
        }
    }
    for (const auto& id : ids) found.ids.emplace_back(id);
    RAMPART_RETURN_IF_ERROR(count_quarantined(deps, person, found));
    return found;
}

}  // namespace rampart::data_retention
