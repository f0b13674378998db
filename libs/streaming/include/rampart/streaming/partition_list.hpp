#pragma once

#include <span>
#include <vector>

#include "rampart/streaming/record.hpp"

/// Lists of partitions in options, where an empty list means all of them.
namespace rampart::streaming {

/// Returns the list that names none.
inline std::vector<PartitionId> no_partitions() { return {PartitionId(-1)}; }

/// Whether the list is no_partitions().
inline bool names_none(std::span<const PartitionId> list) {
    return list.size() == 1 && list.front() == PartitionId(-1);
}

}  // namespace rampart::streaming
