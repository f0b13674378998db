#pragma once

#include <filesystem>
#include <optional>

#include "rampart/base/result.hpp"
#include "rampart/domain/ids.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/serving/decision_service.hpp"

namespace rampart::decision_service {

/// Puts the champion of a registry that another process writes in force, and what people have
/// stopped there, as often as it is asked.
class ChampionFollower {
  public:
    ChampionFollower(std::filesystem::path registry, serving::DecisionService& service)
        : registry_(std::move(registry)), service_(service) {}

    /// Looks into the registry; on another champion than before, swaps. When anything is wrong what
    /// is in force stays; but where rules alone are to decide and cannot, nothing is decided.
    /// Errors: those of ModelRegistry and set_policy; not_found "no_champion".
    base::Status refresh();

  private:
    base::Status follow_stops(const registry::ModelRegistry& registry);

    std::filesystem::path registry_;
    serving::DecisionService& service_;
    std::optional<uint64_t> sequence_;                  // sequence of the promotion in force
    std::shared_ptr<const model::LoadedPolicy> rules_;  // the first policy, once it was needed
};

}  // namespace rampart::decision_service
