#pragma once

#include <functional>
#include <string>

#include "rampart/domain/ids.hpp"
#include "rampart/http/router.hpp"

namespace rampart::rampartd {

/// GET /v1/decisions/{id}/explanation: why a decision came out as it did.
class ExplanationRoutes {
  public:
    /// As Explanations::of().
    using ExplanationOf = std::function<base::Result<std::string>(const domain::DecisionId& id)>;
    /// Answers what has failed; `decision` says about whom was asked.
    using Failed =
        std::function<http::Response(const base::Error& error, const domain::DecisionId& id)>;

    ExplanationRoutes(ExplanationOf explanation_of, Failed failed)
        : explanation_of_(std::move(explanation_of)), failed_(std::move(failed)) {}
    void add_to(http::Router& router) const;

  private:
    ExplanationOf explanation_of_;
    Failed failed_;
};

}  // namespace rampart::rampartd
