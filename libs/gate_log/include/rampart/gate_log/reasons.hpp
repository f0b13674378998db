#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::gate_log {

#define RAMPART_GATE_LOG_REASONS(X)                                                               \
    X(kAttributeColumn, kInvalidArgument, "attribute_column",                                     \
      "Give the attribute another name; a log names columns by attributes.")                      \
    X(kBadLogCell, kInvalidArgument, "bad_log_cell",                                              \
      "Correct the cell in the line and column that the message names.")                          \
    X(kBadSplitKey, kInvalidArgument, "bad_split_key",                                            \
      "Give a key file of 16 bytes or more, made of random characters, or a column 'side'.")      \
    X(kLedgerInUse, kFailedPrecondition, "ledger_in_use",                                         \
      "Wait until the other command has ended: a ledger is charged by one at a time.")            \
    X(kLedgerUnavailable, kUnavailable, "ledger_unavailable",                                     \
      "Make the file writable, or free space, as the message says; then give the command again.") \
    X(kMissingLogColumn, kInvalidArgument, "missing_log_column",                                  \
      "Add the column; `rampart gate --help` lists what a log needs.")                            \
    X(kNoEarlierCertificate, kFailedPrecondition, "no_earlier_certificate",                       \
      "Put the certificate's files back beside the ledger, or do what the message says.")         \
    X(kNoRecords, kInvalidArgument, "no_records", "Give a log with at least one decision.")       \
    X(kNotALedger, kInvalidArgument, "not_a_ledger",                                              \
      "Name a ledger of `rampart gate`, or a file that is not there yet.")                        \
    X(kNotInALog, kInvalidArgument, "not_in_a_log",                                               \
      "Take the setting out: a log without features cannot have it.")                             \
    X(kNotInElf, kInvalidArgument, "not_in_elf",                                                  \
      "Choose the bound t or hoeffding, and a log without referrals.")                            \
    X(kOtherLedgerKey, kFailedPrecondition, "other_ledger_key",                                   \
      "Name with --key and --evidence-key the keys that the ledger was begun with.")              \
    X(kOtherLogPeriod, kFailedPrecondition, "other_log_period",                                   \
      "Read the log again: it must leave out what earlier epochs have read.")                     \
    X(kPersonOnBothSides, kInvalidArgument, "person_on_both_sides",                               \
      "Put all records of a person on one side, or divide them with --split-key.")                \
    X(kUnknownPeriod, kFailedPrecondition, "unknown_period",                                      \
      "Begin a new ledger, on a log of records that are later than those of the old one.")        \
    X(kLogTooLong, kOutOfRange, "log_too_long", "Split the log by period.")
RAMPART_REASONS("gate_log", RAMPART_GATE_LOG_REASONS)

}  // namespace rampart::gate_log
