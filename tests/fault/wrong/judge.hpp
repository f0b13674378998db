#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace rampart::wrong {

struct Verdict {
    uint64_t events = 0;   // sent, each with an id of its own
    uint64_t lost = 0;     // counted by nobody
    uint64_t doubled = 0;  // counted more than once
    int kills = 0;
    std::string text(const std::string& variant) const;
};

/// A topic of events, sent while the variant's consumer is killed again and again at seeded
/// moments; then counted. Two consumers of one group where the variant is "subscribe". Needs a
/// broker; main thread only.
Verdict judge_consumer(const std::string& bootstrap_servers, const std::string& variant, int kills,
                       uint64_t seed, const std::filesystem::path& folder);

struct WriterVerdict {
    uint64_t acknowledged = 0;  // by both writers
    uint64_t lost = 0;    // of these, what is not in the log as it was acknowledged, by its rules
    uint64_t fenced = 0;  // records that count for nothing
};

/// A writer of decisions is stopped, another takes over, the first goes on.
WriterVerdict judge_writer(const std::string& bootstrap_servers, const std::string& variant,
                           uint64_t seed, const std::filesystem::path& folder);

}  // namespace rampart::wrong
