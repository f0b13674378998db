#pragma once

#include <functional>
#include <string_view>

#include "rampart/data_retention/erasure.hpp"
#include "rampart/data_retention/legal_hold.hpp"
#include "rampart/http/router.hpp"
#include "services/rampartd/api/job_routes.hpp"

namespace rampart::rampartd {

/// POST /v1/erasures (a job, but for a dry run), GET and POST /v1/holds, POST /v1/holds/remove.
class PrivacyRoutes {
  public:
    /// What an erasure would erase.
    using DryRun = std::function<base::Result<data_retention::ErasureReport>(
        const domain::PersonId& person, std::string_view actor, std::string_view reason)>;
    /// Whose application it is.
    using PersonBehind =
        std::function<base::Result<domain::PersonId>(const domain::ApplicationId& application)>;

    struct Deps {
        const base::Clock& clock;
        data_retention::HoldDeps holds;
        DryRun dry_run;
        PersonBehind person_behind;
        JobAnswers jobs;
    };
    static constexpr const char* kErasure = "erasure";  // kind of its jobs

    explicit PrivacyRoutes(Deps deps) : deps_(std::move(deps)) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_erasure(const http::Request& request) const;
    base::Result<http::Response> handle_holds() const;
    base::Result<http::Response> handle_hold(const http::Request& request) const;
    base::Result<http::Response> handle_hold_removal(const http::Request& request) const;

    Deps deps_;
};

}  // namespace rampart::rampartd
