#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/writer.hpp"

namespace rampart::authenticated_log {

/// Name of the header with the MAC: 32 bytes, HMAC-SHA-256. Readers of the view do not see it.
inline constexpr std::string_view kMacHeader = "mac";

struct AuthenticatedTopics {
    /// Keys of the group, 32 bytes each, at least one: the first is for writing, all for reading.
    std::vector<std::string> keys;
    std::set<std::string, std::less<>> topics;
    /// Records without a MAC that the broker took before this time are passed on: a group that had
    /// no key goes on with its log. Only as good as the broker's own append times. nullopt: none.
    std::optional<base::TimePoint> unauthenticated_until = {};
};

/// Adds the MAC to what is appended to the topics, and passes over what is read of them without a
/// valid one: as if the log had no record there. Other topics are passed through. As thread safe as
/// reader and writer.
class AuthenticatedLog final : public streaming::Reader, public streaming::Writer {
  public:
    /// Keeps references to both.
    AuthenticatedLog(const streaming::Reader& reader, streaming::Writer& writer,
                     AuthenticatedTopics topics);

    base::Result<int32_t> partitions(std::string_view topic) const override {
        return reader_.partitions(topic);
    }
    /// As Reader has it. What was passed over of a topic that is another one now is read again.
    base::Result<std::string> identity(std::string_view topic) const override;
    base::Result<std::vector<streaming::StoredRecord>> read(std::string_view topic,
                                                            streaming::PartitionId partition,
                                                            streaming::Offset from,
                                                            size_t limit) const override;
    base::Result<streaming::Offset> begin_offset(std::string_view topic,
                                                 streaming::PartitionId partition) const override {
        return reader_.begin_offset(topic, partition);
    }
    base::Result<streaming::Offset> end_offset(std::string_view topic,
                                               streaming::PartitionId partition) const override {
        return reader_.end_offset(topic, partition);
    }
    std::vector<base::Result<streaming::Offset>> end_offsets(
        std::string_view topic, std::span<const streaming::PartitionId> partitions) const override {
        return reader_.end_offsets(topic, partitions);
    }
    void prefetch(std::string_view topic,
                  std::span<const streaming::Position> from) const override {
        reader_.prefetch(topic, from);
    }
    void settle() const override { reader_.settle(); }

    /// As Writer has it. Errors also: invalid_argument "reserved_header": a record has a header of
    /// the MAC's name, or, in append() and append_each(), no key.
    base::Result<std::vector<streaming::Position>> append(
        std::string_view topic, std::span<const streaming::Record> records) override;
    std::vector<base::Result<streaming::Position>> append_each(
        std::string_view topic, std::span<const streaming::Record> records) override;
    base::Result<std::vector<streaming::Position>> append_to(
        std::string_view topic, streaming::PartitionId partition,
        std::span<const streaming::Record> records) override;

    /// Returns how many records without a valid MAC were passed over, by topic. One that is read
    /// again counts again. All topics are there from the start.
    std::map<std::string, uint64_t> passed_over() const;

  private:
    using Place = std::pair<std::string, int32_t>;
    /// Offsets of a partition behind which nothing but passed-over records was found.
    struct Passed {
        streaming::Offset from{0}, to{0};
    };

    bool concerns(std::string_view topic) const { return topics_.topics.contains(topic); }
    std::string mac_of(std::string_view key, std::string_view topic,
                       streaming::PartitionId partition, const streaming::Record& record) const;
    bool take(std::string_view topic, streaming::StoredRecord& stored) const;
    base::Result<std::vector<streaming::Record>> signed_records(
        std::string_view topic, std::optional<streaming::PartitionId> partition,
        std::span<const streaming::Record> records) const;
    void note(std::string_view topic, const streaming::StoredRecord& stored) const;

    const streaming::Reader& reader_;
    streaming::Writer& writer_;
    const AuthenticatedTopics topics_;
    mutable std::mutex mutex_;  // guards what follows; never held during a call
    mutable std::map<Place, Passed> passed_;
    mutable std::map<std::string, std::string> identities_;  // as last asked, by topic
    mutable std::map<std::string, uint64_t> counts_;
};

}  // namespace rampart::authenticated_log
