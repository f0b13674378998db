#include "services/rampartd/api/model_routes.hpp"

#include "services/rampartd/api/bodies.hpp"
#include "services/rampartd/api/list_part.hpp"

namespace rampart::rampartd {

using access::Scope;
using base::Result;

Result<http::Response> ModelRoutes::handle_models(const http::Request& request) const {
    RAMPART_TRY(const auto models, registry_.models());
    RAMPART_TRY(const auto part, read_list_part(request.query, models.size()));
    const auto champion = registry_.champion();
    std::vector<Json> out;
    for (size_t i = part.begin; i < part.end; ++i) {
        const auto& model = models[i];
        out.push_back(
            Json::object({{"id", model.id.value()},
                          {"registered_at", base::to_iso8601(model.registered_at)},
                          {"bytes", model.bytes},
                          {"champion", champion.has_value() && champion->policy == model.id}}));
    }
    return json_response(
        Json::object({{"models", Json::array(out)}, {"next_cursor", part.next_cursor()}}));
}

Result<http::Response> ModelRoutes::handle_rollback(const http::Request& request) const {
    RAMPART_TRY(const auto members, text_members(request.body, {"reason"}));
    RAMPART_RETURN_IF_ERROR(rollback_(request.principal, members.at("reason")));
    return json_response(Json::object({{"champion", registry_.champion()->policy.value()}}));
}

void ModelRoutes::add_to(http::Router& router) const {
    router.add("GET", "/v1/models", Scope::kRead,
               [self = *this](const auto& r) { return respond(self.handle_models(r)); });
    // may not be refused while something administrative is under way
    router.add("POST", "/v1/rollback", Scope::kOperate,
               [self = *this](const auto& r) { return respond(self.handle_rollback(r)); });
}

}  // namespace rampart::rampartd
