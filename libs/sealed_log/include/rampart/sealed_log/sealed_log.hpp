#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rampart/privacy/person_keys.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/writer.hpp"

namespace rampart::sealed_log {

/// What is appended to a sealed schema header; before it is the schema of what is sealed.
inline constexpr std::string_view kSealedSuffix = "+sealed/1";
/// Begins the names of sealed protected attributes (privacy::Letter::name), before the person's tag
/// in hex. No decision id has a space.
inline constexpr std::string_view kAttributesName = "protected-attributes of ";

/// View of the log in which sealed values are decrypted: those of the topic of decisions with the
/// key of the decision's person, those of the topic of protected attributes with that of the
/// person who is the record's key. Other topics, keys, times and headers are passed through
/// unchanged, except the schema header, which marks a value as sealed.
///
/// A decision whose key is destroyed is returned as the erasure of this decision, protected
/// attributes as a record with an empty value, so that readers forget them as if the erasure were
/// in the log. Fences, erasures and unsealed values (from before sealing was switched on, or of
/// other systems) are passed through. So is a value that is marked as sealed but damaged: its
/// reader quarantines it, or passes it over.
///
/// read() fails with unavailable "unknown_person_key" if a key is missing here; records before such
/// a one are returned first. As thread safe as the underlying reader and keys.
class SealedReader : public streaming::Reader {
  public:
    /// Keeps references to reader and keys. `attributes_topic`: empty: the log has none.
    SealedReader(const streaming::Reader& reader, privacy::PersonKeys& keys,
                 std::string decisions_topic, std::string attributes_topic = {})
        : reader_(reader),
          keys_(keys),
          decisions_(std::move(decisions_topic)),
          attributes_(std::move(attributes_topic)) {}

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
    bool is_sealed_topic(std::string_view topic) const {
        return topic == decisions_ || is_attributes(topic);
    }
    bool is_attributes(std::string_view topic) const {
        return !attributes_.empty() && topic == attributes_;
    }
    /// Returns the name in the envelope: names no person, since errors and status show it.
    std::string attributes_name(const std::string& person) const;

  private:
    base::Status open(std::string_view topic, streaming::StoredRecord& stored) const;

    const streaming::Reader& reader_;
    privacy::PersonKeys& keys_;
    const std::string decisions_, attributes_;
};

/// The same with writing: decisions and protected attributes are sealed before they are appended to
/// their topics.
class SealedLog final : public SealedReader, public streaming::Writer {
  public:
    /// As SealedReader, also with the writer. `seals` false: appends in the clear, and still opens
    /// values that were sealed before.
    SealedLog(const streaming::Reader& reader, streaming::Writer& writer, privacy::PersonKeys& keys,
              std::string decisions_topic, bool seals, std::string attributes_topic = {})
        : SealedReader(reader, keys, std::move(decisions_topic), std::move(attributes_topic)),
          writer_(writer),
          seals_(seals) {}

    base::Result<std::vector<streaming::Position>> append(
        std::string_view topic, std::span<const streaming::Record> records) override;
    std::vector<base::Result<streaming::Position>> append_each(
        std::string_view topic, std::span<const streaming::Record> records) override;
    base::Result<std::vector<streaming::Position>> append_to(
        std::string_view topic, streaming::PartitionId partition,
        std::span<const streaming::Record> records) override;

  private:
    bool passes(std::string_view topic) const { return !seals_ || !is_sealed_topic(topic); }
    base::Result<std::vector<streaming::Record>> seal(
        std::string_view topic, std::span<const streaming::Record> records) const;
    base::Result<std::vector<streaming::Record>> seal_attributes(
        std::span<const streaming::Record> records) const;

    streaming::Writer& writer_;
    const bool seals_;
};

}  // namespace rampart::sealed_log
