#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::lease {

#define RAMPART_LEASE_REASONS(X)                                                                   \
    X(kBadLease, kDataLoss, "bad_lease",                                                           \
      "Look at the topic of leases: another program wrote to it.")                                 \
    X(kBadName, kInvalidArgument, "bad_name",                                                      \
      "Use letters, digits, '.', '_' and '-' in the name.")                                        \
    X(kBadNodeAddress, kInvalidArgument, "bad_node_address",                                       \
      "Write the scheme, the host and the port, as in https://node-1.bank.example:8443.")          \
    X(kBadSeat, kDataLoss, "bad_seat",                                                             \
      "Restore trainer.seat from a backup of this store, and take the training back with "         \
      "`rampart trainer take-back` (ops/runbooks/trainer.md).")                                    \
    X(kBadTopic, kFailedPrecondition, "bad_topic",                                                 \
      "Create the topic of leases anew with one partition.")                                       \
    X(kBadTtl, kOutOfRange, "bad_ttl", "Give a time to live in the range that the message names.") \
    X(kClaimFailed, kUnavailable, "claim_failed",                                                  \
      "Try again; other nodes claimed the partition at the same time.")                            \
    X(kPartitionOwned, kFailedPrecondition, "partition_owned",                                     \
      "Stop the node that owns the partition, or take the partition out of one "                   \
      "configuration.")                                                                            \
    X(kStopped, kUnavailable, "stopped",                                                           \
      "Start the node again; it was stopped while it waited for a lease.")                         \
    X(kTrainerElsewhere, kFailedPrecondition, "trainer_elsewhere",                                 \
      "Ask the node that the message names; or move the training with `rampart trainer "           \
      "hand-over` there and `take-over` here (ops/runbooks/trainer.md).")                          \
    X(kTrainerHandedOver, kFailedPrecondition, "trainer_handed_over",                              \
      "Take the file over at the other node; or take the training back with `rampart trainer "     \
      "take-back` (ops/runbooks/trainer.md).")
RAMPART_REASONS("lease", RAMPART_LEASE_REASONS)

}  // namespace rampart::lease
