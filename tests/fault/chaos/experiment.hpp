#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "fault/chaos/nemesis.hpp"

namespace rampart::chaos {

struct ExperimentOptions {
    uint64_t seed = 1;
    int kills = 20;                     // SIGKILLs; other faults come in addition
    std::filesystem::path folder;       // created, and removed at the end if there was no violation
    double by_topic = 0.3;              // share of applications that are sent by topic
    int64_t lease_ms = 3000;            // short, so that a short stop is longer than it
    std::chrono::milliseconds sleep{};  // shortest SIGSTOP of a sleeper; longer than the lease
    bool may_mount = true;              // uses a tmpfs that it fills, where that is allowed
    std::chrono::seconds time{};        // service: whole decks of faults until then; at least one
};

struct Outcome {
    uint64_t seed = 0;
    std::vector<std::string> violations;  // empty: all guarantees held
    Deeds deeds;
    uint64_t acknowledged = 0, lost = 0, doubled = 0;  // decisions
    uint64_t erased = 0;                               // service: persons
    uint64_t runs = 0;                                 // service: of training
    uint64_t decisions = 0, outcomes = 0, fenced = 0, repeats = 0, retries = 0;
    double seconds = 0;
    /// The actions and the result; after a violation also the seed, the schedule and the first
    /// contradiction.
    std::string text() const;
};

/// One node that owns all partitions, and one in reserve.
Outcome one_node(const ExperimentOptions& options);

/// Two nodes on four partitions. Then a third node joins: it gets one partition that is moved as a
/// checkpoint (the move is killed and repeated), and one that is made again from the log. Faults
/// occur in each state. A node that asks for a partition of a live node is refused.
Outcome moving_partitions(const ExperimentOptions& options);

/// One node on the mock broker of librdkafka, which makes errors on demand.
Outcome injected_errors(const ExperimentOptions& options);

/// One node on three of these brokers: leaders are lost and moved, and one has too few replicas.
Outcome three_brokers(const ExperimentOptions& options);

/// A deployment as in production: two nodes that decide, one in reserve, one that joins, trains and
/// erases, by the wall clock and with sealed records, while persons are erased. Its faults are also
/// those of the host of one process: clock, disk, open files, network.
Outcome service(const ExperimentOptions& options);

/// The seed of $RAMPART_SEED, else one from the clock; and the number of kills ($RAMPART_KILLS).
uint64_t seed_from_environment();
int kills_from_environment(int otherwise);
/// The length of $RAMPART_CHAOS_SECONDS; 0: none is given.
std::chrono::seconds time_from_environment();

}  // namespace rampart::chaos
