#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::cli {

#define RAMPART_RAMPART_REASONS(X)                                                                 \
    X(kAMixture, kInvalidArgument, "a_mixture",                                                    \
      "Train one model with --output best or --learner gbdt.")                                     \
    X(kBackupIncomplete, kDataLoss, "backup_incomplete",                                           \
      "Restore a backup that `rampart backup verify` finds whole, or give --incomplete.")          \
    X(kBadAnswer, kUnavailable, "bad_answer",                                                      \
      "Check that the URL is that of a node, and its log.")                                        \
    X(kBadAnswerText, kDataLoss, "bad_answer",                                                     \
      "Check that the URL is that of a node, and its log.")                                        \
    X(kBadCertificate, kDataLoss, "bad_certificate", "Name a certificate file.")                   \
    X(kBadPairs, kInvalidArgument, "bad_pairs",                                                    \
      "Give the columns first, second and comparable, with 1 or 0 in the last.")                   \
    X(kBadResults, kDataLoss, "bad_results",                                                       \
      "Delete the damaged line of the file, and give the command again.")                          \
    X(kBadStatement, kInvalidArgument, "bad_statement",                                            \
      "Write KEY=TEXT with one of the keys that the message lists, each once.")                    \
    X(kEmbeddedLog, kInvalidArgument, "embedded_log",                                              \
      "Set log.broker = \"kafka\": the embedded log makes its topics itself.")                     \
    X(kException, kInternal, "exception", "Report the case with the command and its message.")     \
    X(kGapNotAccepted, kInvalidArgument, "gap_not_accepted",                                       \
      "Give --accept-gap if the records missing may be lost.")                                     \
    X(kGroupUnknown, kInvalidArgument, "group_unknown", "Say which group the applicant is in.")    \
    X(kInterrupted, kUnavailable, "interrupted",                                                   \
      "Give the same command again; it goes on where results were kept.")                          \
    X(kMisuse, kInvalidArgument, "misuse", "Correct the command line; --help shows the options.")  \
    X(kMixture, kFailedPrecondition, "mixture", "Export a model of one ensemble.")                 \
    X(kNoEvidence, kNotFound, "no_evidence",                                                       \
      "Restore the certificate's evidence from a copy, or name its file with --evidence.")         \
    X(kNoFolder, kInvalidArgument, "no_folder",                                                    \
      "Name a folder that exists and may be written, or make it.")                                 \
    X(kNoKey, kNotFound, "no_key",                                                                 \
      "Name the gate's public key, gate.pub.pem of its store, with --key.")                        \
    X(kNoLog, kUnavailable, "no_log", "Report the case: a check asked for a record of the log.")   \
    X(kNoMetric, kInvalidArgument, "no_metric",                                                    \
      "Name protected columns in the schema, or give --metric, --protected-feature or "            \
      "--protected-direction.")                                                                    \
    X(kNoPartition, kNotFound, "no_partition", "Name the folder of a partition of the store.")     \
    X(kNoStore, kNotFound, "no_store",                                                             \
      "Name the folder of a store, or a folder where `rampart serve` may make one.")               \
    X(kNoSuchFolder, kNotFound, "no_such_folder", "Make the folder first.")                        \
    X(kNoSuchRow, kOutOfRange, "no_such_row", "Name rows that the table has.")                     \
    X(kNoTestRows, kInvalidArgument, "no_test_rows",                                               \
      "Leave test rows in the split, as in 50/0/50.")                                              \
    X(kNoTrees, kInvalidArgument, "no_trees", "Export a learned model.")                           \
    X(kNoValidationRows, kInvalidArgument, "no_validation_rows",                                   \
      "Leave validation rows in the split, as in 60/20/20.")                                       \
    X(kNotOneLink, kInvalidArgument, "not_one_link",                                               \
      "Take a model as `rampart train` or `rampart import` makes it, of one learnt link.")         \
    X(kNotServing, kUnavailable, "not_serving", "Start `rampart serve` on this store.")            \
    X(kNotWithBaseline, kInvalidArgument, "not_with_baseline",                                     \
      "Take --learner gbdt with --baseline.")                                                      \
    X(kNothingToCompare, kFailedPrecondition, "nothing_to_compare",                                \
      "Compare the log with a head that was filed, or get it back from a backup.")                 \
    X(kNotWithProject, kInvalidArgument, "not_with_project",                                       \
      "Use --baseline project with --learner gbdt alone.")                                         \
    X(kOtherRun, kInvalidArgument, "other_run",                                                    \
      "Choose another --out, or delete the results that are there.")                               \
    X(kOtherSchema, kDataLoss, "other_schema",                                                     \
      "Take data and model of one feature schema; split one table for training and "               \
      "validation.")                                                                               \
    X(kPartitionThere, kAlreadyExists, "partition_there",                                          \
      "Remove the folder if it is left over; its state comes from the log.")                       \
    X(kPositiveLabelUnknown, kInvalidArgument, "positive_label_unknown",                           \
      "Give --positive favourable or --positive unfavourable.")                                    \
    X(kReplacesInput, kInvalidArgument, "replaces_input", "Name another file for the result.")     \
    X(kServiceRefused, kFailedPrecondition, "service_refused",                                     \
      "Do what the service's answer in the message says.")                                         \
    X(kTwoRules, kInvalidArgument, "two_rules", "Leave --postprocess out, or take --output best.") \
    X(kUnitScale, kFailedPrecondition, "unit_scale",                                               \
      "Take a model whose score is a sum of log-odds; one of another score gets its policy "       \
      "when it is trained.")                                                                       \
    X(kUnknownMetric, kNotFound, "unknown_metric",                                                 \
      "Copy the name from /metrics; `rampart metrics` lists all.")                                 \
    X(kUnknownReason, kNotFound, "unknown_reason",                                                 \
      "Copy the word from the error; `rampart errors` lists all.")
RAMPART_REASONS("rampart", RAMPART_RAMPART_REASONS)

}  // namespace rampart::cli
