#pragma once

#include <functional>

#include "rampart/http/router.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "services/rampartd/review_desk.hpp"

namespace rampart::rampartd {

inline constexpr size_t kDefaultReviews = 100, kMostReviews = 1000;  // for a page

/// POST /v1/decisions/{id}/review and …/review/answer, GET /v1/reviews.
class ReviewRoutes {
  public:
    /// Answers what has failed; `decision` says about whom was asked.
    using Failed =
        std::function<http::Response(const base::Error& error, const domain::DecisionId& id)>;

    /// All has to outlive the routes.
    ReviewRoutes(ReviewDesk& desk, const base::Clock& clock, Failed failed)
        : desk_(desk), clock_(clock), failed_(std::move(failed)) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_open(const http::Request& request) const;
    base::Result<http::Response> handle_answer(const http::Request& request) const;
    base::Result<http::Response> handle_list(const http::Request& request) const;

    ReviewDesk& desk_;
    const base::Clock& clock_;
    Failed failed_;
};

}  // namespace rampart::rampartd
