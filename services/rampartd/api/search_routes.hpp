#pragma once

#include <functional>

#include "rampart/http/router.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "services/rampartd/decision_search.hpp"

namespace rampart::rampartd {

/// GET /v1/decisions: decisions by person, application, time, policy, action and reason.
class SearchRoutes {
  public:
    /// Records who asks for which decisions, before they are looked for. The person: whom the
    /// search, or the application that it names, is about; nullopt: it is not about one.
    using Record = std::function<base::Status(const DecisionSearch& search,
                                              const std::optional<domain::PersonId>& person,
                                              std::string_view principal)>;

    SearchRoutes(const joiner::OutcomeJoiner& joiner, Record record)
        : joiner_(joiner), record_(std::move(record)) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_search(const http::Request& request) const;

    const joiner::OutcomeJoiner& joiner_;
    Record record_;
};

}  // namespace rampart::rampartd
