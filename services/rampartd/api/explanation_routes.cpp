#include "services/rampartd/api/explanation_routes.hpp"

#include "rampart/protected_attributes/reasons.hpp"

namespace rampart::rampartd {

void ExplanationRoutes::add_to(http::Router& router) const {
    // as the decision itself; it may have to be made, which takes a look at many decisions
    router.add(
        "GET", "/v1/decisions/{id}/explanation", access::Scope::kRead,
        [self = *this](const http::Request& request) -> http::Response {
            if (!request.query.empty())
                return http::error_response(base::make_error(
                    protected_attributes::Reason::kUnknownField,
                    "$.{}: is not a known parameter of the query", request.query.begin()->first));
            const domain::DecisionId id(request.path_values.at("id"));
            auto document = self.explanation_of_(id);
            if (!document) return self.failed_(document.error(), id);
            return {200, *std::move(document), "application/json", {}};
        },
        http::Lane::kBulk);
}

}  // namespace rampart::rampartd
