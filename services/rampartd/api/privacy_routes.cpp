#include "services/rampartd/api/privacy_routes.hpp"

#include "rampart/base/digest.hpp"
#include "rampart/base/reasons.hpp"
#include "services/rampartd/api/bodies.hpp"
#include "services/rampartd/api/erasure_jobs.hpp"

namespace rampart::rampartd {

using access::Scope;
using base::Result;
using base::TimePoint;
using data_retention::HoldRequest;
using http::Lane;

namespace {

const MemberSpec kUntil{"until", MemberSpec::Kind::kText, false};

Json to_json(const privacy::Hold& hold, TimePoint now) {
    return Json::object(
        {{"person", base::to_hex(hold.person.value())},
         {"matter", hold.matter},
         {"reason", hold.reason},
         {"actor", hold.actor},
         {"since", base::to_iso8601(hold.since)},
         {"until", hold.until ? Json(base::to_iso8601(*hold.until)) : Json(nullptr)},
         {"in_force", !hold.until || now < *hold.until}});
}

Result<HoldRequest> hold_request(const Members& members, const std::string& actor, TimePoint now) {
    HoldRequest request;
    request.person = domain::PersonId(members.at("person_id"));
    RAMPART_RETURN_IF_ERROR(domain::check_id("person_id", request.person.value()));
    RAMPART_RETURN_IF_ERROR(check_reason(members));
    request.matter = members.at("matter");
    request.reason = members.at("reason");
    request.actor = actor;
    request.now = now;
    return request;
}

}  // namespace

Result<http::Response> PrivacyRoutes::handle_erasure(const http::Request& request) const {
    RAMPART_TRY(const auto asked, read_erasure(request));
    if (!asked.dry_run)
        return deps_.jobs.answer(request, kErasure, to_text(asked), ErasureWork::kSteps);
    domain::PersonId person(asked.person);
    if (!asked.application.empty()) {
        RAMPART_TRY(person, deps_.person_behind(domain::ApplicationId(asked.application)));
    }
    RAMPART_TRY(const auto report, deps_.dry_run(person, asked.actor, asked.reason));
    http::Response response;
    response.body = erasure_answer(report, true);
    return response;
}

Result<http::Response> PrivacyRoutes::handle_holds() const {
    RAMPART_TRY(const auto holds, deps_.holds.list.holds());
    std::vector<Json> out;
    for (const auto& hold : holds) out.push_back(to_json(hold, deps_.clock.now()));
    return json_response(Json::object({{"holds", Json::array(out)}}));
}

Result<http::Response> PrivacyRoutes::handle_hold(const http::Request& request) const {
    RAMPART_TRY(const auto members,
                text_members(request.body, {"person_id", "matter", "reason", kUntil}));
    RAMPART_TRY(auto asked, hold_request(members, request.principal, deps_.clock.now()));
    if (const auto until = members.find("until"); until != members.end()) {
        if (until->second.empty()) {
            return base::make_error(base::Reason::kBadTime,
                                    "$.until: is empty; leave it out, and the hold lasts until it "
                                    "is removed");
        }
        asked.until = until->second;
    }
    RAMPART_TRY(const auto hold, data_retention::place_hold(deps_.holds, asked));
    return json_response(to_json(hold, hold.since));
}

Result<http::Response> PrivacyRoutes::handle_hold_removal(const http::Request& request) const {
    RAMPART_TRY(const auto members, text_members(request.body, {"person_id", "matter", "reason"}));
    RAMPART_TRY(const auto asked, hold_request(members, request.principal, deps_.clock.now()));
    RAMPART_TRY(const auto hold, data_retention::lift_hold(deps_.holds, asked));
    return json_response(to_json(hold, hold.since));
}

void PrivacyRoutes::add_to(http::Router& router) const {
    // may wait for other erasures
    router.add(
        "POST", "/v1/erasures", Scope::kErase,
        [self = *this](const auto& r) { return respond(self.handle_erasure(r)); },
        Lane::kAdministrative);
    router.add("GET", "/v1/holds", Scope::kRead,
               [self = *this](const auto&) { return respond(self.handle_holds()); });
    router.add("POST", "/v1/holds", Scope::kErase,
               [self = *this](const auto& r) { return respond(self.handle_hold(r)); });
    router.add("POST", "/v1/holds/remove", Scope::kErase,
               [self = *this](const auto& r) { return respond(self.handle_hold_removal(r)); });
}

}  // namespace rampart::rampartd
