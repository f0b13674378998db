#include <fmt/format.h>

#include <array>
#include <memory>

#include "rampart/joiner/catch_up.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/storage/memory_budget.hpp"
#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "rampart/streaming_kafka/kafka_writer.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "tools/peers/stream/commands.hpp"
#include "tools/peers/stream/log_place.hpp"
#include "tools/peers/stream/stopwatch.hpp"
#include "tools/peers/stream/workload.hpp"

namespace rampart::peers {

namespace {

constexpr size_t kAppend = 5000;

base::Status fill(streaming::Writer& writer, const LogPlace& place, size_t count) {
    const std::array<std::pair<std::string, streaming::Record (*)(size_t)>, 2> topics{
        {{place.prefix + "decisions", decision_record},
         {place.prefix + "outcomes", outcome_record}}};
    for (const auto& [topic, make] : topics) {
        const std::string& name = topic;
        RAMPART_RETURN_IF_ERROR(in_batches(count, kAppend, make, [&](const auto& records) {
            return writer.append(name, records).map([](const auto&) {});
        }));
    }
    return base::ok();
}

}  // namespace

streaming_kafka::KafkaSettings kafka_settings(const LogPlace& place) {
    streaming_kafka::KafkaSettings settings;
    settings.bootstrap_servers = place.brokers;
    settings.delivery_timeout = base::Duration::seconds(60);
    settings.stall_limit = base::Duration::seconds(60);
    return settings;
}

base::Status make_topics(const LogPlace& place) {
    if (place.brokers.empty()) {
        RAMPART_TRY(const auto log, streaming_local::LocalLog::open(place.folder));
        for (const char* topic : {"decisions", "outcomes"}) {
            RAMPART_RETURN_IF_ERROR(
                log->create_topic(place.prefix + topic, {.partitions = place.partitions}));
        }
        return base::ok();
    }
    RAMPART_TRY(const auto admin, streaming_kafka::TopicAdmin::open(kafka_settings(place)));
    std::vector<streaming::TopicSpec> specs(2);
    specs[0].name = place.prefix + "decisions";
    specs[1].name = place.prefix + "outcomes";
    for (auto& spec : specs) spec.partitions = place.partitions;
    return admin->create(specs, 1).map([](const auto&) {});
}

base::Result<std::unique_ptr<joiner::OutcomeJoiner>> open_joiner(const LogPlace& place,
                                                                 const std::filesystem::path& store,
                                                                 const streaming::Reader& reader) {
    joiner::JoinerOptions options;
    options.product = product();
    options.decisions_topic = place.prefix + "decisions";
    options.outcomes_topic = place.prefix + "outcomes";
    options.partitions = place.partitions;
    RAMPART_TRY(options.memory, storage::MemoryBudget::create(512u << 20));  // rampartd's default
    return joiner::OutcomeJoiner::open(store, std::move(options), reader);
}

base::Status load(const LogPlace& place, size_t count) {
    RAMPART_RETURN_IF_ERROR(make_topics(place));
    if (place.brokers.empty()) {
        RAMPART_TRY(const auto log, streaming_local::LocalLog::open(place.folder));
        RAMPART_RETURN_IF_ERROR(fill(*log, place, count));
    } else {
        RAMPART_TRY(const auto writer, streaming_kafka::KafkaWriter::open(kafka_settings(place)));
        RAMPART_RETURN_IF_ERROR(fill(*writer, place, count));
    }
    fmt::print("{{\"records\": {}}}\n", 2 * count);
    return base::ok();
}

base::Status join(const LogPlace& place, const std::filesystem::path& store) {
    std::unique_ptr<streaming::Reader> reader;
    if (place.brokers.empty()) {
        RAMPART_TRY(reader, streaming_local::LocalLog::open(place.folder));
    } else {
        RAMPART_TRY(reader, streaming_kafka::KafkaReader::open(kafka_settings(place)));
    }
    RAMPART_TRY(const auto joiner, open_joiner(place, store, *reader));
    const Stopwatch watch;
    RAMPART_TRY(const auto caught_up, joiner::catch_up(*joiner));
    const double seconds = watch.seconds(), cpu_seconds = watch.cpu_seconds();
    RAMPART_RETURN_IF_ERROR(joiner::nothing_stopped(caught_up.stopped));
    const auto counts = joiner->counts();
    fmt::print(
        "{{\"records\": {}, \"seconds\": {}, \"cpu_seconds\": {}, \"decisions\": {}, "
        "\"outcomes\": {}}}\n",
        caught_up.records, seconds, cpu_seconds, counts.decisions, counts.outcomes);
    return base::ok();
}

}  // namespace rampart::peers
