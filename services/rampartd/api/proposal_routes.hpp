#pragma once

#include <functional>

#include "rampart/base/clock.hpp"
#include "rampart/http/router.hpp"
#include "rampart/registry/model_registry.hpp"

namespace rampart::rampartd {

/// GET /v1/proposals, GET /v1/proposals/{id}, POST /v1/proposals/{id}/approve and
/// /v1/proposals/{id}/reject.
class ProposalRoutes {
  public:
    /// As Loop::approve() and Loop::reject().
    using Judge = std::function<base::Result<registry::PromotionProposal>(uint64_t number,
                                                                          registry::Judgement by)>;
    struct Deps {
        const base::Clock& clock;
        const registry::ModelRegistry& registry;
        /// Says whether the registry has the proposals of the group: that of the node that trains.
        std::function<base::Status()> check_trains;
        Judge approve, reject;
    };
    explicit ProposalRoutes(Deps deps) : deps_(std::move(deps)) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_list() const;
    base::Result<http::Response> handle_one(const http::Request& request) const;
    base::Result<http::Response> handle_approval(const http::Request& request) const;
    base::Result<http::Response> handle_rejection(const http::Request& request) const;

    Deps deps_;
};

}  // namespace rampart::rampartd
