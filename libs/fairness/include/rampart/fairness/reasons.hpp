#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::fairness {

#define RAMPART_FAIRNESS_REASONS(X)                                                            \
    X(kBadConfidence, kOutOfRange, "bad_confidence", "Give a confidence above 0 and below 1.") \
    X(kBadCost, kInvalidArgument, "bad_cost",                                                  \
      "Give finite costs from 0 on, at least one of them above 0.")                            \
    X(kBadFrontier, kOutOfRange, "bad_frontier", "Give 1 or more tries and repetitions.")      \
    X(kBadOperatingPoint, kInvalidArgument, "bad_operating_point",                             \
      "Bound fpr, fnr or statistical_parity with the operating point.")                        \
    X(kBadScores, kInvalidArgument, "bad_scores", "Give one finite score for each row.")       \
    X(kBadTarget, kInvalidArgument, "bad_target",                                              \
      "Write the target as a rate, <= and a number in [0, 1], as in fpr<=0.05.")               \
    X(kBadThreshold, kOutOfRange, "bad_threshold", "Give a threshold above 0 and below 1.")    \
    X(kBadThresholds, kInvalidArgument, "bad_thresholds",                                      \
      "Give each group thresholds in the range of link scores, with weights above 0 that "     \
      "add up to 1.")                                                                          \
    X(kBadTolerance, kOutOfRange, "bad_tolerance", "Give a tolerance in [0, 1].")              \
    X(kBadTrial, kOutOfRange, "bad_trial",                                                     \
      "Report performance and unfairness of a trial in [0, 1].")                               \
    X(kConstraintTwice, kInvalidArgument, "constraint_twice", "Constrain each rate once.")     \
    X(kGroupWithoutLabel, kInvalidArgument, "group_without_label",                             \
      "Merge the group with another, leave its rows out, or do not constrain this rate.")      \
    X(kNoAttribute, kInvalidArgument, "no_attribute",                                          \
      "Name the attribute after @, as in fnr@sex.")                                            \
    X(kNoTrials, kInvalidArgument, "no_trials", "Give the frontier at least one trial.")       \
    X(kTooFewGroups, kInvalidArgument, "too_few_groups",                                       \
      "Name protected columns in the schema that make at least two groups.")                   \
    X(kUnknownRate, kInvalidArgument, "unknown_rate",                                          \
      "Use fpr, fnr, statistical_parity or error; between groups also equal_opportunity "      \
      "(fnr) and equalized_odds (fpr and fnr).")
RAMPART_REASONS("fairness", RAMPART_FAIRNESS_REASONS)

}  // namespace rampart::fairness
