#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/streaming/reader.hpp"
#include "rampart/streaming_kafka/settings.hpp"

namespace rampart::streaming_kafka {

inline constexpr size_t kMaxReadBytes = 8u << 20;  // read() stops after as many
inline constexpr size_t kMaxTopics = 1024;         // that one reader or writer is asked about

/// Reads a Kafka cluster from offsets that the caller keeps: no group, no subscription, no commit.
/// Only committed records are seen (read_committed), and checksums are verified.
///
/// Each partition that is read has a cursor of its own, which fetches ahead (bounded by
/// reader_bytes_per_partition) for as long as the caller goes on where it left off; from another
/// offset it starts anew. Partitions do not wait for one another: each may be read by a thread of
/// its own, and one that is not read any more holds its bytes, and nothing else. A read at the end
/// costs one round trip to the broker, one with records at hand none.
///
/// identity() is cluster id and topic name. The client library does not tell a topic's own id, so a
/// topic that was deleted and made anew has the same identity: streaming::check_bookmark finds it,
/// by what was read. Cluster id and number of partitions are at most one second old.
///
/// Opening does not connect: while no broker answers, everything is unavailable, and works again
/// once one does. Thread safe.
///
/// A record's time is the one that KafkaWriter put into a header, or where somebody else wrote it,
/// Kafka's own, in milliseconds. An empty key or value stands for Kafka's null as well.
///
/// Errors beside those of Reader: not_found "no_topic"; out_of_range "bad_partition",
/// "too_many_topics"; unavailable "timeout", "no_broker", "offset_moved" (retry);
/// permission_denied "authentication_failed", "tls_failed", "not_authorized"; data_loss
/// "corrupt_log" (a checksum does not fit).
class KafkaReader final : public streaming::Reader {
  public:
    /// invalid_argument "bad_kafka_settings", "bad_tls"; permission_denied "secret_exposed".
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
    /// Behind the last committed record.
    base::Result<streaming::Offset> end_offset(std::string_view topic,
                                               streaming::PartitionId partition) const override;

  private:
    struct Impl;
    explicit KafkaReader(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::streaming_kafka
