#include "services/rampartd/api/search_routes.hpp"

#include "services/rampartd/api/bodies.hpp"

namespace rampart::rampartd {

using base::Result;

namespace {

/// Returns whom the search is about; nullopt: many, or an application that is not known here.
Result<std::optional<domain::PersonId>> person_of(const joiner::OutcomeJoiner& joiner,
                                                  const DecisionSearch& search) {
    if (!search.person.empty()) return std::optional(domain::PersonId(search.person));
    if (search.application.empty()) return std::optional<domain::PersonId>();
    const auto id = domain::decision_id_of(domain::ApplicationId(search.application));
    RAMPART_TRY(auto decision, joiner.find_decision(id));
    if (!decision) return std::optional<domain::PersonId>();
    return std::optional(std::move(decision->application.person));
}

}  // namespace

Result<http::Response> SearchRoutes::handle_search(const http::Request& request) const {
    RAMPART_TRY(const auto search, parse_decision_search(request.query));
    RAMPART_TRY(const auto person, person_of(joiner_, search));
    RAMPART_RETURN_IF_ERROR(record_(search, person, request.principal));
    RAMPART_TRY(const auto page, find_decisions(joiner_, search));
    std::vector<Json> decisions;
    for (const auto& one : page.decisions) decisions.push_back(Json::parsed(one));
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
