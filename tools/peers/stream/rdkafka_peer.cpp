// librdkafka alone: assigns every partition of the topics from their beginning and consumes the
// given number of records without processing them. Settings are the library's defaults, except for
// commits, which are switched off.
//
// usage: peer_stream_rdkafka BROKERS RECORDS PARTITIONS TOPIC...
#include <librdkafka/rdkafka.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "tools/peers/stream/stopwatch.hpp"

namespace {

struct Destroy {
    void operator()(rd_kafka_t* handle) const { rd_kafka_destroy(handle); }
    void operator()(rd_kafka_topic_partition_list_t* list) const {
        rd_kafka_topic_partition_list_destroy(list);
    }
};

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "peer_stream_rdkafka: %s\n", what);
    std::exit(1);
}

std::unique_ptr<rd_kafka_t, Destroy> consumer(const char* brokers) {
    char why[512] = "";
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    const auto set = [&](const char* name, const char* value) {
        if (rd_kafka_conf_set(conf, name, value, why, sizeof why) != RD_KAFKA_CONF_OK) fail(why);
    };
    set("bootstrap.servers", brokers);
    set("group.id", "peer");  // required by the library; the group has no members
    set("enable.auto.commit", "false");
    std::unique_ptr<rd_kafka_t, Destroy> handle(
        rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why));
    if (!handle) fail(why);
    rd_kafka_poll_set_consumer(handle.get());
    return handle;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) fail("usage: peer_stream_rdkafka BROKERS RECORDS PARTITIONS TOPIC...");
    const long wanted = std::atol(argv[2]), partitions = std::atol(argv[3]);
    const rampart::peers::Stopwatch watch;
    const auto handle = consumer(argv[1]);
    const std::unique_ptr<rd_kafka_topic_partition_list_t, Destroy> list(
        rd_kafka_topic_partition_list_new(16));
    for (int t = 4; t < argc; ++t) {
        for (int p = 0; p < partitions; ++p) {
            rd_kafka_topic_partition_list_add(list.get(), argv[t], p)->offset = 0;
        }
    }
    if (rd_kafka_assign(handle.get(), list.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) fail("assign");
    long records = 0;
    size_t bytes = 0;
    while (records < wanted) {
        rd_kafka_message_t* message = rd_kafka_consumer_poll(handle.get(), 10'000);
        if (message == nullptr) fail("no record for ten seconds");
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) fail(rd_kafka_message_errstr(message));
        bytes += message->key_len + message->len;
        ++records;
        rd_kafka_message_destroy(message);
    }
    std::printf("{\"records\": %ld, \"seconds\": %.6f, \"cpu_seconds\": %.6f, \"bytes\": %zu}\n",
                records, watch.seconds(), watch.cpu_seconds(), bytes);
    return 0;
}
