#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "rampart/streaming/writer.hpp"
#include "rampart/streaming_kafka/settings.hpp"

namespace rampart::streaming_kafka {

inline constexpr size_t kMaxHeaders = 32;  // of one record

/// Appends to a Kafka cluster with an idempotent producer (acks=all): a record that append()
/// acknowledged is on all replicas in sync, once, and the records of one partition have the order
/// in which they were given, whatever was retried underneath.
///
/// append() returns when the broker has acknowledged every record, with their positions. There is
/// no lingering: what several threads append while a request is on its way goes with the next one.
/// At most writer_bytes are on their way; more is refused at once ("queue_full"), and so is
/// everything while the oldest record has been on its way for stall_limit ("broker_stalled"):
/// callers tell their own callers to come back later. Neither writes anything.
///
/// After "delivery_timeout" and the other errors of delivery, records may be in the log, or still
/// get there for about a delivery timeout: only who reads the log knows. A producer that met a
/// fatal error (the broker lost its state) is replaced with the next append.
///
/// A key goes to the partition that streaming::partition_of says, with the number of partitions
/// that the topic had at most ten seconds ago. An empty key or value is written as Kafka's null: in
/// a compacted topic, an empty value removes the key. A record's time goes into a header
/// ("rampart-time", i64 microseconds as in schemas/keys.md) which the reader takes out again, and
/// Kafka's own time is that of the writing: retention by age counts from there, and a broker
/// forgets producers, and with them to drop repeats, by it (ops/adr/0008). Thread safe; no append
/// may be under way when it is destroyed.
///
/// Errors beside those of Writer, nothing written: not_found "no_topic"; out_of_range
/// "record_too_large", "batch_too_large" (more than writer_bytes at once), "too_many_headers",
/// "bad_partition"; resource_exhausted "queue_full", "broker_stalled". Perhaps written: unavailable
/// "delivery_timeout", "no_broker", "producer_failed"; permission_denied as for the reader;
/// out_of_range "record_too_large" by the topic's own limit.
class KafkaWriter final : public streaming::Writer {
  public:
    static base::Result<std::unique_ptr<KafkaWriter>> open(const KafkaSettings& settings);
    ~KafkaWriter() override;

    base::Result<std::vector<streaming::Position>> append(
        std::string_view topic, std::span<const streaming::Record> records) override;
    base::Result<std::vector<streaming::Position>> append_to(
        std::string_view topic, streaming::PartitionId partition,
        std::span<const streaming::Record> records) override;

  private:
    struct Impl;
    explicit KafkaWriter(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::streaming_kafka
