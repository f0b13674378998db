#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "rampart/streaming/writer.hpp"
#include "rampart/streaming_kafka/settings.hpp"

namespace rampart::streaming_kafka {

inline constexpr size_t kMaxHeaders = 32;  // per record

/// Appends to a Kafka cluster with idempotent producers (acks=all), of which each writes a share of
/// the partitions: an acknowledged record is on all in-sync replicas exactly once, and the records
/// of one partition have the order in which they were given, whatever was retried internally.
///
/// append() returns when the broker has acknowledged every record, with their positions. There is
/// no lingering: records that other threads append during a request go with the next one. At most
/// writer_bytes are in flight; more is refused at once ("queue_full"), and so is what is for a
/// partition whose oldest record has been in flight for stall_limit ("broker_stalled"): callers
/// should ask their clients to retry later. Both errors write nothing.
///
/// Partitions do not wait for each other: one without a leader fails its records in less than a
/// second ("no_leader"; up to three where those of several producers have none), append_each()
/// waits for stall_limit at most, and what either gave up keeps the partition refused, and no
/// other, until the broker has reported on it.
///
/// After "delivery_timeout", "no_leader" and other delivery errors, records may be in the log, or
/// still arrive for about a delivery timeout: only reading the log shows it. A producer with a
/// fatal error (the broker lost its state) is replaced by the next append.
///
/// A key goes to the partition of streaming::partition_of, with the topic's number of partitions
/// as of at most ten seconds ago. An empty key or value is written as Kafka's null: in a
/// compacted topic, an empty value removes the key. A record's time is stored in a header
/// ("rampart-time", i64 microseconds as in schemas/keys.md), which the reader removes; Kafka's
/// own time is that of the writing: retention by age counts from it, and a broker uses it to
/// expire producer state, which deduplication needs (ops/adr/0008). Thread safe; no append may be
/// running during destruction.
///
/// Fails as Writer does, and, with nothing written, with not_found "no_topic"; out_of_range
/// "record_too_large", "batch_too_large" (more than writer_bytes at once), "too_many_headers",
/// "bad_partition"; resource_exhausted "queue_full", "broker_stalled". Possibly written:
/// unavailable "delivery_timeout", "no_leader", "no_broker", "producer_failed"; permission_denied
/// as for the reader; out_of_range "record_too_large" by the topic's own limit.
class KafkaWriter final : public streaming::Writer {
  public:
    static base::Result<std::unique_ptr<KafkaWriter>> open(const KafkaSettings& settings);
    ~KafkaWriter() override;

    base::Result<std::vector<streaming::Position>> append(
        std::string_view topic, std::span<const streaming::Record> records) override;
    std::vector<base::Result<streaming::Position>> append_each(
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
