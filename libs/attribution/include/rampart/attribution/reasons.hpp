#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::attribution {

#define RAMPART_ATTRIBUTION_REASONS(X)                                                             \
    X(kBadFeatureGroup, kInvalidArgument, "bad_feature_group",                                     \
      "Give each group of features patterns of names that the policy has, each in one group.")     \
    X(kNoReferenceSet, kFailedPrecondition, "no_reference_set",                                    \
      "Explain a decision of a store with other applicants of the same features to compare with.") \
    X(kReferredToPeople, kFailedPrecondition, "referred_to_people",                                \
      "Ask who answered the referral: no feature had a part in it "                                \
      "(ops/runbooks/explanations.md).")
RAMPART_REASONS("attribution", RAMPART_ATTRIBUTION_REASONS)

}  // namespace rampart::attribution
