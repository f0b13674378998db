#pragma once

#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/streaming/record.hpp"

namespace rampart::wire {

/// A rejected record, with its origin and the reason.
struct Quarantined {
    std::string topic;
    streaming::PartitionId partition;
    streaming::Offset offset;
    std::string reason;   // machine-readable
    std::string message;  // for a person
    streaming::Record record;
    bool operator==(const Quarantined&) const = default;
};

/// Keeps as much as fits a record: a key or value over limits::kMaxRecordBytes, and headers other
/// than the schema, are omitted (the original log still has them).
Quarantined quarantine(std::string_view topic, const streaming::StoredRecord& stored,
                       const base::Error& why);

/// Converts to a record of the topic `quarantine`: key, value, time and schema of the rejected
/// record, with the headers `topic`, `partition`, `offset`, `reason` and `message`.
streaming::Record to_record(const Quarantined& quarantined);

/// Stored form: schemas/keys.md. decode fails with data_loss.
std::string quarantine_key(std::string_view topic, streaming::PartitionId partition,
                           streaming::Offset offset);
std::string encode_quarantined(const Quarantined& quarantined);
base::Result<Quarantined> decode_quarantined(std::string_view key, std::string_view value);

}  // namespace rampart::wire
