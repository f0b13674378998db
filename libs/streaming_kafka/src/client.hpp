#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "errors.hpp"
#include "handles.hpp"
#include "rampart/base/result.hpp"
#include "rampart/streaming_kafka/settings.hpp"

namespace rampart::streaming_kafka {

using Instant = std::chrono::steady_clock::time_point;
using Span = std::chrono::steady_clock::duration;

inline Instant now() { return std::chrono::steady_clock::now(); }
inline std::chrono::milliseconds to_chrono(base::Duration duration) {
    return std::chrono::milliseconds(duration.micros() / 1000);
}
/// Returns the milliseconds left, at least 0, for the library's timeouts.
int millis_until(Instant deadline);

/// One instance of the client library, with the thread that runs its callbacks: shared code of
/// readers, writers and the admin. Thread safe.
///
/// The library reports why it cannot connect (a refused password, a bad certificate) separately
/// from requests, which just time out, and only a few times. The client keeps the last such report
/// until a request succeeds, and a request that times out fails with it.
class Client {
  public:
    enum class Kind { kConsumer, kProducer };
    using OnDelivery = void (*)(rd_kafka_t*, const rd_kafka_message_t*, void*);

    static base::Result<std::unique_ptr<Client>> open(const KafkaSettings& settings, Kind kind,
                                                      OnDelivery on_delivery = nullptr);
    ~Client();

    rd_kafka_t* handle() const { return handle_.get(); }
    const KafkaSettings& settings() const { return settings_; }

    /// Returns the local handle of a topic, created on first use. Fails with invalid_argument
    /// "bad_topic"; out_of_range "too_many_topics".
    base::Result<rd_kafka_topic_t*> topic(std::string_view name);

    struct TopicState {
        int32_t partitions = 0;
        int32_t leaders = 0;  // number of partitions that have a leader
        std::set<int32_t> leaderless;
        int32_t replicas = 0;      // smallest number over the partitions
        std::set<int32_t> led_by;  // brokers
        std::string cluster_id;
    };
    /// Queries the cluster, at most until `deadline` (nullopt: for request_timeout). Fails with
    /// not_found "no_topic".
    base::Result<TopicState> describe(std::string_view topic,
                                      std::optional<Instant> deadline = std::nullopt);

    /// Queries the leader for the begin or the end of a partition (of committed records). Fails
    /// with unavailable "no_leader" soon, and not only after request_timeout.
    base::Result<int64_t> begin_offset(const std::string& topic, int32_t partition);
    base::Result<int64_t> end_offset(const std::string& topic, int32_t partition);
    /// Queries the ends of several partitions, with one request to each leader. Leaves out what
    /// cannot be said soon.
    std::map<int32_t, int64_t> end_offsets(const std::string& topic,
                                           std::span<const int32_t> partitions);

    /// Returns unavailable "no_leader".
    static base::Error no_leader(std::string_view topic, int32_t partition);
    /// Converts an error; a timeout is explained by the known state of the connections.
    base::Error error(rd_kafka_resp_err_t error, std::string_view what) const;
    /// Clears the last connection error; call it when a request succeeded.
    void succeeded();
    /// Waits, unless the client is being closed.
    void pause(Span span);
    /// Returns whether a fatal error occurred: the instance cannot be used any more.
    bool failed() const { return failed_; }

  private:
    explicit Client(const KafkaSettings& settings) : settings_(settings) {}
    static void on_error(rd_kafka_t*, int error, const char* reason, void* opaque);
    base::Error unknown_partition(const std::string& topic, int32_t partition,
                                  rd_kafka_resp_err_t failure);
    base::Result<int64_t> offset_at(const std::string& topic, int32_t partition, int64_t which);
    void serve();

    const KafkaSettings settings_;
    mutable std::mutex mutex_;
    std::condition_variable closing_changed_;
    bool closing_ = false;
    std::atomic<bool> failed_ = false;
    struct Trouble {
        rd_kafka_resp_err_t error;
        std::string reason;
    };
    std::optional<Trouble> trouble_;
    Handle handle_;
    std::map<std::string, TopicHandle, std::less<>> topics_;  // destroyed before the client handle
    std::thread thread_;
};

}  // namespace rampart::streaming_kafka
