#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "rampart/streaming/record.hpp"

struct rd_kafka_s;

namespace rampart::chaos {

/// Reads a Kafka topic with librdkafka alone, without code of the product, so that a fault of the
/// product's reader cannot hide itself. Not thread safe.
class RawLog {
  public:
    RawLog(const std::string& bootstrap_servers, std::string topic);
    ~RawLog();
    RawLog(const RawLog&) = delete;
    RawLog& operator=(const RawLog&) = delete;

    /// Returns all records from `from` to the current end. Throws std::runtime_error if the broker
    /// does not answer in time.
    std::vector<streaming::StoredRecord> read(
        streaming::PartitionId partition, streaming::Offset from,
        std::chrono::milliseconds limit = std::chrono::seconds(60));

  private:
    std::string topic_;
    rd_kafka_s* handle_;
};

}  // namespace rampart::chaos
