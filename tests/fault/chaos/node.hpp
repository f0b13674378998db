#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fault/chaos/process.hpp"
#include "rampart/base/result.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::chaos {

/// What the nodes of one run have in common.
struct Group {
    std::string bootstrap_servers, topic_prefix;
    int32_t partitions = 4;
    int64_t lease_ms = 3000;  // short, so that a short sleep is longer
    uint64_t seed = 1;        // of the keys, the same for all nodes
};

/// Which partitions a node decides, and which it only joins. `trains`: holds all.
struct Share {
    std::vector<int32_t> own, follow;
    bool trains = true;
};

/// A `rampart serve` on a shared log, with a folder of its own that outlives its process.
///
/// Started, stopped and configured by the main thread; endpoint() and token() may be asked by any.
class Node {
  public:
    /// Lays out `folder` (keys, product, schema). `store`: where the store goes, if not into the
    /// folder. Throws std::runtime_error, like all that cannot go wrong in a sound test.
    Node(std::string name, const std::filesystem::path& folder, Group group,
         const loan_stream::Stream& stream, const std::filesystem::path& store = {});

    /// Takes effect with the next start.
    void configure(const Share& share);
    const Share& share() const { return share_; }

    /// Starts the program and waits until it serves. failed_precondition "ended": it ended by
    /// itself, with the end of its log in the message; unavailable "slow".
    base::Status start(std::chrono::milliseconds limit = std::chrono::seconds(30));
    /// Starts the program and returns at once; serves() says when.
    void spawn();
    /// As a supervisor does: starts it again as often as it ends, until it serves.
    base::Status keep_starting(std::chrono::milliseconds limit = std::chrono::seconds(60));

    bool runs() { return process_ != nullptr && !process_->ended(); }
    bool serves();
    Process& process() { return *process_; }
    void kill();
    /// SIGTERM; error: it did not end in order.
    base::Status terminate();

    const std::string& name() const { return name_; }
    const std::filesystem::path& config() const { return workspace_.config; }
    const std::filesystem::path& store() const { return workspace_.store; }
    const std::filesystem::path& log() const { return workspace_.log; }
    const std::string& token() const { return workspace_.token; }
    /// host:port; nullopt: it does not serve.
    std::optional<std::string> endpoint() const;

  private:
    const std::string name_;
    const Group group_;
    demo::Workspace workspace_;
    Share share_;
    std::unique_ptr<Process> process_;
};

}  // namespace rampart::chaos
