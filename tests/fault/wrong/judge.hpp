#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace rampart::wrong {

struct Verdict {
    uint64_t events = 0;   // sent, each with its own id
    uint64_t lost = 0;     // never counted
    uint64_t doubled = 0;  // counted more than once
    int kills = 0;
    std::string text(const std::string& variant) const;
};

/// Sends a topic of events while the consumer of the variant is killed again and again at seeded
/// moments; then counts. Uses two consumers of one group for the variant "subscribe". Needs a
/// broker; main thread only.
Verdict judge_consumer(const std::string& bootstrap_servers, const std::string& variant, int kills,
                       uint64_t seed, const std::filesystem::path& folder);

struct WriterVerdict {
    uint64_t acknowledged = 0;  // by both writers
    uint64_t lost =
        0;  // acknowledged records that are not in the log as acknowledged, by its rules
    uint64_t fenced = 0;  // records that do not count
};

/// Stops a writer of decisions, lets another take over, and continues the first.
WriterVerdict judge_writer(const std::string& bootstrap_servers, const std::string& variant,
                           uint64_t seed, const std::filesystem::path& folder);

}  // namespace rampart::wrong
