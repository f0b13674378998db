#include "rampart/data_retention/legal_hold.hpp"

#include <map>

#include "rampart/base/digest.hpp"

namespace rampart::data_retention {

using base::Result;

namespace {

privacy::Hold hold_of(const HoldDeps& deps, const HoldRequest& request) {
    return {deps.keys.tag_of(request.person),
            request.matter,
            request.reason,
            request.actor,
            request.now,
            {}};
}

std::map<std::string, std::string> details_of(const privacy::Hold& hold) {
    return {{"person", base::to_hex(hold.person.value())},
            {"matter", hold.matter},
            {"reason", hold.reason}};
}

}  // namespace

Result<privacy::Hold> place_hold(const HoldDeps& deps, const HoldRequest& request) {
    privacy::Hold hold = hold_of(deps, request);
    auto details = details_of(hold);
    if (!request.until.empty()) {
        const auto until = base::parse_iso8601(request.until);
        if (!until) return until.error().with_context("until");
        hold.until = *until;
        details["until"] = request.until;
    }
    RAMPART_RETURN_IF_ERROR(
        deps.registry.record_operation(hold.since, hold.actor, "hold_add", details));
    RAMPART_RETURN_IF_ERROR(deps.list.add(hold));
    return hold;
}

Result<privacy::Hold> lift_hold(const HoldDeps& deps, const HoldRequest& request) {
    const privacy::Hold hold = hold_of(deps, request);
    RAMPART_RETURN_IF_ERROR(
        deps.registry.record_operation(hold.since, hold.actor, "hold_remove", details_of(hold)));
    RAMPART_RETURN_IF_ERROR(deps.list.remove(hold.person, hold.matter));
    return hold;
}

}  // namespace rampart::data_retention
