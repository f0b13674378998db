#pragma once

#include "rampart/http/router.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/serving/application_consumer.hpp"
#include "rampart/wire/topics.hpp"

namespace rampart::rampartd {

/// GET /v1/quarantine, POST /v1/quarantine/replay and /v1/quarantine/drop: of the joiner and of the
/// applications. With `audit`, each list is in the audit log.
class QuarantineRoutes {
  public:
    struct Deps {
        const base::Clock& clock;
        registry::ModelRegistry& registry;
        joiner::OutcomeJoiner& joiner;
        serving::ApplicationConsumer& applications;
        const wire::Topics& topics;
        /// Whether reports that contradict an outcome of the vault are there too.
        bool audit = false;
    };
    explicit QuarantineRoutes(Deps deps) : deps_(deps) {}
    void add_to(http::Router& router) const;

  private:
    struct Named;  // a record in quarantine, as a request names it
    base::Result<http::Response> handle_quarantine(const http::Request& request) const;
    base::Result<http::Response> handle_replay(const http::Request& request) const;
    base::Result<http::Response> handle_drop(const http::Request& request) const;
    joiner::Withheld withheld() const {
        return deps_.audit ? joiner::Withheld::kShown : joiner::Withheld::kHidden;
    }
    base::Result<Named> read_and_audit(const http::Request& request, std::string_view action) const;

    Deps deps_;
};

}  // namespace rampart::rampartd
