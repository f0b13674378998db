#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rampart/streaming/topic_spec.hpp"

namespace rampart::wire {

/// The topics of one deployment (schemas/keys.md). A prefix keeps several apart on one cluster.
struct Topics {
    std::string applications, decisions, outcomes;  // by partition; the same number of each
    std::string protected_attributes, policies, quarantine, leases,
        person_keys;  // one partition each

    static Topics with_prefix(std::string_view prefix);
    /// What each has to be like. `partitions` (>= 1): of applications, decisions and outcomes.
    std::vector<streaming::TopicSpec> specs(int32_t partitions) const;
};

// Headers of records.
inline constexpr std::string_view kSchemaHeader = "schema";  // message and version
/// Decimal: the lease epoch of the writer of a decision.
inline constexpr std::string_view kEpochHeader = "epoch";
/// Decimal: this record is no decision but a fence. From here on, records of this partition with a
/// lower epoch (none counts as 0) are from a process that has lost it, and do not count.
inline constexpr std::string_view kFenceHeader = "fence";
inline constexpr std::string_view kNodeHeader = "node";  // of a fence: who holds the partition now

}  // namespace rampart::wire
