#pragma once

#include <functional>
#include <vector>

#include "rampart/http/router.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/lease/trainer_lease.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/retraining/training_loop.hpp"
#include "rampart/runtime/health.hpp"
#include "rampart/runtime/job_queue.hpp"
#include "rampart/runtime/jobs.hpp"
#include "rampart/serving/application_consumer.hpp"
#include "rampart/serving/decision_service.hpp"
#include "rampart/wire/topics.hpp"
#include "services/rampartd/api/json.hpp"
#include "services/rampartd/event_streams.hpp"
#include "services/rampartd/node_clock.hpp"
#include "services/rampartd/roles.hpp"

namespace rampart::rampartd {

/// GET /v1/status: jobs, requests that are jobs, checks, partitions, training and error budget. It
/// waits for nothing.
class StatusRoutes {
  public:
    struct Deps {
        const runtime::Health& health;
        const runtime::Jobs& jobs;
        const runtime::JobQueue& requests;
        NodeClock& clock;
        const registry::ModelRegistry& registry;
        const joiner::OutcomeJoiner& joiner;
        serving::DecisionService& decisions;
        serving::ApplicationConsumer& applications;
        const wire::Topics& topics;
        /// Sources that could not be read the last time.
        std::function<std::vector<joiner::StoppedPartition>()> stopped;
        const retraining::TrainingLoop* trainer;  // nullptr: training is off
        const lease::TrainerLease* lease;         // nullptr: as of Loop::Deps
        Roles roles;
        const EventStreams& events;
    };
    explicit StatusRoutes(Deps deps) : deps_(std::move(deps)) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_status() const;
    base::Result<Json> training() const;
    Json partitions() const;
    Json joined() const;
    Json requests() const;

    Deps deps_;
};

}  // namespace rampart::rampartd
