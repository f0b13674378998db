#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::privacy {

#define RAMPART_PRIVACY_REASONS(X)                                                             \
    X(kBadEnvelope, kDataLoss, "bad_envelope", "Restore the record from a copy of the log.")   \
    X(kBadPersonKey, kDataLoss, "bad_person_key",                                              \
      "Restore the folder of the person keys from the backup of the keys.")                    \
    X(kBadRegister, kDataLoss, "bad_register", "Restore the register of holds from a backup.") \
    X(kBadSecret, kInvalidArgument, "bad_secret",                                              \
      "Restore the secret's file from the backup of the keys; it holds exactly the hex "       \
      "digits of one key.")                                                                    \
    X(kNoHold, kNotFound, "no_hold",                                                           \
      "List the holds with `rampart hold list`, and name one of them.")                        \
    X(kOtherSecret, kFailedPrecondition, "other_secret",                                       \
      "Restore the file keys/person with which the keys were made.")                           \
    X(kReasonTooLong, kOutOfRange, "reason_too_long", "Shorten the reason.")                   \
    X(kUnknownPersonKey, kUnavailable, "unknown_person_key",                                   \
      "Restore the folder privacy/keys, or wait for the node that made the key.")
RAMPART_REASONS("privacy", RAMPART_PRIVACY_REASONS)

}  // namespace rampart::privacy
