#pragma once

#include <functional>
#include <span>

#include "rampart/http/router.hpp"
#include "rampart/protected_attributes/record.hpp"

namespace rampart::rampartd {

/// POST /v1/protected-attributes: one JSON object a line, up to limits::kMaxBatch.
class AttributeRoutes {
  public:
    /// Makes them known here and, on a shared log, to the other nodes.
    using State = std::function<base::Status(
        std::span<const protected_attributes::ProtectedAttributes> people)>;

    explicit AttributeRoutes(State state) : state_(std::move(state)) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_attributes(const http::Request& request) const;

    State state_;
};

}  // namespace rampart::rampartd
