#include "services/rampartd/api/assignment_routes.hpp"

#include <algorithm>

#include "rampart/base/reasons.hpp"
#include "rampart/protected_attributes/reasons.hpp"
#include "rampart/registry/live.hpp"
#include "rampart/wire/json_value.hpp"
#include "services/rampartd/api/bodies.hpp"

namespace rampart::rampartd {

using access::Scope;
using base::Result;
using http::Lane;
using wire::JsonValue;

namespace {

constexpr size_t kMostListed = 1000;

base::Error missing(std::string_view where, std::string_view what) {
    return base::make_error(protected_attributes::Reason::kMissingField, "$.{}: must be {}", where,
                            what);
}

/// Returns the member as a text or a number; nullptr: it is not there, or of another kind.
const JsonValue* member(const JsonValue& object, std::string_view name, JsonValue::Kind kind) {
    for (const auto& [key, value] : object.members)
        if (key == name && value.kind == kind) return &value;
    return nullptr;
}

/// Refuses members that have another name.
base::Status check_names(const JsonValue& object, const std::string& where,
                         std::initializer_list<std::string_view> known) {
    for (const auto& [key, value] : object.members) {
        if (std::find(known.begin(), known.end(), key) == known.end())
            return base::make_error(protected_attributes::Reason::kUnknownField,
                                    "$.{}{}: is not a known field", where, key);
    }
    return base::ok();
}

Result<std::vector<domain::ArmShare>> arms_of(const JsonValue& list) {
    std::vector<domain::ArmShare> arms;
    for (const auto& item : list.elements) {
        const auto where = fmt::format("arms[{}]", arms.size());
        if (item.kind != JsonValue::Kind::kObject) return missing(where, "an object");
        RAMPART_RETURN_IF_ERROR(check_names(item, where + ".", {"policy", "share"}));
        const auto* policy = member(item, "policy", JsonValue::Kind::kString);
        const auto* share = member(item, "share", JsonValue::Kind::kNumber);
        if (policy == nullptr) return missing(where + ".policy", "the id of a policy");
        if (share == nullptr) return missing(where + ".share", "a number between 0 and 1");
        RAMPART_TRY(const double part, real_of(where + ".share", share->text));
        arms.push_back({domain::PolicyId(policy->text), part});
    }
    return arms;
}

struct Asked {
    domain::Assignment assignment;
    std::string reason;
};

Result<Asked> asked_of(std::string_view body) {
    RAMPART_TRY(const auto document, wire::parse_json(body));
    if (document.kind != JsonValue::Kind::kObject)
        return base::make_error(base::Reason::kBadJson, "the body is not a JSON object");
    RAMPART_RETURN_IF_ERROR(check_names(document, "", {"id", "arms", "reason"}));
    const auto* id = member(document, "id", JsonValue::Kind::kString);
    const auto* arms = member(document, "arms", JsonValue::Kind::kArray);
    const auto* reason = member(document, "reason", JsonValue::Kind::kString);
    if (id == nullptr) return missing("id", "a text");
    if (arms == nullptr) return missing("arms", "a list of policies and shares");
    if (reason == nullptr) return missing("reason", "a text");
    RAMPART_RETURN_IF_ERROR(check_reason({{"reason", reason->text}}));
    Asked asked{{id->text, {}, {}}, reason->text};
    RAMPART_TRY(asked.assignment.arms, arms_of(*arms));
    return asked;
}

Json shown(const registry::AssignmentPeriod& period) {
    return Json::parsed(registry::to_json(period));
}

}  // namespace

Result<http::Response> AssignmentRoutes::handle_list() const {
    RAMPART_RETURN_IF_ERROR(deps_.check_trains());
    const auto all = deps_.registry.assignments();
    std::vector<Json> out;
    for (auto it = all.rbegin(); it != all.rend() && out.size() < kMostListed; ++it)
        out.push_back(shown(*it));
    const bool in_force = !all.empty() && !all.back().to;
    return json_response(Json::object({{"in_force", in_force ? shown(all.back()) : Json(nullptr)},
                                       {"assignments", Json::array(out)}}));
}

Result<http::Response> AssignmentRoutes::handle_start(const http::Request& request) const {
    RAMPART_TRY(auto asked, asked_of(request.body));
    RAMPART_TRY(const auto started,
                deps_.start(std::move(asked.assignment), request.principal, asked.reason));
    const auto* period = std::get_if<registry::AssignmentPeriod>(&started);
    const auto* proposal = std::get_if<registry::PromotionProposal>(&started);
    return json_response(
        Json::object({{"assignment", period != nullptr ? shown(*period) : Json(nullptr)},
                      {"proposal", proposal != nullptr ? Json::parsed(registry::to_json(*proposal))
                                                       : Json(nullptr)}}));
}

Result<http::Response> AssignmentRoutes::handle_end(const http::Request& request) const {
    RAMPART_TRY(const auto reason, reason_in_query(request, "an assignment"));
    RAMPART_TRY(const auto ended,
                deps_.end(request.path_values.at("id"), request.principal, reason));
    return json_response(Json::object({{"assignment", shown(ended)}}));
}

void AssignmentRoutes::add_to(http::Router& router) const {
    router.add("GET", "/v1/assignments", Scope::kRead,
               [self = *this](const auto&) { return respond(self.handle_list()); });
    // reads the evidence of certificates again
    router.add(
        "POST", "/v1/assignments", Scope::kOperate,
        [self = *this](const auto& r) { return respond(self.handle_start(r)); },
        Lane::kAdministrative);
    // may not be refused while something administrative is under way
    router.add("DELETE", "/v1/assignments/{id}", Scope::kOperate,
               [self = *this](const auto& r) { return respond(self.handle_end(r)); });
}

}  // namespace rampart::rampartd
