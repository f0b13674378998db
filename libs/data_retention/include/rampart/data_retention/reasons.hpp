#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::data_retention {

#define RAMPART_DATA_RETENTION_REASONS(X)                                                 \
    X(kOnHold, kFailedPrecondition, "on_hold",                                            \
      "Wait until the hold ends, or remove it with `rampart hold remove`.")               \
    X(kRetention, kFailedPrecondition, "retention",                                       \
      "Erase the person after the end of the retention time (privacy.retention_months).") \
    X(kSealedRecordDamaged, kDataLoss, "sealed_record_damaged",                           \
      "Restore the log from a backup or a replica (ops/runbooks/damage.md).")             \
    X(kUnknownPerson, kNotFound, "unknown_person",                                        \
      "Check the person's id; nothing is held under this one.")
RAMPART_REASONS("data_retention", RAMPART_DATA_RETENTION_REASONS)

}  // namespace rampart::data_retention
