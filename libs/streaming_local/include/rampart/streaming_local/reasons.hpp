#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::streaming_local {

#define RAMPART_STREAMING_LOCAL_REASONS(X)                                                      \
    X(kBadPartitionRecord, kDataLoss, "bad_partition_record", "Restore the log from a backup.") \
    X(kBadRecord, kDataLoss, "bad_record", "Restore the log from a backup.")                    \
    X(kBadRecordKey, kDataLoss, "bad_record_key", "Restore the log from a backup.")             \
    X(kBadRetention, kOutOfRange, "bad_retention", "Give an age to keep of 0 or more.")         \
    X(kBadTopicRecord, kDataLoss, "bad_topic_record",                                           \
      "Restore the log from a backup, or open it with the release that wrote it.")              \
    X(kPartitionsDiffer, kAlreadyExists, "partitions_differ",                                   \
      "Ask for the number of partitions that the topic has, or delete the topic.")
RAMPART_REASONS("streaming_local", RAMPART_STREAMING_LOCAL_REASONS)

}  // namespace rampart::streaming_local
