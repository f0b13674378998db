#pragma once

#include <string>

#include "rampart/privacy/person_keys.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/writer.hpp"

namespace rampart::sealed_log {

/// Person keys of a deployment of several nodes, by the topic of that name: a record for each key,
/// which a later one replaces when the key is destroyed. The broker drops what was replaced within
/// a day (wire::Topics), not at once.
class KeyFeed final : public privacy::KeyExchange {
  public:
    KeyFeed(const streaming::Reader& reader, streaming::Writer& writer, const base::Clock& clock,
            std::string topic)
        : reader_(reader), writer_(writer), clock_(clock), topic_(std::move(topic)) {}

    base::Status publish(std::span<const privacy::KeyRecord> records) override;
    /// data_loss "bad_person_key": a record that is none.
    base::Status fetch(privacy::PersonKeys& keys) override;

  private:
    const streaming::Reader& reader_;
    streaming::Writer& writer_;
    const base::Clock& clock_;
    const std::string topic_;
};

}  // namespace rampart::sealed_log
