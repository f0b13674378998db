#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fault/chaos/node.hpp"
#include "fault/chaos/oracle.hpp"
#include "rampart/authenticated_log/authenticated_log.hpp"
#include "rampart/http/client.hpp"
#include "rampart/loan_stream/stream.hpp"
#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "rampart/streaming_kafka/kafka_writer.hpp"
#include "rampart/wire/topics.hpp"

namespace rampart::chaos {

/// Knows which node to ask about a partition. Thread safe; the nodes must outlive it.
class Routes {
  public:
    explicit Routes(int32_t partitions) : owners_(static_cast<size_t>(partitions)) {}
    void set(const std::vector<Node*>& nodes);
    const Node* owner(streaming::PartitionId partition) const;
    int32_t partitions() const { return static_cast<int32_t>(owners_.size()); }

  private:
    mutable std::mutex mutex_;
    std::vector<const Node*> owners_;
};

/// Sends HTTP requests to the right node, again and again until there is an answer. For one thread.
class Asker {
  public:
    /// Gives up early once `oracle` has found a violation: later results say little.
    Asker(const Routes& routes, base::Duration patience, const Oracle& oracle)
        : routes_(routes), patience_(patience), oracle_(oracle) {}

    /// Returns the body of a 2xx answer. Repeats after 421, 503 and failed connections. Any other
    /// answer is the error, and so is the lack of an answer for longer than the patience
    /// ("stalled").
    base::Result<std::string> post(streaming::PartitionId partition, std::string_view target,
                                   const std::string& body);
    /// Tries once at one node, and returns any answer.
    base::Result<http::Response> ask(const Node& node, std::string_view target,
                                     const std::string* body,
                                     base::Duration timeout = base::Duration::seconds(3));
    uint64_t retries() const { return retries_; }
    /// Called before each repetition.
    void tend_with(std::function<void()> tend) { tend_ = std::move(tend); }

  private:
    struct Connection {
        std::string endpoint;
        base::Duration timeout;
        std::optional<http::Client> client;
    };
    const Routes& routes_;
    const base::Duration patience_;
    const Oracle& oracle_;
    std::function<void()> tend_ = [] {};
    std::map<const Node*, Connection> connections_;
    uint64_t retries_ = 0;
};

struct LoadOptions {
    uint64_t seed = 1;
    std::string bootstrap_servers;
    wire::Topics topics;
    base::TimePoint start;  // first event time
    double by_topic = 0;    // share of applications that are sent by topic
    size_t workers = 3;
    base::Duration pause = base::Duration::micros(40'000);  // for each worker, between batches
    base::Duration patience = base::Duration::seconds(90);  // until the load counts as stalled
    bool moves_time = true;  // has nodes join what they have, as event time needs it
};

/// A report in the form in which it is sent.
struct PlannedReport {
    domain::Outcome outcome;
    bool by_topic = false, early = false;  // early: before the application
    int copies = 1;
};

/// Makes the n-th batch: the same for a seed, whatever happens.
struct Batch {
    std::vector<domain::Application> by_http, by_topic;
    std::vector<PlannedReport> reports;
    /// Records that cannot be decoded, by topic; partition -1: that of the key.
    struct Poison {
        std::string topic;
        streaming::PartitionId partition;
        streaming::Record record;
    };
    std::vector<Poison> poison;
};
Batch plan_batch(const LoadOptions& options, const loan_stream::Stream& stream, int32_t partitions,
                 uint64_t number);

/// Sends batches with its own workers, each until all of it is acknowledged, and informs the
/// oracle.
class Load {
  public:
    Load(LoadOptions options, const loan_stream::Stream& stream, const Routes& routes,
         Oracle& oracle);
    ~Load();

    void resume();
    /// Returns when every started batch is complete.
    void pause();
    /// Runs until this number of batches is complete, at the pace of the answers; then pauses.
    void run_to(uint64_t batches);
    uint64_t whole_batches() const { return next_; }  // while paused
    uint64_t retries() const { return retries_; }

  private:
    void work();
    void send(uint64_t number, Asker& asker);
    void join_on(uint64_t number, Asker& asker);
    void send_applications(std::span<const domain::Application> applications, Asker& asker);
    void send_outcomes(std::span<const domain::Outcome> outcomes, Asker& asker);
    void append(const std::string& topic, std::span<const streaming::Record> records,
                std::optional<streaming::PartitionId> partition = std::nullopt);
    streaming::PartitionId home(const domain::DecisionId& id) const;

    const LoadOptions options_;
    const loan_stream::Stream& stream_;
    const Routes& routes_;
    Oracle& oracle_;
    std::unique_ptr<streaming_kafka::KafkaReader> kafka_reader_;
    std::unique_ptr<streaming_kafka::KafkaWriter> kafka_writer_;
    std::unique_ptr<authenticated_log::AuthenticatedLog> writer_;  // as a node of the group

    std::mutex mutex_;
    std::condition_variable changed_;
    bool running_ = false, ending_ = false;
    uint64_t limit_ = UINT64_MAX;
    size_t busy_ = 0;
    std::atomic<uint64_t> next_ = 0, retries_ = 0;
    std::vector<std::thread> workers_;
};

}  // namespace rampart::chaos
