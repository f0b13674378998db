#pragma once

#include <functional>

#include "rampart/http/router.hpp"
#include "rampart/retraining/proposed.hpp"

namespace rampart::rampartd {

/// POST /v1/candidates. The router keeps a copy.
class CandidateRoutes {
  public:
    /// As Node::propose.
    using Propose =
        std::function<base::Result<retraining::Proposed>(const retraining::ProposalRequest&)>;

    explicit CandidateRoutes(Propose propose) : propose_(std::move(propose)) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_candidate(const http::Request& request) const;

    Propose propose_;
};

}  // namespace rampart::rampartd
