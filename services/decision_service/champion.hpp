#pragma once

#include <filesystem>
#include <optional>

#include "rampart/base/result.hpp"
#include "rampart/domain/ids.hpp"
#include "rampart/serving/decision_service.hpp"

namespace rampart::decision_service {

/// Puts the champion of a registry that another process writes in force, as often as it is asked.
class ChampionFollower {
  public:
    ChampionFollower(std::filesystem::path registry, serving::DecisionService& service)
        : registry_(std::move(registry)), service_(service) {}

    /// Looks into the registry; on another champion than before, swaps. When anything is wrong the
    /// policy in force stays. Errors: those of ModelRegistry and set_policy; not_found
    /// "no_champion".
    base::Status refresh();

  private:
    std::filesystem::path registry_;
    serving::DecisionService& service_;
    std::optional<uint64_t> sequence_;  // sequence of the promotion in force
};

}  // namespace rampart::decision_service
