#pragma once

#include <functional>
#include <vector>

#include "rampart/http/router.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/serving/application_consumer.hpp"
#include "rampart/serving/decision_service.hpp"
#include "rampart/wire/topics.hpp"

namespace rampart::rampartd {

/// GET /v1/partitions, POST /v1/partitions/resume.
class PartitionRoutes {
  public:
    struct Deps {
        const base::Clock& clock;
        registry::ModelRegistry& registry;
        joiner::OutcomeJoiner& joiner;
        serving::DecisionService& decisions;
        serving::ApplicationConsumer& applications;
        const wire::Topics& topics;
        /// Sources that the joiner could not read the last time, and the topic of person keys.
        std::function<std::vector<joiner::StoppedPartition>()> stopped;
        /// Whether the hash of the joined state is shown, to which outcomes of the vault belong.
        bool audit = false;
        /// Goes on where persons' keys are lost, or their topic is another; false: neither is so.
        std::function<base::Result<bool>(const std::string& topic, streaming::PartitionId)>
            resume_keys{};
    };
    explicit PartitionRoutes(Deps deps) : deps_(std::move(deps)) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_partitions() const;
    base::Result<http::Response> handle_resume(const http::Request& request) const;

    Deps deps_;
};

}  // namespace rampart::rampartd
