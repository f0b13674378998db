#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::wire {

#define RAMPART_WIRE_REASONS(X)                                                                    \
    X(kBadAction, kInvalidArgument, "bad_action", "Write approve or decline.")                     \
    X(kBadBatch, kOutOfRange, "bad_batch",                                                         \
      "Send at least one item and at most the number allowed.")                                    \
    X(kBadEpoch, kInvalidArgument, "bad_epoch",                                                    \
      "Write the epoch in the header as a decimal number.")                                        \
    X(kBadOverride, kInvalidArgument, "bad_override",                                              \
      "Report the override with its own decision's id.")                                           \
    X(kBadQuarantineEntry, kDataLoss, "bad_quarantine_entry",                                      \
      "Restore the store from a backup; the entry cannot be read.")                                \
    X(kDuplicateMember, kInvalidArgument, "duplicate_member",                                      \
      "Give every member of a JSON object once.")                                                  \
    X(kJsonLimit, kOutOfRange, "json_limit", "Send JSON that is less deep and has fewer members.") \
    X(kJsonTooLarge, kOutOfRange, "json_too_large", "Send a shorter document, or several.")        \
    X(kMissingMember, kInvalidArgument, "missing_member",                                          \
      "Add the member that the message names.")                                                    \
    X(kNotAMessage, kDataLoss, "not_a_message",                                                    \
      "Look at the record in the quarantine; its writer sent another type, or the bytes are "      \
      "damaged.")                                                                                  \
    X(kNotQuarantined, kNotFound, "not_quarantined",                                               \
      "List what is there with `rampart quarantine list`.")                                        \
    X(kNumberOutOfRange, kOutOfRange, "number_out_of_range",                                       \
      "Send a number in the range that the message names.")                                        \
    X(kUnknownMember, kInvalidArgument, "unknown_member",                                          \
      "Leave the member out, or correct its name.")                                                \
    X(kUnknownSchema, kInvalidArgument, "unknown_schema",                                          \
      "Write records of the topic's schema to it.")                                                \
    X(kWrongPartition, kInvalidArgument, "wrong_partition",                                        \
      "Write the decision with the partitioner murmur2 and its id as key.")
RAMPART_REASONS("wire", RAMPART_WIRE_REASONS)

}  // namespace rampart::wire
