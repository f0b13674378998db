#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::constraints {

#define RAMPART_CONSTRAINTS_REASONS(X)                                                        \
    X(kAmbiguousName, kInvalidArgument, "ambiguous_name",                                     \
      "Write group = \"attribute=value\" for the protected attribute, or rename the "         \
      "feature.")                                                                             \
    X(kBadConstraint, kInvalidArgument, "bad_constraint",                                     \
      "Build the tree with the parts that each operator needs, finite numbers and names "     \
      "without backticks.")                                                                   \
    X(kBadImpactRange, kInvalidArgument, "bad_impact_range",                                  \
      "Give a finite range of impacts, the lower end first.")                                 \
    X(kBadMinimum, kInvalidArgument, "bad_minimum",                                           \
      "Give min_units and min_outcomes of at least 2.")                                       \
    X(kBadMissingRate, kInvalidArgument, "bad_missing_rate",                                  \
      "Give a max_missing_rate between 0 and 1.")                                             \
    X(kBadOutcomes, kInvalidArgument, "bad_outcomes",                                         \
      "Give labels of 0 or 1, and impacts inside the declared range.")                        \
    X(kConstraintEmpty, kInvalidArgument, "constraint_empty",                                 \
      "Write a constraint whose means do not cancel out.")                                    \
    X(kConstraintLimit, kInvalidArgument, "constraint_limit",                                 \
      "Split the constraint into several shorter ones.")                                      \
    X(kConstraintSyntax, kInvalidArgument, "constraint_syntax",                               \
      "Correct the constraint at the column that the message names; "                         \
      "libs/constraints/README.md has the language.")                                         \
    X(kFeatureKind, kInvalidArgument, "feature_kind",                                         \
      "Compare numbers with a number, and categories or attributes with a value in quotes.")  \
    X(kImpactByLabel, kFailedPrecondition, "impact_by_label",                                 \
      "Declare the impact of a decline, or drop the label from the condition.")               \
    X(kNoAnchor, kFailedPrecondition, "no_anchor",                                            \
      "Drop the anchor from the constraint until a policy was promoted.")                     \
    X(kNoSupport, kFailedPrecondition, "no_support",                                          \
      "Keep an exploration floor, or restrict the condition to those whom the logged policy " \
      "could approve.")                                                                       \
    X(kTooFewSelectionOutcomes, kFailedPrecondition, "too_few_selection_outcomes",            \
      "Wait for more outcomes of both actions, or explore more.")                             \
    X(kTooFewUnits, kFailedPrecondition, "too_few_units",                                     \
      "Wait for more persons of the group to mature.")                                        \
    X(kTooManyMissing, kFailedPrecondition, "too_many_missing",                               \
      "Find out why outcomes are missing before testing again.")
RAMPART_REASONS("constraints", RAMPART_CONSTRAINTS_REASONS)

}  // namespace rampart::constraints
