#include "services/rampartd/api/explanation_routes.hpp"

namespace rampart::rampartd {

void ExplanationRoutes::add_to(http::Router& router) const {
    // as the decision itself; it may have to be made, which takes a look at many decisions
    router.add(
        "GET", "/v1/decisions/{id}/explanation", access::Scope::kRead,
        [self = *this](const http::Request& request) -> http::Response {
            const domain::DecisionId id(request.path_values.at("id"));
            auto document = self.explanation_of_(id);
            if (!document) return self.failed_(document.error(), id);
            return {200, *std::move(document), "application/json", {}};
        },
        http::Lane::kBulk);
}

}  // namespace rampart::rampartd
