#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/ope/logged_feedback.hpp"
#include "rampart/privacy/register.hpp"

namespace rampart::gate {

/// What a set of decisions would have, so that erased records may be missing from it.
struct ErasedFrom {
    privacy::ErasedRecords::Side side{};
    const std::vector<std::string>& groups;
    const std::vector<std::string>& cells;
    std::optional<base::TimePoint> from;  // applications from then on; nullopt: all
    base::TimePoint to;
};

/// Counts the erased records that the set has, or may have, lost. A month that it has in part
/// counts in full. A record counts in each group of its cell, and in every group where the cell is
/// not known or is none of the set's.
ope::ErasedCounts count_erased(std::span<const privacy::ErasedRecords> tally,
                               const ErasedFrom& set);

/// Returns the counts of a sample of that share of the persons, rounded up.
ope::ErasedCounts share_of(ope::ErasedCounts counts, double share);

}  // namespace rampart::gate
