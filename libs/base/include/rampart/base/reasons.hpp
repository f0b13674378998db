#pragma once

#include "rampart/base/error.hpp"

/// Reasons that rooms share: where two of them mean the same, the word stands here.
namespace rampart::base {

#define RAMPART_BASE_REASONS(X)                                                                    \
    X(kBadAlpha, kOutOfRange, "bad_alpha", "Give an alpha between 0 and 1.")                       \
    X(kBadBase64, kInvalidArgument, "bad_base64",                                                  \
      "Send the text in standard base64, with its padding and without line breaks.")               \
    X(kBadBetCap, kInvalidArgument, "bad_bet_cap", "Give a bet_cap above 0 and below 1.")          \
    X(kBadDigest, kInvalidArgument, "bad_digest", "Give the 64 hex digits of the SHA-256 digest.") \
    X(kBadFeatureName, kInvalidArgument, "bad_feature_name",                                       \
      "Give the feature a UTF-8 name of the allowed length.")                                      \
    X(kBadFeatureValue, kInvalidArgument, "bad_feature_value",                                     \
      "Give a finite number or a short UTF-8 text; leave the feature out or give null if it "      \
      "is not known.")                                                                             \
    X(kBadFlag, kInvalidArgument, "bad_flag",                                                      \
      "Write the flag in one of the two forms that the message names.")                            \
    X(kBadFolds, kOutOfRange, "bad_folds", "Give 2 to 100 folds.")                                 \
    X(kBadGroup, kOutOfRange, "bad_group",                                                         \
      "Number the groups from 0 on, below the number of groups.")                                  \
    X(kBadGroupCount, kOutOfRange, "bad_group_count",                                              \
      "Give at least one group and at most the number that the message names; merge small "        \
      "ones.")                                                                                     \
    X(kBadHex, kInvalidArgument, "bad_hex", "Give lower-case hex digits, two for each byte.")      \
    X(kBadJson, kInvalidArgument, "bad_json",                                                      \
      "Give one whole JSON document, as schemas/http/openapi.yaml describes it for "               \
      "requests; restore a damaged file from a copy.")                                             \
    X(kBadKey, kInvalidArgument, "bad_key",                                                        \
      "Give an Ed25519 key in PEM form, as the store keeps it in its folder keys.")                \
    X(kBadLabel, kInvalidArgument, "bad_label",                                                    \
      "Give each row a label of the kind that the message names, 0 or 1 for two values; "          \
      "leave rows without an outcome out.")                                                        \
    X(kBadMultiplier, kInvalidArgument, "bad_multiplier",                                          \
      "Give finite multipliers, not below 0 where they are Lagrange multipliers.")                 \
    X(kBadNumber, kInvalidArgument, "bad_number",                                                  \
      "Write a number in the range and the form that the message names.")                          \
    X(kBadPoints, kOutOfRange, "bad_points",                                                       \
      "Give points in ascending order, in number and range as the message names them.")            \
    X(kBadProbability, kInvalidArgument, "bad_probability", "Give a probability between 0 and 1.") \
    X(kBadPropensity, kInvalidArgument, "bad_propensity",                                          \
      "Log the probability with which the action taken was drawn: above 0, at most 1, and "        \
      "that of this very action.")                                                                 \
    X(kBadRange, kInvalidArgument, "bad_range",                                                    \
      "Give a range of two finite numbers, the lower one first.")                                  \
    X(kBadScore, kOutOfRange, "bad_score",                                                         \
      "Give scores that are numbers in the range that the message names.")                         \
    X(kBadSize, kInvalidArgument, "bad_size",                                                      \
      "Give one entry for each row in every column, and a size within the limit.")                 \
    X(kBadTime, kInvalidArgument, "bad_time",                                                      \
      "Give a time in UTC like 2005-04-01T10:00:00Z, in the years 1900 to 9999 and not "           \
      "before what it follows; check the clock of the sender.")                                    \
    X(kBadTimeRange, kOutOfRange, "bad_time",                                                      \
      "Give a time in UTC like 2005-04-01T10:00:00Z, in the years 1900 to 9999 and not "           \
      "before what it follows; check the clock of the sender.")                                    \
    X(kBadUsage, kInvalidArgument, "bad_usage",                                                    \
      "Change the options as the message says; --help lists what goes together.")                  \
    X(kBadWeight, kInvalidArgument, "bad_weight",                                                  \
      "Give a finite weight above 0, or leave the row out.")                                       \
    X(kDatabaseInUse, kFailedPrecondition, "database_in_use",                                      \
      "Stop the process that has the database open.")                                              \
    X(kDiskFull, kResourceExhausted, "disk_full",                                                  \
      "Make room on the disk that holds the file, then try again.")                                \
    X(kDuplicateFeature, kInvalidArgument, "duplicate_feature", "Name every feature once.")        \
    X(kEmptyGroup, kInvalidArgument, "empty_group",                                                \
      "Merge the group with another, leave it out, or give more rows.")                            \
    X(kFileTooLarge, kOutOfRange, "file_too_large", "Give a shorter file, or split it.")           \
    X(kInfeasible, kFailedPrecondition, "infeasible",                                              \
      "Widen the tolerances and targets by what the message names, or leave constraints "          \
      "out.")                                                                                      \
    X(kIoError, kUnavailable, "io_error",                                                          \
      "Check the disk and the path in the message, then try again.")                               \
    X(kIsFolder, kInvalidArgument, "is_folder", "Name a file, not a folder.")                      \
    X(kNoAccess, kPermissionDenied, "no_access",                                                   \
      "Give this user the right to read and write the path, or name another path.")                \
    X(kNoGroups, kInvalidArgument, "no_groups",                                                    \
      "Name columns under `protected` in the schema, so that the rows are in groups.")             \
    X(kNoRows, kInvalidArgument, "no_rows", "Give at least one row.")                              \
    X(kNoSuchFile, kNotFound, "no_such_file", "Correct the path, or put the file there.")          \
    X(kNotAuthentic, kDataLoss, "not_authentic",                                                   \
      "Restore the bytes from a copy, or the key with which they were sealed.")                    \
    X(kNotFinite, kInvalidArgument, "not_finite",                                                  \
      "Replace numbers that are not finite, or leave them out as missing.")                        \
    X(kOtherGroups, kInvalidArgument, "other_groups",                                              \
      "Take decisions, policy and data of the same protected groups.")                             \
    X(kOtherKey, kFailedPrecondition, "other_key",                                                 \
      "Use the key with which it was made: the signer's public key, or the file from the "         \
      "backup of the keys (ops/runbooks/backup.md).")                                              \
    X(kOtherPolicy, kFailedPrecondition, "other_policy",                                           \
      "Give the policy and the certificate or decision that belong together.")                     \
    X(kSecretExposed, kPermissionDenied, "secret_exposed",                                         \
      "Take the access of others away (chmod 600); make a new secret if they may have read "       \
      "it.")                                                                                       \
    X(kSizeMismatch, kInvalidArgument, "size_mismatch",                                            \
      "Give one label, score, group and weight for each row, and one window for each "             \
      "moment.")                                                                                   \
    X(kSmallGroup, kFailedPrecondition, "small_group",                                             \
      "Give more rows of the group, lower the number of rows wanted, or leave the group "          \
      "out.")                                                                                      \
    X(kTimeout, kUnavailable, "timeout",                                                           \
      "Check that the other side is up and answers, then try again.")                              \
    X(kTooLarge, kOutOfRange, "too_large", "Use fewer rows, points or categories.")                \
    X(kTooManyGroups, kOutOfRange, "too_many_groups",                                              \
      "Join values of the protected attributes into bands, or protect fewer of them.")             \
    X(kTruncated, kDataLoss, "truncated", "Restore the bytes from a copy: they end too early.")    \
    X(kUnknownAttribute, kInvalidArgument, "unknown_attribute",                                    \
      "Use a protected attribute that is declared; the message or the schema lists them.")         \
    X(kUnknownCategory, kInvalidArgument, "unknown_category",                                      \
      "Use a category that the schema lists, or add it to the feature's categories.")              \
    X(kUnknownFeature, kInvalidArgument, "unknown_feature",                                        \
      "Use a feature of the schema, leave it out, or add it to the schema.")                       \
    X(kUnknownGroup, kInvalidArgument, "unknown_group",                                            \
      "Use one of the groups that are known, or leave rows of others out.")                        \
    X(kWrongType, kInvalidArgument, "wrong_type", "Send the JSON type that the message names.")
RAMPART_REASONS("base", RAMPART_BASE_REASONS)

}  // namespace rampart::base
