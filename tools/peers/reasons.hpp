#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::peers {

#define RAMPART_PEERS_REASONS(X)                                                                  \
    X(kBadGroups, kInvalidArgument, "bad_groups",                                                 \
      "Write the file of groups again, one byte for each row.")                                   \
    X(kBadPredictions, kInvalidArgument, "bad_predictions",                                       \
      "Run the peer again: its predictions end early.")                                           \
    X(kBadProblem, kInvalidArgument, "bad_problem", "Write the problem file again.")              \
    X(kBadTable, kInvalidArgument, "bad_table", "Write the table again.")                         \
    X(kBadWeights, kInvalidArgument, "bad_weights", "Write the file of weights again.")           \
    X(kLost, kInternal, "lost", "Run the comparison again; a decision was not read back.")        \
    X(kNoFunction, kNotFound, "no_function",                                                      \
      "Install the version of the library that tools/peers/README.md names.")                     \
    X(kNoLibrary, kNotFound, "no_library",                                                        \
      "Install the library that tools/peers/README.md names.")                                    \
    X(kNoTable, kNotFound, "no_table", "Write the table first, or correct the path.")             \
    X(kNoValidation, kInvalidArgument, "no_validation",                                           \
      "Give --validation rows with --thresholds.")                                                \
    X(kNotWritten, kInternal, "not_written", "Check the disk and the folder, then run it again.") \
    X(kOtherScores, kInternal, "other_scores",                                                    \
      "Compare the versions of the libraries; their scores differ.")                              \
    X(kPeerRefused, kInternal, "peer_refused",                                                    \
      "Read the peer's own message, and change what it names.")                                   \
    X(kPeerRefusedInput, kInvalidArgument, "peer_refused",                                        \
      "Read the peer's own message, and change what it names.")
RAMPART_REASONS("peers", RAMPART_PEERS_REASONS)

}  // namespace rampart::peers
