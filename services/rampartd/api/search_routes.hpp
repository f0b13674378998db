#pragma once

#include <functional>

#include "rampart/http/router.hpp"
#include "rampart/joiner/outcome_joiner.hpp"

namespace rampart::rampartd {

/// GET /v1/decisions: decisions by person, application, time, policy, action and reason.
class SearchRoutes {
  public:
    /// Records that a person's decisions were read, before they are shown.
    using Record = std::function<base::Status(const domain::PersonId& person,
                                              std::string_view principal, size_t decisions)>;

    SearchRoutes(const joiner::OutcomeJoiner& joiner, Record record)
        : joiner_(joiner), record_(std::move(record)) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_search(const http::Request& request) const;

    const joiner::OutcomeJoiner& joiner_;
    Record record_;
};

}  // namespace rampart::rampartd
