#pragma once

#include <span>
#include <vector>

#include "join_store.hpp"

namespace rampart::joiner {

/// Adds the decisions of a store that are about the person, by decision id.
base::Status find_decisions(const JoinStore& store, const domain::PersonId& person,
                            std::vector<PersonDecision>& found);

/// Rewrites what the states of these decisions of the person lay in, and the quarantine if
/// anything was dropped from it.
base::Status compact_erased(const JoinStore& store, const domain::PersonId& person,
                            std::span<const std::string> decisions);

}  // namespace rampart::joiner
