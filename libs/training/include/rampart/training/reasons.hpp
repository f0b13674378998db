#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::training {

#define RAMPART_TRAINING_REASONS(X)                                                       \
    X(kBadHeldOut, kDataLoss, "bad_held_out", "Restore the trainer's store from a copy.") \
    X(kBadProposal, kInvalidArgument, "bad_proposal",                                     \
      "Give a number in the range that the message names.")                               \
    X(kBadSelection, kInvalidArgument, "bad_selection",                                   \
      "Give what the search asks for, or set training.selection = \"none\".")             \
    X(kConstraintsMissed, kFailedPrecondition, "constraints_missed",                      \
      "Widen training.tolerance or postprocess.tolerance, take other constraints, or "    \
      "set training.allow_infeasible = true.")                                            \
    X(kCriterionNotSolved, kFailedPrecondition, "criterion_not_solved",                   \
      "Widen postprocess.tolerance, change postprocess.gamma, or ask for another rate.")  \
    X(kGroupBlindDeployment, kFailedPrecondition, "group_blind_deployment",               \
      "Train the policy without groups, or change decision.protected_attributes.")        \
    X(kNoDevelopmentRows, kFailedPrecondition, "no_development_rows",                     \
      "Wait until decisions have matured: horizon and grace of the product.")             \
    X(kNoImpacts, kFailedPrecondition, "no_impacts", "Wait for outcomes of both labels.") \
    X(kNotFromChampion, kInvalidArgument, "not_from_champion",                            \
      "Set start = \"scratch\", or change what the message names.")                       \
    X(kNotOneLink, kFailedPrecondition, "not_one_link",                                   \
      "Take a model as `rampart train` or `rampart import` makes it, of one learnt "      \
      "link.")                                                                            \
    X(kNotWithLearner, kInvalidArgument, "not_with_learner",                              \
      "Take a learner that gives a probability, or leave out what is put on it.")         \
    X(kOtherGroups, kFailedPrecondition, "other_groups",                                  \
      "Take decisions, policy and data of the same protected groups.")                    \
    X(kOtherSchema, kFailedPrecondition, "other_schema",                                  \
      "Take data and model of one feature schema; split one table for training and "      \
      "validation.")                                                                      \
    X(kRetiredFeature, kFailedPrecondition, "retired_feature",                            \
      "Learn without the feature, or take `retired` out of the schema of the service.")
RAMPART_REASONS("training", RAMPART_TRAINING_REASONS)

}  // namespace rampart::training
