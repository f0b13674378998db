#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/streaming/reader.hpp"
#include "rampart/streaming_kafka/settings.hpp"

namespace rampart::streaming_kafka {

inline constexpr size_t kMaxReadBytes = 8u << 20;  // read() stops after this size
inline constexpr size_t kMaxTopics = 1024;         // per reader or writer
inline constexpr size_t kPositions = 3;  // positions of a partition that are read side by side

/// Reads a Kafka cluster from offsets that the caller stores: no group, no subscription, no commit.
/// Returns committed records only (read_committed) and verifies checksums.
///
/// Each partition has cursors of its own, one for each position from which it is read, at most
/// kPositions. A cursor prefetches (bounded by reader_bytes_per_partition) as long as a caller
/// continues where it stopped; a read from elsewhere takes another one, and restarts the one that
/// was used least recently when there are no more. Partitions are independent, and so are
/// positions: each may be read by its own thread, and one that is no longer read only keeps its
/// buffer, which is not read after 15 s. A read at the end costs one round trip to the broker, one
/// with buffered records none.
///
/// identity() is cluster id and topic name. The client library does not expose a topic's own id, so
/// a deleted and recreated topic has the same identity: streaming::check_bookmark detects it by the
/// last record read. Cluster id and number of partitions are at most one second old.
///
/// Opening does not connect: while no broker answers, every call fails with unavailable, and
/// succeeds again once one does. Thread safe.
///
/// A record's time is the one in KafkaWriter's header or, for records of other writers, Kafka's
/// own, in milliseconds. An empty key or value also represents Kafka's null.
///
/// Fails as Reader does, and with not_found "no_topic"; out_of_range "bad_partition",
/// "too_many_topics"; unavailable "timeout", "no_broker", "offset_moved" (retry);
/// permission_denied "authentication_failed", "tls_failed", "not_authorized"; data_loss
/// "corrupt_log" (wrong checksum).
class KafkaReader final : public streaming::Reader {
  public:
    /// Fails: invalid_argument "bad_kafka_settings", "bad_tls"; permission_denied "secret_exposed".
    static base::Result<std::unique_ptr<KafkaReader>> open(const KafkaSettings& settings);
    ~KafkaReader() override;

    base::Result<int32_t> partitions(std::string_view topic) const override;
    base::Result<std::string> identity(std::string_view topic) const override;
    base::Result<std::vector<streaming::StoredRecord>> read(std::string_view topic,
                                                            streaming::PartitionId partition,
                                                            streaming::Offset from,
                                                            size_t limit) const override;
    base::Result<streaming::Offset> begin_offset(std::string_view topic,
                                                 streaming::PartitionId partition) const override;
    /// Returns the offset after the last committed record.
    base::Result<streaming::Offset> end_offset(std::string_view topic,
                                               streaming::PartitionId partition) const override;
    /// In one request to each broker.
    std::vector<base::Result<streaming::Offset>> end_offsets(
        std::string_view topic, std::span<const streaming::PartitionId> partitions) const override;
    /// For all partitions together: a start costs each some 100 ms.
    void prefetch(std::string_view topic, std::span<const streaming::Position> from) const override;

  private:
    struct Impl;
    explicit KafkaReader(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::streaming_kafka
