#pragma once

#include <fmt/format.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "rampart/streaming/partitioner.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/writer.hpp"

namespace rampart::support {

/// A log in memory whose identity, offsets and partitions a test can change. For one thread.
class MemoryLog final : public streaming::Reader, public streaming::Writer {
  public:
    struct Topic {
        std::string identity = "1";
        std::vector<std::vector<streaming::StoredRecord>> partitions;
        std::map<streaming::PartitionId, int64_t> begin;  // deleted by retention
        base::Error failure;  // read() fails with it, if it has a reason
    };

    void create(const std::string& name, int32_t partitions) {
        topics[name].partitions.resize(static_cast<size_t>(partitions));
    }

    base::Result<int32_t> partitions(std::string_view topic) const override {
        RAMPART_TRY(const Topic* found, find(topic));
        return static_cast<int32_t>(found->partitions.size());
    }
    base::Result<std::string> identity(std::string_view topic) const override {
        RAMPART_TRY(const Topic* found, find(topic));
        return found->identity;
    }
    base::Result<std::vector<streaming::StoredRecord>> read(std::string_view topic,
                                                            streaming::PartitionId partition,
                                                            streaming::Offset from,
                                                            size_t limit) const override {
        RAMPART_TRY(const Topic* found, find(topic));
        if (!found->failure.reason.empty()) return found->failure;
        const auto& records = found->partitions.at(static_cast<size_t>(partition.value()));
        const int64_t first = begin_of(*found, partition);
        if (from.value() < first)
            return base::Error{base::ErrorCode::kDataLoss, "retention_gap",
                               fmt::format("{}", from.value())};
        const auto begin = static_cast<size_t>(from.value() - first);
        if (begin > records.size())
            return base::Error{base::ErrorCode::kOutOfRange, "offset_ahead",
                               fmt::format("{}", from.value())};
        const size_t count = std::min(limit, records.size() - begin);
        return std::vector(records.begin() + static_cast<ptrdiff_t>(begin),
                           records.begin() + static_cast<ptrdiff_t>(begin + count));
    }
    base::Result<streaming::Offset> begin_offset(std::string_view topic,
                                                 streaming::PartitionId partition) const override {
        RAMPART_TRY(const Topic* found, find(topic));
        return streaming::Offset(begin_of(*found, partition));
    }
    base::Result<streaming::Offset> end_offset(std::string_view topic,
                                               streaming::PartitionId partition) const override {
        RAMPART_TRY(const Topic* found, find(topic));
        const auto& records = found->partitions.at(static_cast<size_t>(partition.value()));
        return streaming::Offset(begin_of(*found, partition) +
                                 static_cast<int64_t>(records.size()));
    }
    base::Result<std::vector<streaming::Position>> append(
        std::string_view topic, std::span<const streaming::Record> records) override {
        RAMPART_TRY(const Topic* found, find(topic));
        const auto count = static_cast<int32_t>(found->partitions.size());
        std::vector<streaming::Position> positions;
        for (const auto& record : records) {
            RAMPART_TRY(const auto placed,
                        append_to(topic, streaming::partition_of(record.key, count),
                                  std::span(&record, 1)));
            positions.push_back(placed.front());
        }
        return positions;
    }
    base::Result<std::vector<streaming::Position>> append_to(
        std::string_view topic, streaming::PartitionId id,
        std::span<const streaming::Record> records) override {
        RAMPART_TRY(const Topic* found, find(topic));
        auto& partition = const_cast<Topic*>(found)->partitions.at(static_cast<size_t>(id.value()));
        std::vector<streaming::Position> positions;
        for (const auto& record : records) {
            const streaming::Offset offset(begin_of(*found, id) +
                                           static_cast<int64_t>(partition.size()));
            partition.push_back({id, offset, record, streaming::Seal::kNone, now});
            positions.push_back({id, offset});
        }
        return positions;
    }

    /// Deletes the first `n` records of a partition, as retention does.
    void drop_front(const std::string& topic, streaming::PartitionId partition, int64_t n) {
        Topic& found = topics.at(topic);
        auto& records = found.partitions.at(static_cast<size_t>(partition.value()));
        records.erase(records.begin(), records.begin() + n);
        found.begin[partition] += n;
    }

    std::map<std::string, Topic, std::less<>> topics;
    std::optional<base::TimePoint> now{};  // append time of what is appended; nullopt: none is kept

  private:
    static int64_t begin_of(const Topic& topic, streaming::PartitionId partition) {
        const auto it = topic.begin.find(partition);
        return it == topic.begin.end() ? 0 : it->second;
    }
    base::Result<const Topic*> find(std::string_view name) const {
        const auto it = topics.find(name);
        if (it == topics.end())
            return base::Error{base::ErrorCode::kNotFound, "no_topic",
                               fmt::format("no topic '{}'", name)};
        return &it->second;
    }
};

}  // namespace rampart::support
