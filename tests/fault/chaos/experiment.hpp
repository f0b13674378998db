#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "fault/chaos/nemesis.hpp"

namespace rampart::chaos {

struct ExperimentOptions {
    uint64_t seed = 1;
    int kills = 20;                     // SIGKILLs; the other faults come with them
    std::filesystem::path folder;       // made, and removed in the end if all is well
    double by_topic = 0.3;              // share of applications that come through the log
    int64_t lease_ms = 3000;            // short, so that a short sleep is longer than it
    std::chrono::milliseconds sleep{};  // SIGSTOP of a sleeper, at least; longer than the lease
    bool may_mount = true;              // a tmpfs to be filled, where that is allowed
};

struct Outcome {
    uint64_t seed = 0;
    std::vector<std::string> violations;  // empty: all promises held
    Deeds deeds;
    uint64_t decisions = 0, outcomes = 0, fenced = 0, repeats = 0, retries = 0;
    double seconds = 0;
    /// What was done and what came of it; after a violation the seed, the schedule and the first
    /// contradiction.
    std::string text() const;
};

/// One node that owns all partitions, and one in reserve.
Outcome one_node(const ExperimentOptions& options);

/// Two nodes on four partitions; then a third joins, by a partition that is moved as a checkpoint
/// (the move is killed and repeated) and by one that is made anew from the log. Faults in each
/// state. A node that wants what a living one owns is refused.
Outcome moving_partitions(const ExperimentOptions& options);

/// One node on librdkafka's mock of a broker, which makes errors on demand.
Outcome injected_errors(const ExperimentOptions& options);

/// The seed that $RAMPART_SEED says, else one of the clock's; and how many kills ($RAMPART_KILLS).
uint64_t seed_from_environment();
int kills_from_environment(int otherwise);

}  // namespace rampart::chaos
