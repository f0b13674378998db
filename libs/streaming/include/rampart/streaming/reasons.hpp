#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::streaming {

#define RAMPART_STREAMING_REASONS(X)                                                           \
    X(kBadBookmark, kDataLoss, "bad_bookmark",                                                 \
      "Make the state anew from the log; its bookmark cannot be read.")                        \
    X(kBadPartition, kOutOfRange, "bad_partition", "Name a partition that the topic has.")     \
    X(kBadPartitions, kOutOfRange, "bad_partitions",                                           \
      "Give at least one partition and at most the number allowed, each named once.")          \
    X(kBadTopic, kInvalidArgument, "bad_topic",                                                \
      "Give each topic a name of its own, of letters, digits, '.', '_' and '-'.")              \
    X(kBatchTooLarge, kOutOfRange, "batch_too_large", "Send it in smaller parts.")             \
    X(kCorruptLog, kDataLoss, "corrupt_log",                                                   \
      "Check the disk, and restore the log from a copy or a replica.")                         \
    X(kNoTopic, kNotFound, "no_topic",                                                         \
      "Create the topics with `rampart topics create`, or correct the name.")                  \
    X(kOffsetAhead, kOutOfRange, "offset_ahead",                                               \
      "Restore the log that was read, or make the state anew (ops/runbooks/partitions.md).")   \
    X(kOtherLog, kFailedPrecondition, "other_log",                                             \
      "Get the decision log of then from a backup, and find out who changed it.")              \
    X(kOtherPartition, kFailedPrecondition, "other_partition",                                 \
      "Set the number of partitions back, or give a new folder, which replays the log.")       \
    X(kPartitionsChanged, kFailedPrecondition, "partitions_changed",                           \
      "Set the number of partitions back; it is fixed once records are in the topic.")         \
    X(kRecordTooLarge, kOutOfRange, "record_too_large",                                        \
      "Send a smaller record, or raise the topic's max.message.bytes.")                        \
    X(kRetentionGap, kDataLoss, "retention_gap",                                               \
      "Accept the gap or restore the records (ops/runbooks/partitions.md), and keep records "  \
      "longer.")                                                                               \
    X(kTooManyHeaders, kOutOfRange, "too_many_headers", "Send fewer headers with the record.") \
    X(kTopicRecreated, kFailedPrecondition, "topic_recreated",                                 \
      "Restore the topic that was read, or make the state anew "                               \
      "(ops/runbooks/partitions.md).")
RAMPART_REASONS("streaming", RAMPART_STREAMING_REASONS)

}  // namespace rampart::streaming
