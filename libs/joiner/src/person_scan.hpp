#pragma once

#include <span>
#include <vector>

#include "join_store.hpp"

namespace rampart::joiner {

/// Adds the decisions of a store that are about one of the persons, by decision id.
base::Status scan_for(const JoinStore& store, std::span<const domain::PersonId> persons,
                      std::vector<PersonDecision>& found);

/// Rewrites what the states of these decisions and the quarantine lay in.
base::Status compact_erased(const JoinStore& store, std::span<const std::string> decisions);

}  // namespace rampart::joiner
