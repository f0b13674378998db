#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::dataset {

#define RAMPART_DATASET_REASONS(X)                                                              \
    X(kBadCategory, kInvalidArgument, "bad_category",                                           \
      "Give every category a name of the allowed length; an empty one means missing.")          \
    X(kBadCategoryCount, kOutOfRange, "bad_category_count",                                     \
      "Join rare categories, or make the feature numeric.")                                     \
    X(kBadColumnRule, kInvalidArgument, "bad_column_rule",                                      \
      "Correct the [[column]] of the schema file that the message names.")                      \
    X(kBadColumnName, kInvalidArgument, "bad_column_name",                                      \
      "Give the column a UTF-8 name of the allowed length.")                                    \
    X(kBadDate, kInvalidArgument, "bad_date",                                                   \
      "Correct the cell, list it under `missing`, or declare the form of the column's dates.")  \
    X(kBadDerivation, kInvalidArgument, "bad_derivation",                                       \
      "Write it like ratio(balance, limit), of columns of numbers or declared dates.")          \
    X(kBadFavourable, kInvalidArgument, "bad_favourable",                                       \
      "Name one value of the label in `favourable`, or give `label_range`, not both.")          \
    X(kBadFeatureCount, kOutOfRange, "bad_feature_count",                                       \
      "List at least one feature and at most the number allowed.")                              \
    X(kBadFeatureTerms, kInvalidArgument, "bad_feature_terms",                                  \
      "Correct the [[feature]] of the schema file that the message names.")                     \
    X(kBadLabelCondition, kInvalidArgument, "bad_label_condition",                              \
      "Write a column, or a condition like days_late > 90, with blanks around the relation.")   \
    X(kBadLabelRange, kInvalidArgument, "bad_label_range",                                      \
      "Give two finite numbers, the smaller first.")                                            \
    X(kBadMaxBins, kOutOfRange, "bad_max_bins",                                                 \
      "Give max_bins from 2 up to the limit in the message.")                                   \
    X(kBadSplit, kInvalidArgument, "bad_split",                                                 \
      "Write the split as three percentages that sum to 100, like 60/20/20.")                   \
    X(kBadSplitGap, kInvalidArgument, "bad_split_gap",                                          \
      "Write the gap like 90d, 2w, 3m or 1y, or as a number where times are numbers.")          \
    X(kBadSplitTime, kInvalidArgument, "bad_split_time",                                        \
      "Write times like 2006, 2006-01 or 2006-01-31, or all as numbers.")                       \
    X(kBadTableCache, kDataLoss, "bad_table_cache",                                             \
      "Delete the cache file; it is made again from the table.")                                \
    X(kBinaryLabel, kInvalidArgument, "binary_label",                                           \
      "Give `label_range` instead of `favourable` in the schema.")                              \
    X(kCorruptGzip, kDataLoss, "corrupt_gzip", "Get a new copy of the file.")                   \
    X(kDuplicateCategory, kInvalidArgument, "duplicate_category",                               \
      "List every category once; equal numbers are one category.")                              \
    X(kDuplicateColumn, kInvalidArgument, "duplicate_column", "Rename one of the columns.")     \
    X(kEmptyFile, kInvalidArgument, "empty_file",                                               \
      "Give a file whose first line names the columns.")                                        \
    X(kEmptySplitCell, kInvalidArgument, "empty_split_cell",                                    \
      "Fill the cell, or leave the row out of the file.")                                       \
    X(kFeatureNotAccepted, kFailedPrecondition, "feature_not_accepted",                         \
      "Send the application without the feature, or by its present name.")                      \
    X(kLabelNotANumber, kInvalidArgument, "label_not_a_number",                                 \
      "Correct the label's cells, or give `favourable` instead of `label_range`.")              \
    X(kLabelOutsideRange, kOutOfRange, "label_outside_range",                                   \
      "Widen the declared range of labels, or leave the rows out.")                             \
    X(kLongColumnName, kInvalidArgument, "long_column_name", "Shorten the name of the column.") \
    X(kLongSplitCell, kOutOfRange, "long_split_cell",                                           \
      "Split by a column of short texts, such as a person's id.")                               \
    X(kMissingColumn, kInvalidArgument, "missing_column",                                       \
      "Add the column to the file, or take it out of the schema.")                              \
    X(kMissingLabel, kInvalidArgument, "missing_label",                                         \
      "Leave rows without an outcome out, by label_missing = \"leave_out\" or in the file.")    \
    X(kNoFavourableLabel, kInvalidArgument, "no_favourable_label",                              \
      "Name a value in `favourable` that the label has.")                                       \
    X(kNoFeatures, kInvalidArgument, "no_features", "List at least one feature in the schema.") \
    X(kNoSuchFold, kFailedPrecondition, "no_such_fold",                                         \
      "Ask for fewer folds or origins or a shorter gap, or give more rows.")                    \
    X(kNoSuchPart, kNotFound, "no_such_part", "Ask for train, validation or test.")             \
    X(kNotANumber, kInvalidArgument, "not_a_number",                                            \
      "Correct the cell, or make the feature categorical.")                                     \
    X(kNotForApplications, kInvalidArgument, "not_for_applications",                            \
      "Send the feature's number with each application, and leave `derived`, `date` and "       \
      "`range` out of the schema of the service.")                                              \
    X(kNotUtf8, kInvalidArgument, "not_utf8", "Save names and categories as UTF-8.")            \
    X(kNumberOutsideRange, kOutOfRange, "number_outside_range",                                 \
      "Correct the cell, widen the column's range, or declare outside = \"missing\".")          \
    X(kNumberTooLarge, kOutOfRange, "number_too_large",                                         \
      "Scale the feature down, or mark the value as missing.")                                  \
    X(kNumericLabel, kInvalidArgument, "numeric_label",                                         \
      "Give `favourable` instead of `label_range`, or choose a learner of numbers "             \
      "(--learner fair-regression).")                                                           \
    X(kNumericWithCategories, kInvalidArgument, "numeric_with_categories",                      \
      "Make the feature categorical, or drop its list of categories.")                          \
    X(kOneLabel, kInvalidArgument, "one_label",                                                 \
      "Give rows with both labels, or with different targets.")                                 \
    X(kOpenQuote, kInvalidArgument, "open_quote", "Close the quote that the line opens.")       \
    X(kOtherSchema, kInvalidArgument, "other_schema",                                           \
      "Take data and model of one feature schema; split one table for training and "            \
      "validation.")                                                                            \
    X(kOtherTable, kInvalidArgument, "other_table",                                             \
      "Delete the cache file; it is made again from this table.")                               \
    X(kRecordTooLong, kOutOfRange, "record_too_long",                                           \
      "Close the quote that the line may have left open, or shorten the record.")               \
    X(kSchemaNotCarried, kFailedPrecondition, "schema_not_carried",                             \
      "Change the schema file as the message says; ops/guide/schema_changes has each case.")    \
    X(kStrayQuote, kInvalidArgument, "stray_quote",                                             \
      "Put the whole cell into quotes and double the quote inside it.")                         \
    X(kTextAfterQuote, kInvalidArgument, "text_after_quote",                                    \
      "End the cell at the closing quote, or double the quote inside it.")                      \
    X(kThreeLabels, kInvalidArgument, "three_labels",                                           \
      "Make the label two values, choose another column, or give `label_range` for a "          \
      "number.")                                                                                \
    X(kTooManyColumns, kOutOfRange, "too_many_columns",                                         \
      "Take columns out, or join the rarest categories.")                                       \
    X(kTooManyRows, kOutOfRange, "too_many_rows",                                               \
      "Take a sample of the rows, or a shorter period.")                                        \
    X(kTwoLabels, kInvalidArgument, "two_labels", "Give the table either labels or targets.")   \
    X(kTwoRoles, kInvalidArgument, "two_roles", "Give the column one role.")                    \
    X(kUnknownColumn, kInvalidArgument, "unknown_column",                                       \
      "Add the column as a [[feature]], or list it under `ignored`.")                           \
    X(kWrongCellCount, kInvalidArgument, "wrong_cell_count",                                    \
      "Give the line as many cells as the header has columns.")
RAMPART_REASONS("dataset", RAMPART_DATASET_REASONS)

}  // namespace rampart::dataset
