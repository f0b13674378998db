// A consumer that counts events, not idempotently, and keeps its position in one of several ways:
// the right one, and wrong ones that lose events or count them twice when they are killed. Also a
// writer of decisions that acknowledges what it appended, with or without reading it back.
#include <fmt/format.h>
#include <librdkafka/rdkafka.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>

#include "fault/chaos/oracle.hpp"
#include "fault/wrong/events.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/streaming_kafka/kafka_writer.hpp"
#include "rampart/wire/fence.hpp"
#include "rampart/wire/record_codec.hpp"

namespace rampart::wrong {
namespace {

using storage::ColumnFamily;
constexpr ColumnFamily kCounts{0}, kOffsets{1};
constexpr size_t kBatch = 40;
constexpr int kPartitions = 2;

template <class T>
T must(base::Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(*result);
}
void must(const base::Status& status) {
    if (!status) throw std::runtime_error(status.error().message);
}

struct Arguments {
    std::string variant, bootstrap, topic, group, store;
};

class Consumer {
  public:
    explicit Consumer(const Arguments& arguments)
        : variant_(arguments.variant),
          topic_(arguments.topic),
          database_(must(storage::Database::open(arguments.store, event_families()))) {
        open(arguments);
        if (by_group())
            subscribe();
        else
            assign_all();
        fmt::print("started\n");
        std::fflush(stdout);
    }

    [[noreturn]] void run() {
        while (true) {
            Changes changes;
            while (changes.events < kBatch && poll(changes)) {
            }
            if (changes.events > 0) store(changes);
            if (at_end_.size() == assigned_ && assigned_ > 0) {
                fmt::print("at end {}\n", stored_);
                std::fflush(stdout);
                at_end_.clear();
            }
        }
    }

  private:
    struct Changes {
        size_t events = 0;
        std::map<std::string, uint64_t> counts;  // the state after this write
        std::map<int32_t, int64_t> next;
    };

    bool by_group() const { return variant_ == "auto-commit" || variant_ == "subscribe"; }

    void open(const Arguments& arguments) {
        std::array<char, 512> why{};
        rd_kafka_conf_t* conf = rd_kafka_conf_new();
        for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::string>>{
                 {"bootstrap.servers", arguments.bootstrap},
                 {"group.id", arguments.group},
                 {"enable.auto.commit", variant_ == "auto-commit" ? "true" : "false"},
                 {"auto.commit.interval.ms", "200"},
                 {"auto.offset.reset", "earliest"},
                 {"session.timeout.ms", "6000"},
                 {"heartbeat.interval.ms", "500"},
                 {"fetch.wait.max.ms", "20"},
                 {"enable.partition.eof", "true"}}) {
            rd_kafka_conf_set(conf, name, value.c_str(), why.data(), why.size());
        }
        // comes back as the same member: otherwise a group waits for 6 s, in which no kill has an
        // effect
        if (variant_ == "auto-commit") {
            rd_kafka_conf_set(conf, "group.instance.id", "one", why.data(), why.size());
        }
        rd_kafka_conf_set_opaque(conf, this);
        if (by_group()) rd_kafka_conf_set_rebalance_cb(conf, &Consumer::rebalance);
        handle_ = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why.data(), why.size());
        if (handle_ == nullptr) throw std::runtime_error(why.data());
        rd_kafka_poll_set_consumer(handle_);
    }

    void subscribe() {
        auto* list = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(list, topic_.c_str(), RD_KAFKA_PARTITION_UA);
        rd_kafka_subscribe(handle_, list);
        rd_kafka_topic_partition_list_destroy(list);
    }

    void assign_all() {
        auto* list = rd_kafka_topic_partition_list_new(kPartitions);
        for (int32_t p = 0; p < kPartitions; ++p) {
            rd_kafka_topic_partition_list_add(list, topic_.c_str(), p)->offset = next_of(p);
        }
        rd_kafka_assign(handle_, list);
        rd_kafka_topic_partition_list_destroy(list);
        assigned_ = kPartitions;
    }

    static void rebalance(rd_kafka_t* handle, rd_kafka_resp_err_t what,
                          rd_kafka_topic_partition_list_t* list, void* opaque) {
        auto* self = static_cast<Consumer*>(opaque);
        self->at_end_.clear();
        if (what != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
            self->assigned_ = 0;
            rd_kafka_assign(handle, nullptr);
            return;
        }
        if (self->variant_ == "subscribe") {  // continues at the position of this node's own store
            for (int i = 0; i < list->cnt; ++i) {
                list->elems[i].offset = self->next_of(list->elems[i].partition);
            }
        }
        self->assigned_ = static_cast<size_t>(list->cnt);
        rd_kafka_assign(handle, list);
    }

    int64_t next_of(int32_t partition) const {
        const auto value = must(database_->get(kOffsets, std::to_string(partition)));
        return value ? std::stoll(*value) : 0;
    }

    bool poll(Changes& changes) {
        const std::unique_ptr<rd_kafka_message_t, decltype(&rd_kafka_message_destroy)> message(
            rd_kafka_consumer_poll(handle_, 20), rd_kafka_message_destroy);
        if (!message) return false;
        if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            at_end_[message->partition] = true;
            return false;
        }
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) return false;
        const std::string key(static_cast<const char*>(message->key), message->key_len);
        auto [it, first] = changes.counts.emplace(key, 0);
        if (first) {
            const auto stored = must(database_->get(kCounts, key));
            it->second = stored ? std::stoull(*stored) : 0;
        }
        ++it->second;
        ++changes.events;
        changes.next[message->partition] = message->offset + 1;
        return true;
    }

    void store(const Changes& changes) {
        storage::WriteBatch counts, offsets;
        for (const auto& [key, count] : changes.counts) {
            counts.put(kCounts, key, std::to_string(count));
        }
        for (const auto& [p, next] : changes.next) {
            const bool together = variant_ == "together" || variant_ == "subscribe";
            (together ? counts : offsets).put(kOffsets, std::to_string(p), std::to_string(next));
        }
        if (variant_ == "auto-commit") offsets.clear();
        const bool offsets_first = variant_ == "offsets-first";
        must(database_->write(offsets_first ? offsets : counts, storage::Sync::kAlways));
        const auto& second = offsets_first ? counts : offsets;
        if (!second.empty()) {
            ::usleep(5000);  // as on a slow disk, so that kills hit the gap
            must(database_->write(second, storage::Sync::kAlways));
        }
        if (stored_ == 0) {
            fmt::print("consuming\n");
            std::fflush(stdout);
        }
        stored_ += changes.events;
    }

    const std::string variant_, topic_;
    std::unique_ptr<storage::Database> database_;
    rd_kafka_t* handle_ = nullptr;
    size_t assigned_ = 0;
    std::map<int32_t, bool> at_end_;
    uint64_t stored_ = 0;
};

/// Decides the requests in its file, under an epoch, for the only partition of a topic. "read-back"
/// acknowledges a decision that it has found in the log with no later fence before it;
/// "append-only" one that the broker has acknowledged.
[[noreturn]] void write_decisions(const Arguments& arguments) {
    const uint64_t epoch = std::stoull(arguments.group);
    streaming_kafka::KafkaSettings settings;
    settings.bootstrap_servers = arguments.bootstrap;
    const auto writer = must(streaming_kafka::KafkaWriter::open(settings));
    const auto fence = wire::fence_record(epoch, "writer", base::TimePoint());
    must(writer->append_to(arguments.topic, streaming::PartitionId(0), {&fence, 1}));
    fmt::print("started\n");
    std::fflush(stdout);
    chaos::DecisionLog log(arguments.bootstrap, arguments.topic, 1);
    std::ifstream requests(arguments.store);
    std::string id;
    while (true) {
        if (!std::getline(requests, id)) {
            requests.clear();
            ::usleep(2000);
            continue;
        }
        const auto decision = decision_on(id, epoch);
        const auto record = wire::to_record(decision, epoch);
        if (!writer->append(arguments.topic, {&record, 1})) continue;
        if (arguments.variant == "read-back") {
            log.refresh();
            const auto found = log.decisions().find(decision.id.value());
            if (found == log.decisions().end() || found->second.bytes != record.value) continue;
        }
        fmt::print("acknowledged {}\n", id);
        std::fflush(stdout);
    }
}

}  // namespace
}  // namespace rampart::wrong

int main(int argc, char** argv) {
    using namespace rampart::wrong;
    if (argc != 6) {
        fmt::print(stderr, "usage: {} VARIANT BOOTSTRAP TOPIC GROUP STORE\n", argv[0]);
        return 2;
    }
    try {
        const Arguments arguments{argv[1], argv[2], argv[3], argv[4], argv[5]};
        if (arguments.variant == "read-back" || arguments.variant == "append-only") {
            write_decisions(arguments);
        }
        Consumer(arguments).run();
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
