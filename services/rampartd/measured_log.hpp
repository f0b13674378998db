#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>

#include "rampart/runtime/metrics.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/writer.hpp"

namespace rampart::rampartd {

/// A log with its times, sizes, failures and lags: passes every call on, and counts how it went.
/// Thread safe, if the log is.
class MeasuredLog final : public streaming::Reader, public streaming::Writer {
  public:
    /// Keeps references to both.
    MeasuredLog(const streaming::Reader& reader, streaming::Writer& writer);

    base::Result<int32_t> partitions(std::string_view topic) const override;
    base::Result<std::string> identity(std::string_view topic) const override;
    base::Result<std::vector<streaming::StoredRecord>> read(std::string_view topic,
                                                            streaming::PartitionId partition,
                                                            streaming::Offset from,
                                                            size_t limit) const override;
    base::Result<streaming::Offset> begin_offset(std::string_view topic,
                                                 streaming::PartitionId partition) const override;
    base::Result<streaming::Offset> end_offset(std::string_view topic,
                                               streaming::PartitionId partition) const override;
    std::vector<base::Result<streaming::Offset>> end_offsets(
        std::string_view topic, std::span<const streaming::PartitionId> partitions) const override;
    void prefetch(std::string_view topic,
                  std::span<const streaming::Position> from) const override {
        reader_.prefetch(topic, from);
    }
    void settle() const override { reader_.settle(); }
    base::Result<std::vector<streaming::Position>> append(
        std::string_view topic, std::span<const streaming::Record> records) override;
    std::vector<base::Result<streaming::Position>> append_each(
        std::string_view topic, std::span<const streaming::Record> records) override;
    base::Result<std::vector<streaming::Position>> append_to(
        std::string_view topic, streaming::PartitionId partition,
        std::span<const streaming::Record> records) override;

    /// Partitions with a lag of their own; the largest of the others counts for all of them.
    static constexpr int32_t kNamedPartitions = 256;
    /// Writes the metrics of the log. Never waits for it.
    void write(runtime::Samples& out) const;

  private:
    /// How far a partition was read, and where it then ended; -1: not known.
    struct Place {
        int64_t next = -1, end = -1;
    };
    struct Topic {
        std::shared_ptr<runtime::Histogram> append_seconds;
        uint64_t appended_records = 0, appended_bytes = 0, read_records = 0;
        std::map<int32_t, Place> places;
    };
    void failed(std::string_view topic, const char* operation, const base::Error& error) const;
    void note_append(std::string_view topic, uint64_t records, uint64_t bytes, double seconds);
    void write_lags(runtime::Samples& out, const std::string& name, const Topic& topic) const;

    const streaming::Reader& reader_;
    streaming::Writer& writer_;
    mutable runtime::Histogram ask_seconds_;
    mutable std::mutex mutex_;  // guards what follows; never held during a call
    mutable std::map<std::string, Topic, std::less<>> topics_;
    /// By topic, operation and reason.
    mutable std::map<std::tuple<std::string, std::string, std::string>, uint64_t> failures_;
};

}  // namespace rampart::rampartd
