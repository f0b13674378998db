#pragma once

#include "rampart/base/error.hpp"

/// Why the reference algorithms refuse their input.
namespace rampart::reference {

#define RAMPART_REFERENCE_REASONS(X)                                                              \
    X(kBadBlock, kOutOfRange, "bad_block", "Number the blocks of the rows from 0 on.")            \
    X(kBadClassCount, kOutOfRange, "bad_class_count", "Give 2 classes or more, up to the limit.") \
    X(kBadDensity, kInvalidArgument, "bad_density",                                               \
      "Give the density a positive scale and an interval that holds enough of its mass.")         \
    X(kBadElf, kInvalidArgument, "bad_elf",                                                       \
      "Give columns of one length, probabilities and a kappa in the ranges that the message "     \
      "names.")                                                                                   \
    X(kBadFeature, kOutOfRange, "bad_feature", "Give every row finite features.")                 \
    X(kBadMoments, kOutOfRange, "bad_moments",                                                    \
      "Give fewer blocks or features, so that the moments stay within the limit.")                \
    X(kBadMultiClassSetting, kOutOfRange, "bad_multi_class_setting",                              \
      "Give the setting a value in the range that the message names.")                            \
    X(kBadPolicy, kInvalidArgument, "bad_policy",                                                 \
      "Give finite columns of one length, at least one row, and a ridge from 0 on.")              \
    X(kBadSgdSetting, kOutOfRange, "bad_sgd_setting",                                             \
      "Give the setting a value in the range that the message names.")                            \
    X(kBadWindow, kOutOfRange, "bad_window",                                                      \
      "Give windows whose lower end comes first, in families numbered from 0 on.")                \
    X(kNoConvergence, kFailedPrecondition, "no_convergence",                                      \
      "Give a ridge above 0, or rows with both labels.")                                          \
    X(kPaperCompatWeights, kInvalidArgument, "paper_compat_weights",                              \
      "Leave out either the weights or paper_compat.")
RAMPART_REASONS("reference", RAMPART_REFERENCE_REASONS)

}  // namespace rampart::reference
