#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/streaming/topic_spec.hpp"

namespace rampart::wire {

/// The topics of one deployment (schemas/keys.md). A prefix separates deployments on one cluster.
struct Topics {
    std::string applications, decisions, outcomes;  // partitioned, all with the same number
    std::string protected_attributes, policies, quarantine, leases,
        person_keys;  // one partition each

    static Topics with_prefix(std::string_view prefix);
    /// Returns their specifications. `partitions` (>= 1): of applications, decisions and outcomes.
    /// `kept`: for how long decisions and outcomes are; nullopt: for ever.
    std::vector<streaming::TopicSpec> specs(
        int32_t partitions, std::optional<base::Duration> kept = std::nullopt) const;
};

// Headers of records.
inline constexpr std::string_view kSchemaHeader = "schema";  // message and version
/// Decimal: the lease epoch of the writer of a decision.
inline constexpr std::string_view kEpochHeader = "epoch";
/// Decimal: this record is a fence, not a decision. Later records of this partition with a lower
/// epoch (a missing one counts as 0) are from a process that has lost it, and do not count.
inline constexpr std::string_view kFenceHeader = "fence";
inline constexpr std::string_view kNodeHeader = "node";  // in a fence: the present owner

}  // namespace rampart::wire
