#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rampart/base/clock.hpp"

namespace rampart::streaming {

/// Required properties of a topic, for any log.
struct TopicSpec {
    enum class Cleanup {
        kDelete,   // records are deleted by age, or never
        kCompact,  // the latest record of each key is kept
    };
    std::string name;
    int32_t partitions = 1;
    Cleanup cleanup = Cleanup::kDelete;
    std::optional<base::Duration> max_age{};  // for kDelete; nullopt: kept for ever
    uint32_t max_record_bytes = 1u << 20;
    /// For kCompact: a record replaced by a later one of its key is deleted within this time after
    /// it was written; nullopt: eventually.
    std::optional<base::Duration> compact_within{};
    /// On Kafka: the broker, and not the writer, says when a record was appended.
    bool broker_time = false;
    /// With max_age: who keeps records for less loses what nodes still read; nullopt: none of them
    /// reads the topic.
    std::optional<base::Duration> least_age{};
    bool operator==(const TopicSpec&) const = default;
};

}  // namespace rampart::streaming
