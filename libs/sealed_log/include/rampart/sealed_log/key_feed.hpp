#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "rampart/base/clock.hpp"
#include "rampart/privacy/person_keys.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/writer.hpp"

namespace rampart::sealed_log {

/// Person keys of a deployment of several nodes, by the topic of that name: a record for each key,
/// which a later one replaces when the key is destroyed. The broker drops what was replaced within
/// a day (wire::Topics), not at once.
///
/// A topic that is not the one that was read before (truncated, created again, mirrored to another
/// cluster) is read again from its beginning, which takes nothing from what is known here. What it
/// lacks other nodes lack: state() says so, also after a restart, until accept(). A record that is
/// no key of this deployment is passed over, counted and logged; what is sealed with a key that is
/// missing so cannot be read until the key is there.
class KeyFeed final : public privacy::KeyExchange {
  public:
    KeyFeed(const streaming::Reader& reader, streaming::Writer& writer, const base::Clock& clock,
            std::string topic)
        : reader_(reader), writer_(writer), clock_(clock), topic_(std::move(topic)) {}

    base::Status publish(std::span<const privacy::KeyRecord> records) override;
    base::Status fetch(privacy::PersonKeys& keys) override;

    /// ok: the topic is the one that was read before, and all that was read of it since the start
    /// are keys. Otherwise out_of_range "offset_ahead", failed_precondition "topic_recreated";
    /// data_loss "bad_person_key", with the number of records and the first one's place.
    base::Status state() const;
    /// Takes the topic for what it is now, and publishes all that is known here, destroyed keys
    /// among it. Reads the topic to its end first.
    base::Status accept(privacy::PersonKeys& keys);

  private:
    struct Cursor;
    base::Status read_on(privacy::PersonKeys& keys);
    base::Result<Cursor> position(privacy::PersonKeys& keys);
    base::Result<std::optional<base::Error>> compare(const Cursor& cursor,
                                                     const std::string& identity) const;
    base::Status learn(privacy::PersonKeys& keys, std::span<const streaming::StoredRecord> stored,
                       const Cursor& after);
    void pass_over(const streaming::StoredRecord& stored, const base::Error& why);

    const streaming::Reader& reader_;
    streaming::Writer& writer_;
    const base::Clock& clock_;
    const std::string topic_;
    std::mutex reading_;     // one fetch or acceptance at a time
    bool compared_ = false;  // the last record that was read, since the start; with reading_

    mutable std::mutex mutex_;  // guards what follows
    std::optional<base::Error> other_topic_;
    uint64_t passed_over_ = 0;
    std::optional<std::pair<streaming::Offset, std::string>> first_passed_over_;
};

}  // namespace rampart::sealed_log
