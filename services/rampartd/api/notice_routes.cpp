#include "services/rampartd/api/notice_routes.hpp"

#include "rampart/protected_attributes/reasons.hpp"
#include "services/rampartd/api/bodies.hpp"

namespace rampart::rampartd {

http::Response NoticeRoutes::handle_notice(const http::Request& request) const {
    const domain::DecisionId id(request.path_values.at("id"));
    std::string language;
    for (const auto& [name, value] : request.query) {
        if (name != "language")
            return http::error_response(
                base::make_error(protected_attributes::Reason::kUnknownField,
                                 "$.{}: is not a known parameter of the query", name));
        language = value;
    }
    const auto notice = notice_of_(id, language);
    if (!notice) return failed_(notice.error(), id);
    return json_response(Json::parsed(notices::to_json(*notice)));
}

void NoticeRoutes::add_to(http::Router& router) const {
    // as the decision itself; it reads the log to its end and a model's file
    router.add(
        "GET", "/v1/decisions/{id}/notice", access::Scope::kRead,
        [self = *this](const auto& request) { return self.handle_notice(request); },
        http::Lane::kBulk);
}

}  // namespace rampart::rampartd
