#pragma once

#include <span>
#include <string>

#include "rampart/protected_attributes/store.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/writer.hpp"

namespace rampart::protected_attributes {

/// Protected attributes of a deployment of several nodes: stated to any of them, known to all, by
/// the topic of that name. Its latest record of each person is all that counts, so a node reads it
/// from its beginning at every start. One thread.
class AttributeFeed {
  public:
    AttributeFeed(const streaming::Reader& reader, streaming::Writer& writer, std::string topic,
                  ProtectedStore& store)
        : reader_(reader), writer_(writer), topic_(std::move(topic)), store_(store) {}

    /// States attributes, as known from `now` on (the node's clock), durably in the topic. Errors:
    /// ProtectedStore::put's checks; Writer's.
    base::Status publish(std::span<const ProtectedAttributes> people, base::TimePoint now);

    /// Says that a person is to be forgotten; durable in the topic when it returns. A node that is
    /// away for longer than the topic keeps that (a day) does not hear of it.
    base::Status publish_erasure(const domain::PersonId& person, base::TimePoint now);

    /// Takes in what is new in the topic; a record that does not say when it was stated is known
    /// from `now` on. A record that makes no sense, or whose key is not the person in it, is passed
    /// over, with a line in the log that names its place and no content. Where the topic ends
    /// before what was read, or begins behind it, it is read from its beginning, with a line in the
    /// log; that takes nothing from what is known. Errors: the reader's, such as unavailable
    /// "unknown_person_key" of a sealed log; the next call goes on there.
    base::Status catch_up(base::TimePoint now);

  private:
    base::Status read_on(base::TimePoint now);

    const streaming::Reader& reader_;
    streaming::Writer& writer_;
    std::string topic_;
    ProtectedStore& store_;
    streaming::Offset from_{0};
    bool started_ = false;
};

}  // namespace rampart::protected_attributes
