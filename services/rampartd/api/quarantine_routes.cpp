#include "services/rampartd/api/quarantine_routes.hpp"

#include "services/rampartd/api/places.hpp"

namespace rampart::rampartd {

using access::Scope;
using base::Result;
using http::Lane;

struct QuarantineRoutes::Named {
    Place place;
    streaming::Offset offset;
    bool application = false;
};

Result<http::Response> QuarantineRoutes::handle_quarantine(const http::Request& request) const {
    constexpr size_t kMaxListed = 1000;
    RAMPART_TRY(const auto applications, deps_.applications.list_quarantined(kMaxListed));
    if (deps_.audit) {
        RAMPART_RETURN_IF_ERROR(
            deps_.registry.record_operation(deps_.clock.now(), request.principal, "read_quarantine",
                                            {{"reason", "GET /v1/quarantine"}}));
    }
    RAMPART_TRY(auto quarantined, deps_.joiner.list_quarantined(kMaxListed, withheld()));
    quarantined.insert(quarantined.begin(), applications.begin(), applications.end());
    std::vector<Json> out;
    for (const auto& one : quarantined) {
        // not the content: it may hold the applicants' features
        out.push_back(Json::object({{"topic", one.topic},
                                    {"partition", partition_to_json(one.partition)},
                                    {"offset", one.offset.value()},
                                    {"reason", one.reason},
                                    {"message", one.message},
                                    {"bytes", one.record.value.size()}}));
    }
    return json_response(Json::object({{"quarantined", Json::array(out)}}));
}

Result<QuarantineRoutes::Named> QuarantineRoutes::read_and_audit(const http::Request& request,
                                                                 std::string_view action) const {
    RAMPART_TRY(const auto members,
                text_members(request.body, {"topic",
                                            {"partition", MemberSpec::Kind::kPartition},
                                            {"offset", MemberSpec::Kind::kNumber},
                                            "reason"}));
    RAMPART_TRY(auto place, place_of(members));
    RAMPART_TRY(const int64_t offset, number_of("offset", members.at("offset"), 0, INT64_MAX));
    RAMPART_RETURN_IF_ERROR(deps_.registry.record_operation(deps_.clock.now(), request.principal,
                                                            action,
                                                            {{"topic", place.topic},
                                                             {"partition", members.at("partition")},
                                                             {"offset", members.at("offset")},
                                                             {"reason", members.at("reason")}}));
    const bool application = place.topic == deps_.topics.applications;
    return Named{std::move(place), streaming::Offset(offset), application};
}

Result<http::Response> QuarantineRoutes::handle_drop(const http::Request& request) const {
    RAMPART_TRY(const auto named, read_and_audit(request, "quarantine_drop"));
    const auto& [place, offset, application] = named;
    RAMPART_RETURN_IF_ERROR(
        application
            ? deps_.applications.drop_quarantined(place.partition, offset)
            : deps_.joiner.drop_quarantined(place.topic, place.partition, offset, withheld()));
    return json_response(Json::object({{"dropped", true}}));
}

Result<http::Response> QuarantineRoutes::handle_replay(const http::Request& request) const {
    RAMPART_TRY(const auto named, read_and_audit(request, "quarantine_replay"));
    const auto& [place, offset, application] = named;
    RAMPART_TRY(const auto why, application
                                    ? deps_.applications.replay_quarantined(place.partition, offset)
                                    : deps_.joiner.replay_quarantined(place.topic, place.partition,
                                                                      offset, withheld()));
    if (!why) return json_response(Json::object({{"applied", true}}));
    return json_response(
        Json::object({{"applied", false}, {"reason", why->reason}, {"message", why->message}}));
}

void QuarantineRoutes::add_to(http::Router& router) const {
    router.add(
        "GET", "/v1/quarantine", Scope::kAudit,
        [self = *this](const auto& r) { return respond(self.handle_quarantine(r)); }, Lane::kBulk);
    router.add(
        "POST", "/v1/quarantine/replay", Scope::kOperate,
        [self = *this](const auto& r) { return respond(self.handle_replay(r)); },
        Lane::kAdministrative);
    router.add(
        "POST", "/v1/quarantine/drop", Scope::kOperate,
        [self = *this](const auto& r) { return respond(self.handle_drop(r)); },
        Lane::kAdministrative);
}

}  // namespace rampart::rampartd
