#include "services/rampartd/api/search_routes.hpp"

#include "rampart/wire/decision_json.hpp"
#include "services/rampartd/api/bodies.hpp"
#include "services/rampartd/decision_search.hpp"

namespace rampart::rampartd {

using base::Result;

Result<http::Response> SearchRoutes::handle_search(const http::Request& request) const {
    RAMPART_TRY(const auto search, parse_decision_search(request.query));
    RAMPART_TRY(const auto page, find_decisions(joiner_, search));
    const bool of_one = !search.person.empty() || !search.application.empty();
    if (of_one && !page.decisions.empty())
        RAMPART_RETURN_IF_ERROR(record_(page.decisions.front().application.person,
                                        request.principal, page.decisions.size()));
    std::vector<Json> decisions;
    for (const auto& one : page.decisions) decisions.push_back(Json::parsed(wire::to_json(one)));
    const auto clock = joiner_.clock();
    return json_response(
        Json::object({{"decisions", Json::array(decisions)},
                      {"looked_at", page.looked_at},
                      {"as_of", clock ? Json(base::to_iso8601(*clock)) : Json(nullptr)},
                      {"next_cursor", page.next ? Json(cursor_of(*page.next)) : Json(nullptr)}}));
}

void SearchRoutes::add_to(http::Router& router) const {
    // Whole persons and features of all: for those who audit. Looks through many where few fit.
    router.add(
        "GET", "/v1/decisions", access::Scope::kAudit,
        [self = *this](const auto& r) { return respond(self.handle_search(r)); },
        http::Lane::kBulk);
}

}  // namespace rampart::rampartd
