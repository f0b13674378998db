#pragma once

#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/streaming/record.hpp"

namespace rampart::wire {

/// A record that could not be used, with where it was read and why.
struct Quarantined {
    std::string topic;
    streaming::PartitionId partition;
    streaming::Offset offset;
    std::string reason;   // machine-readable
    std::string message;  // for a person
    streaming::Record record;
    bool operator==(const Quarantined&) const = default;
};

/// Of the record it keeps what a record may be: a key or value over limits::kMaxRecordBytes, and
/// headers other than the schema, are left out (the log that it was read from still has them).
Quarantined quarantine(std::string_view topic, const streaming::StoredRecord& stored,
                       const base::Error& why);

/// As a record of the topic `quarantine`: key, value, time and schema of the offending record, with
/// the headers `topic`, `partition`, `offset`, `reason` and `message`.
streaming::Record to_record(const Quarantined& quarantined);

/// The stored form: schemas/keys.md. decode: data_loss.
std::string quarantine_key(std::string_view topic, streaming::PartitionId partition,
                           streaming::Offset offset);
std::string encode_quarantined(const Quarantined& quarantined);
base::Result<Quarantined> decode_quarantined(std::string_view key, std::string_view value);

}  // namespace rampart::wire
