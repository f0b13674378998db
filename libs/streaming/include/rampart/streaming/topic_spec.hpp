#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rampart/base/clock.hpp"

namespace rampart::streaming {

/// What a topic has to be like, whatever the log.
struct TopicSpec {
    enum class Cleanup {
        kDelete,   // records go by age, or never
        kCompact,  // the latest record of each key stays
    };
    std::string name;
    int32_t partitions = 1;
    Cleanup cleanup = Cleanup::kDelete;
    std::optional<base::Duration> max_age{};  // of kDelete; nullopt: kept for ever
    uint32_t max_record_bytes = 1u << 20;
    /// Of kCompact: what a later record of its key has replaced is gone so long after it was
    /// written; nullopt: some time.
    std::optional<base::Duration> compact_within{};
    bool operator==(const TopicSpec&) const = default;
};

}  // namespace rampart::streaming
