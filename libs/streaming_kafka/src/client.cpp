#include "client.hpp"

#include <algorithm>
#include <array>

#include "conf.hpp"
#include "rampart/base/log.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/base/thread_name.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "rampart/streaming_kafka/reasons.hpp"

namespace rampart::streaming_kafka {
namespace {

using base::Result;
using namespace std::chrono_literals;

constexpr base::Logger kLog("streaming_kafka");
constexpr size_t kMaxTopicBytes = 249;  // Kafka's own limit
constexpr Span kRetryPause = 50ms;
// A query to a leader that does not answer is interrupted to see whether there is one: first after
// this time, then after twice as long.
constexpr Span kFirstWait = 1s;

/// Logs by syslog level. The library writes no credentials without its debug options, which are
/// never set.
void on_log(const rd_kafka_t*, int level, const char* facility, const char* text) {
    if (level <= 3) {
        kLog.error("{}: {}", facility, text);
    } else if (level <= 4) {
        kLog.warning("{}: {}", facility, text);
    } else if (level <= 6) {
        kLog.info("{}: {}", facility, text);
    } else {
        kLog.debug("{}: {}", facility, text);
    }
}

bool explains_a_timeout(rd_kafka_resp_err_t error) {
    return error == RD_KAFKA_RESP_ERR__AUTHENTICATION || error == RD_KAFKA_RESP_ERR__SSL ||
           error == RD_KAFKA_RESP_ERR__RESOLVE || error == RD_KAFKA_RESP_ERR__TRANSPORT;
}

/// Returns whether the connection itself was refused (login or TLS), which an unreachable second
/// broker must not hide.
bool is_refusal(rd_kafka_resp_err_t error) {
    return error == RD_KAFKA_RESP_ERR__AUTHENTICATION || error == RD_KAFKA_RESP_ERR__SSL;
}

base::Status check_name(std::string_view topic) {
    constexpr std::string_view kAllowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    if (!topic.empty() && topic.size() <= kMaxTopicBytes && topic != "." && topic != ".." &&
        topic.find_first_not_of(kAllowed) == std::string_view::npos) {
        return base::ok();
    }
    return base::make_error(streaming::Reason::kBadTopic,
                            "'{}' is not a topic name; 1 to {} of [A-Za-z0-9._-] are",
                            topic.substr(0, kMaxTopicBytes), kMaxTopicBytes);
}

Client::TopicState state_of(const rd_kafka_metadata_topic_t& topic, std::string cluster_id) {
    Client::TopicState state;
    state.partitions = topic.partition_cnt;
    state.cluster_id = std::move(cluster_id);
    for (int i = 0; i < topic.partition_cnt; ++i) {
        const auto& partition = topic.partitions[i];
        if (partition.leader >= 0) {
            ++state.leaders;
            state.led_by.insert(partition.leader);
        } else {
            state.leaderless.insert(partition.id);
        }
        state.replicas =
            i == 0 ? partition.replica_cnt : std::min(state.replicas, partition.replica_cnt);
    }
    return state;
}

}  // namespace

int millis_until(Instant deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now());
    return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 3'600'000));
}

Result<std::unique_ptr<Client>> Client::open(const KafkaSettings& settings, Kind kind,
                                             OnDelivery on_delivery) {
    RAMPART_TRY(Conf conf,
                kind == Kind::kConsumer ? consumer_conf(settings) : producer_conf(settings));
    std::unique_ptr<Client> client(new Client(settings));
    rd_kafka_conf_set_opaque(conf.get(), client.get());
    rd_kafka_conf_set_log_cb(conf.get(), on_log);
    rd_kafka_conf_set_error_cb(conf.get(), on_error);
    if (on_delivery != nullptr) rd_kafka_conf_set_dr_msg_cb(conf.get(), on_delivery);
    std::array<char, 512> why{};
    const auto type = kind == Kind::kConsumer ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER;
    client->handle_.reset(rd_kafka_new(type, conf.get(), why.data(), why.size()));
    if (!client->handle_) {
        return base::make_error(Reason::kBadKafkaSettings, "Kafka at {}: {}",
                                settings.bootstrap_servers, why.data());
    }
    (void)conf.release();  // now owned by the handle
    client->thread_ = std::thread([raw = client.get(), kind] {
        base::name_this_thread(kind == Kind::kConsumer ? "kafka-read" : "kafka-write");
        raw->serve();
    });
    return client;
}

Client::~Client() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    closing_changed_.notify_all();
    if (thread_.joinable()) {
        const Queue queue(rd_kafka_queue_get_main(handle_.get()));
        rd_kafka_queue_yield(queue.get());
        thread_.join();
    }
    topics_.clear();
}

void Client::serve() {
    for (;;) {
        rd_kafka_poll(handle_.get(), 100);
        const std::lock_guard lock(mutex_);
        if (closing_) return;
    }
}

void Client::on_error(rd_kafka_t* handle, int code, const char* reason, void* opaque) {
    auto* client = static_cast<Client*>(opaque);
    auto error = static_cast<rd_kafka_resp_err_t>(code);
    if (error == RD_KAFKA_RESP_ERR__FATAL) {
        std::array<char, 512> why{};
        error = rd_kafka_fatal_error(handle, why.data(), why.size());
        kLog.error("the producer failed for good and will be replaced: {}: {}",
                   rd_kafka_err2name(error), why.data());
        client->failed_ = true;
        // pending records get their report at once instead of at their timeout
        rd_kafka_purge(handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT |
                                   RD_KAFKA_PURGE_F_NON_BLOCKING);
        return;
    }
    if (!explains_a_timeout(error)) return;  // the library logs its reports
    // a handshake that the other side closed
    const bool tls = std::string_view(reason).find("SSL routines") != std::string_view::npos;
    if (tls) error = RD_KAFKA_RESP_ERR__SSL;
    const std::lock_guard lock(client->mutex_);
    auto& last = client->trouble_;
    if (!last || !is_refusal(last->error) || is_refusal(error)) last = {error, reason};
}

void Client::pause(Span span) {
    std::unique_lock lock(mutex_);
    closing_changed_.wait_for(lock, span, [this] { return closing_; });
}

base::Error Client::error(rd_kafka_resp_err_t error, std::string_view what) const {
    const auto meant = to_error(error, what);
    if (meant.is(base::Reason::kTimeout) || meant.is(Reason::kNoBroker) ||
        meant.is(Reason::kDeliveryTimeout)) {
        const std::lock_guard lock(mutex_);
        if (trouble_) return to_error(trouble_->error, what, trouble_->reason);
    }
    return meant;
}

void Client::succeeded() {
    const std::lock_guard lock(mutex_);
    trouble_.reset();
}

Result<rd_kafka_topic_t*> Client::topic(std::string_view name) {
    const std::lock_guard lock(mutex_);
    if (const auto found = topics_.find(name); found != topics_.end()) return found->second.get();
    RAMPART_RETURN_IF_ERROR(check_name(name));
    if (topics_.size() >= kMaxTopics) {
        return base::make_error(Reason::kTooManyTopics, "topic '{}' would be number {}; at most {}",
                                name, topics_.size() + 1, kMaxTopics);
    }
    std::string owned(name);
    TopicHandle topic(rd_kafka_topic_new(handle_.get(), owned.c_str(), nullptr));
    if (!topic) return to_error(rd_kafka_last_error(), fmt::format("topic '{}'", name));
    return topics_.emplace(std::move(owned), std::move(topic)).first->second.get();
}

Result<Client::TopicState> Client::describe(std::string_view name, std::optional<Instant> until) {
    RAMPART_TRY(rd_kafka_topic_t * topic, this->topic(name));
    const std::string what = fmt::format("topic '{}'", name);
    const Instant deadline = until.value_or(now() + to_chrono(settings_.request_timeout));
    for (;;) {
        const rd_kafka_metadata_t* raw = nullptr;
        auto failure = rd_kafka_metadata(handle_.get(), 0, topic, &raw, millis_until(deadline));
        const MetadataHandle metadata(raw);
        if (failure == RD_KAFKA_RESP_ERR_NO_ERROR) {
            succeeded();
            if (metadata->topic_cnt != 1) {
                return base::make_error(Reason::kBadMetadata, "{}: Kafka described {} topics", what,
                                        metadata->topic_cnt);
            }
            failure = metadata->topics[0].err;
        }
        if (failure == RD_KAFKA_RESP_ERR_NO_ERROR) {
            char* id = rd_kafka_clusterid(handle_.get(), 0);  // as reported by the last response
            auto state = state_of(metadata->topics[0], id == nullptr ? "" : id);
            if (id != nullptr) rd_kafka_mem_free(handle_.get(), id);
            return state;
        }
        if (!meaning_of(failure).retry || now() + kRetryPause >= deadline) {
            return error(failure, what);
        }
        pause(kRetryPause);
    }
}

Result<int64_t> Client::begin_offset(const std::string& topic, int32_t partition) {
    return offset_at(topic, partition, RD_KAFKA_OFFSET_BEGINNING);
}

Result<int64_t> Client::end_offset(const std::string& topic, int32_t partition) {
    return offset_at(topic, partition, RD_KAFKA_OFFSET_END);
}

std::map<int32_t, int64_t> Client::end_offsets(const std::string& topic,
                                               std::span<const int32_t> partitions) {
    const PartitionList list(
        rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
    for (const int32_t partition : partitions) {
        rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset =
            RD_KAFKA_OFFSET_END;
    }
    const Instant deadline =
        now() + std::min<Span>(kFirstWait, to_chrono(settings_.request_timeout));
    std::map<int32_t, int64_t> ends;
    if (rd_kafka_offsets_for_times(handle_.get(), list.get(), millis_until(deadline)) !=
        RD_KAFKA_RESP_ERR_NO_ERROR) {
        return ends;
    }
    for (int i = 0; i < list->cnt; ++i) {
        const auto& one = list->elems[i];
        if (one.err == RD_KAFKA_RESP_ERR_NO_ERROR) ends.emplace(one.partition, one.offset);
    }
    if (!ends.empty()) succeeded();
    return ends;
}

/// Returns the error for a partition that the library does not know: after a broker's restart its
/// metadata may be outdated, so the cluster is queried.
base::Error Client::unknown_partition(const std::string& topic, int32_t partition,
                                      rd_kafka_resp_err_t failure) {
    const std::string what = fmt::format("topic '{}', partition {}", topic, partition);
    const auto state = describe(topic);
    if (!state) return state.error();
    if (partition >= state->partitions) return to_error(failure, what);
    return base::make_error(Reason::kBrokerError, "{}: {}, though the cluster has it; retry", what,
                            rd_kafka_err2str(failure));
}

base::Error Client::no_leader(std::string_view topic, int32_t partition) {
    return base::make_error(Reason::kNoLeader,
                            "topic '{}', partition {} has no leader; bring a replica of it back",
                            topic, partition);
}

/// Sends one request to the leader; the library's own function for both ends sends two.
Result<int64_t> Client::offset_at(const std::string& topic, int32_t partition, int64_t which) {
    const Instant deadline = now() + to_chrono(settings_.request_timeout);
    for (Span wait = kFirstWait;; wait *= 2) {
        const PartitionList list(rd_kafka_topic_partition_list_new(1));
        auto* asked = rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition);
        asked->offset = which;
        auto failure = rd_kafka_offsets_for_times(handle_.get(), list.get(),
                                                  millis_until(std::min(deadline, now() + wait)));
        if (failure == RD_KAFKA_RESP_ERR_NO_ERROR) failure = list->elems[0].err;
        if (failure == RD_KAFKA_RESP_ERR_NO_ERROR) {
            succeeded();
            return list->elems[0].offset;
        }
        const auto meaning = meaning_of(failure);
        // the library may also call a partition unknown whose leader is gone
        const bool unknown = meaning.reason->code == base::ErrorCode::kNotFound;
        if (meaning.retry || unknown) {
            const auto state = describe(topic, std::min(deadline, now() + kFirstWait));
            if (state && state->leaderless.contains(partition)) return no_leader(topic, partition);
        }
        const auto why =
            unknown ? unknown_partition(topic, partition, failure)
                    : error(failure, fmt::format("topic '{}', partition {}", topic, partition));
        const bool again = meaning.retry || (unknown && why.code == base::ErrorCode::kUnavailable);
        if (!again || now() + kRetryPause >= deadline) return why;
        pause(kRetryPause);
    }
}

}  // namespace rampart::streaming_kafka
