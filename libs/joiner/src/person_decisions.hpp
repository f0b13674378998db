#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "join_store.hpp"

namespace rampart::joiner {

/// Adds the decisions of a store that are about the person, by decision id.
base::Status find_decisions(const JoinStore& store, const domain::PersonId& person,
                            std::vector<PersonDecision>& found);

/// An erased decision, and its event time where that is still known.
struct ErasedDecision {
    std::string id;
    std::optional<base::TimePoint> event_time{};
};

/// Rewrites what states and rows of these decisions of the person lay in, and the quarantine if
/// anything was dropped from it. Where an event time is not known, all rows are rewritten, if any
/// was erased since that was done last.
base::Status compact_erased(const JoinStore& store, const domain::PersonId& person,
                            std::span<const ErasedDecision> decisions);

}  // namespace rampart::joiner
