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
    kKillStarting,    // and once more while it starts
    kPauseNode,       // SIGSTOP for less than the lease
    kOversleep,       // SIGSTOP for longer than the lease, and nobody takes over
    kReplaceSleeper,  // SIGSTOP for longer, until another node has taken over, then SIGCONT
    kKillBroker,      // SIGKILL, started again
    kPauseBroker,     // SIGSTOP: connections stay open, nothing answers
    kKillBoth,        // broker and node
    kRefuseProduce,   // mock: errors of a broker that can or will not write
    kRefuseFetch,     // mock: errors of one that can or will not read
    kMockAway,        // mock: gone, and back
    kFillDisk,        // of the nodes' stores, until writes fail; then there is room again
};
std::string to_string(Fault fault);

/// What was done, and what it did.
struct Deeds {
    std::map<std::string, int> faults;
    int total = 0;
    int kills = 0;                      // SIGKILLs, of nodes and of the broker
    int slept_through = 0;              // sleepers that another node had replaced
    int disk_was_full = 0;              // times that nothing was decided while the disk was full
    int ended_by_themselves = 0;        // nodes that could not write any more
    std::vector<std::string> schedule;  // each fault, with its victim and its moments
};

/// Does harm to a run, at moments and in an order that the seed gives, and sees to it that what was
/// harmed is started again. After each fault the run is checked. Main thread only.
class Nemesis {
  public:
    /// `spare`: takes over from sleepers; empty: nobody does. `sleep`: of a sleeper, at least.
    Nemesis(Run& run, uint64_t seed, std::string spare, std::chrono::milliseconds sleep);

    /// Faults in the proportions of a deck, until there have been so many kills in all, and so many
    /// faults; ends with the first violation.
    void harm_until(int kills, int faults = 0);
    void commit(Fault fault);
    /// SIGKILL of some node and a new start, while nothing is sent; no check.
    void kill_quietly();
    const Deeds& deeds() const { return deeds_; }

  private:
    void apply(Fault fault);
    Node& victim();
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
    void wait_a_moment(int64_t at_most_ms);

    Run& run_;
    base::Random random_;
    std::string spare_;
    const std::chrono::milliseconds sleep_;
    std::vector<Fault> deck_;
    std::string detail_;  // of the fault that is under way, for the schedule
    Deeds deeds_;
};

}  // namespace rampart::chaos
