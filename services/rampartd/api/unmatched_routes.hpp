#pragma once

#include "rampart/http/router.hpp"
#include "rampart/joiner/outcome_joiner.hpp"

namespace rampart::rampartd {

/// GET /v1/unmatched: reports without their decision, and examples without a value, by age.
class UnmatchedRoutes {
  public:
    /// `clock`: for the time before the joiner has read anything.
    UnmatchedRoutes(const joiner::OutcomeJoiner& joiner, const base::Clock& clock)
        : joiner_(joiner), clock_(clock) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_unmatched() const;

    const joiner::OutcomeJoiner& joiner_;
    const base::Clock& clock_;
};

}  // namespace rampart::rampartd
