#pragma once

#include <string>

#include "rampart/privacy/person_keys.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/writer.hpp"

namespace rampart::sealed_log {

/// The log as it is, but for one topic, that of the decisions: what is sealed there is opened with
/// the key of the decision's person. Key, time and headers are as they lie, but for the schema,
/// which says that the value is sealed.
///
/// A decision whose key is destroyed reads as the erasure of this decision: whoever keeps state
/// forgets it, as if the erasure had been in the log. Fences, erasures and decisions in the clear
/// (from before the log was sealed) pass as they are. What says that it is sealed and cannot be
/// opened for damage passes as it is too, for its reader to put aside.
///
/// read() fails with unavailable "unknown_person_key" where a key is not here; records before such
/// a one are given first. Thread safe as what it stands upon.
class SealedReader : public streaming::Reader {
  public:
    /// Both have to outlive it.
    SealedReader(const streaming::Reader& reader, privacy::PersonKeys& keys,
                 std::string decisions_topic)
        : reader_(reader), keys_(keys), decisions_(std::move(decisions_topic)) {}

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

  protected:
    privacy::PersonKeys& keys() const { return keys_; }
    const std::string& decisions_topic() const { return decisions_; }

  private:
    base::Status open(streaming::StoredRecord& stored) const;

    const streaming::Reader& reader_;
    privacy::PersonKeys& keys_;
    const std::string decisions_;
};

/// The same for writing as well: decisions are sealed on their way into their topic.
class SealedLog final : public SealedReader, public streaming::Writer {
  public:
    /// All of these have to outlive it. `seals`: false: appends in the clear, and opens what was
    /// sealed before.
    SealedLog(const streaming::Reader& reader, streaming::Writer& writer, privacy::PersonKeys& keys,
              std::string decisions_topic, bool seals)
        : SealedReader(reader, keys, std::move(decisions_topic)), writer_(writer), seals_(seals) {}

    base::Result<std::vector<streaming::Position>> append(
        std::string_view topic, std::span<const streaming::Record> records) override;
    base::Result<std::vector<streaming::Position>> append_to(
        std::string_view topic, streaming::PartitionId partition,
        std::span<const streaming::Record> records) override;

  private:
    base::Result<std::vector<streaming::Record>> seal(
        std::span<const streaming::Record> records) const;

    streaming::Writer& writer_;
    const bool seals_;
};

}  // namespace rampart::sealed_log
