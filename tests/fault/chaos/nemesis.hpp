#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fault/chaos/run.hpp"
#include "rampart/base/random.hpp"

namespace rampart::chaos {

enum class Fault {
    kKillNode,        // SIGKILL, started again at once
    kKillStarting,    // a second SIGKILL while it starts
    kPauseNode,       // SIGSTOP for less than the lease
    kOversleep,       // SIGSTOP for longer than the lease; no node takes over
    kReplaceSleeper,  // SIGSTOP for longer, until another node has taken over, then SIGCONT
    kKillBroker,      // SIGKILL, started again
    kPauseBroker,     // SIGSTOP: connections stay open without an answer
    kKillBoth,        // broker and node
    kRefuseProduce,   // mock: errors of a broker that cannot or will not write
    kRefuseFetch,     // mock: errors of a broker that cannot or will not read
    kMockAway,        // mock: unreachable for a moment
    kLoseLeader,      // mock of three: a partition has no leader, and then another one
    kMoveLeaders,     // mock of three: all partitions get another leader
    kFewReplicas,     // mock of three: one refuses writes, NOT_ENOUGH_REPLICAS
    kOneAway,         // mock of three: one is unreachable for a moment
    kFillDisk,        // fills the stores of the nodes until writes fail, then frees the space
    kSlowDisk,        // service: each fsync takes long for a moment
    kNoFiles,         // service: no further file can be opened for a moment
    kClockAhead,      // service: the wall clock is more than a year ahead for a moment
    kClockBehind,     // service: the wall clock is more than a year behind for a moment
    kLoseRequests,    // service: what the node sends the broker does not arrive, for a moment
    kLoseAnswers,     // service: what the broker answers does not arrive, for a moment
};
std::string to_string(Fault fault);

/// The faults and their effects.
struct Deeds {
    std::map<std::string, int> faults;
    /// By fault: the longest time in which some partition decided nothing.
    std::map<std::string, std::chrono::milliseconds> pauses;
    int total = 0;
    int kills = 0;                      // SIGKILLs of nodes and of the broker
    int slept_through = 0;              // sleepers that another node had replaced
    int disk_was_full = 0;              // times that no decision was made while the disk was full
    int ended_by_themselves = 0;        // nodes that could not write any more
    uint64_t bytes_held_back = 0;       // by one-way partitions
    uint64_t slow_syncs = 0;            // on slow disks
    int refused_for_files = 0;          // new connections, while no file could be opened
    std::vector<std::string> schedule;  // each fault, with its process and its moments
};

/// Injects faults into a run, at moments and in an order that the seed gives, and starts again what
/// it stopped. After each fault the run is checked. Main thread only.
class Nemesis {
  public:
    /// `spare` takes over from sleepers; empty: no node does. `sleep`: shortest stop of a sleeper.
    Nemesis(Run& run, uint64_t seed, std::string spare, std::chrono::milliseconds sleep);

    /// Injects faults in the proportions of a deck, until this number of kills and of faults is
    /// reached. Ends with the first violation.
    void harm_until(int kills, int faults = 0);
    /// Does the same with whole decks until the time is over.
    void harm_for(std::chrono::seconds time);
    void commit(Fault fault);
    /// Kills one node (SIGKILL) and starts it again, while nothing is sent; makes no check.
    void kill_quietly();
    const Deeds& deeds() const { return deeds_; }

  private:
    void apply(Fault fault);
    void apply_mock(Fault fault);
    void apply_service(Fault fault);
    Fault draw();
    void revive_those_that_ended();
    Node& victim();
    Node& deciding_victim();
    void kill(Node& node);
    void kill_the_broker();
    void revive(Node& node);
    void kill_node(Node& node);
    void kill_starting(Node& node);
    void pause_node(Node& node);
    void oversleep(Node& node);
    void replace_sleeper(Node& node);
    void kill_broker();
    void pause_broker();
    void kill_both(Node& node);
    void fill_disk();
    void refuse(Fault fault);
    void mock_away();
    void lose_leader();
    void move_leaders();
    void few_replicas();
    void one_away();
    void slow_disk(Node& node);
    void no_files(Node& node);
    void step_clock(Node& node, base::Duration by);
    void hold(Node& node, rough_host::OneWay::Held held);
    void wait_a_moment(int64_t at_most_ms);

    Run& run_;
    base::Random random_;
    std::string spare_;
    const std::chrono::milliseconds sleep_;
    std::vector<Fault> deck_;
    std::string detail_;  // the current fault, for the schedule
    Deeds deeds_;
};

}  // namespace rampart::chaos
