#pragma once

#include <span>
#include <string>

#include "rampart/privacy/person_keys.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/writer.hpp"

namespace rampart::sealed_log {

/// View of the log in which sealed decisions are decrypted: a sealed value of the decision topic is
/// opened with the key of the decision's person. Other topics, keys, times and headers are passed
/// through unchanged, except the schema header, which marks a value as sealed.
///
/// A decision whose key is destroyed is returned as the erasure of this decision, so that readers
/// forget it as if the erasure were in the log. Fences, erasures and unsealed decisions (from
/// before sealing was switched on) are passed through. So is a value that is marked as sealed but
/// damaged: its reader quarantines it.
///
/// read() fails with unavailable "unknown_person_key" if a key is missing here; records before such
/// a one are returned first. As thread safe as the underlying reader and keys.
class SealedReader : public streaming::Reader {
  public:
    /// Keeps references to both arguments.
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
    std::vector<base::Result<streaming::Offset>> end_offsets(
        std::string_view topic, std::span<const streaming::PartitionId> partitions) const override {
        return reader_.end_offsets(topic, partitions);
    }
    void prefetch(std::string_view topic,
                  std::span<const streaming::Position> from) const override {
        reader_.prefetch(topic, from);
    }
    void settle() const override { reader_.settle(); }

  protected:
    privacy::PersonKeys& keys() const { return keys_; }
    const std::string& decisions_topic() const { return decisions_; }

  private:
    base::Status open(streaming::StoredRecord& stored) const;

    const streaming::Reader& reader_;
    privacy::PersonKeys& keys_;
    const std::string decisions_;
};

/// The same with writing: decisions are sealed before they are appended to their topic.
class SealedLog final : public SealedReader, public streaming::Writer {
  public:
    /// Keeps references to all of these. `seals` false: appends in the clear, and still opens
    /// values that were sealed before.
    SealedLog(const streaming::Reader& reader, streaming::Writer& writer, privacy::PersonKeys& keys,
              std::string decisions_topic, bool seals)
        : SealedReader(reader, keys, std::move(decisions_topic)), writer_(writer), seals_(seals) {}

    base::Result<std::vector<streaming::Position>> append(
        std::string_view topic, std::span<const streaming::Record> records) override;
    std::vector<base::Result<streaming::Position>> append_each(
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
