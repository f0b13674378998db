#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fault/chaos/process.hpp"
#include "fault/rough_host/one_way.hpp"
#include "fault/rough_host/rough_host.hpp"
#include "rampart/base/result.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::chaos {

/// The common settings of the nodes of one run.
struct Group {
    std::string bootstrap_servers, topic_prefix;
    int32_t partitions = 4;
    int64_t lease_ms = 3000;  // short, so that a short stop is longer
    uint64_t seed = 1;        // seed of the keys, the same for all nodes
    /// As in production: by the wall clock, with sealed records, divided roles and training. Each
    /// node is then on a rough host of its own.
    bool service = false;
    std::filesystem::path gate_key{};  // with `service`: gate.pub.pem of the node that trains
};

/// The partitions that a node decides, and those that it only joins. `trains`: it holds all.
struct Share {
    std::vector<int32_t> own, follow;
    bool trains = true;
    std::string roles{};  // with Group::service: "join", "train", …
};

/// A `rampart serve` on a shared log, with its own folder that outlives its process.
///
/// The main thread starts, stops and configures it; any thread may call endpoint() and token().
class Node {
  public:
    /// Prepares `folder` (keys, product, schema). `store`: path of the store if it is not in the
    /// folder. Throws std::runtime_error, as all functions here do for failures that a correct test
    /// does not have.
    Node(std::string name, const std::filesystem::path& folder, Group group,
         const loan_stream::Stream& stream, const std::filesystem::path& store = {});

    /// Takes effect with the next start.
    void configure(const Share& share);
    const Share& share() const { return share_; }

    /// Starts the program and waits until it serves. Fails with failed_precondition "ended" if it
    /// ended by itself, with the end of its log in the message; unavailable "slow".
    base::Status start(std::chrono::milliseconds limit = std::chrono::seconds(30));
    /// Starts the program and returns at once; serves() waits for it.
    void spawn();
    /// Starts the program again as often as it ends, as a supervisor does, until it serves.
    base::Status keep_starting(std::chrono::milliseconds limit = std::chrono::seconds(60));

    bool runs() { return process_ != nullptr && !process_->ended(); }
    bool serves();
    Process& process() { return *process_; }
    void kill();
    /// Sends SIGTERM. Fails if it did not end in order.
    base::Status terminate();

    const std::string& name() const { return name_; }
    const std::filesystem::path& config() const { return workspace_.config; }
    const std::filesystem::path& store() const { return workspace_.store; }
    const std::filesystem::path& log() const { return workspace_.log; }
    const std::string& token() const { return workspace_.token; }
    /// Returns host:port; nullopt: it does not serve.
    std::optional<std::string> endpoint() const;
    /// With Group::service: its host, and its way to the broker.
    rough_host::Faults& host() { return host_->faults(); }
    rough_host::OneWay& way() { return *way_; }

  private:
    void remove_left_over() const;
    void prepare_service();

    const std::string name_;
    const Group group_;
    demo::Workspace workspace_;
    Share share_;
    std::unique_ptr<rough_host::RoughHost> host_;
    std::unique_ptr<rough_host::OneWay> way_;
    std::unique_ptr<Process> process_;
};

}  // namespace rampart::chaos
