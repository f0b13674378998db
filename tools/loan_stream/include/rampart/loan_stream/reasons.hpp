#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::loan_stream {

#define RAMPART_LOAN_STREAM_REASONS(X)                                                      \
    X(kBadCell, kInvalidArgument, "bad_cell",                                               \
      "Correct the cell, or get an intact copy of the data with ops/data.")                 \
    X(kDataFile, kNotFound, "data_file", "Get the data with ops/data, or name its folder.") \
    X(kDuplicateApplication, kInvalidArgument, "duplicate_application",                     \
      "Get an intact copy of the data with ops/data.")                                      \
    X(kNoApplicants, kInvalidArgument, "no_applicants",                                     \
      "Get an intact copy of the data with ops/data.")                                      \
    X(kRows, kOutOfRange, "rows", "Ask for fewer rows.")                                    \
    X(kUnknownLayout, kInvalidArgument, "unknown_layout",                                   \
      "Get an intact copy of the data with ops/data.")                                      \
    X(kUnknownStream, kInvalidArgument, "unknown_stream",                                   \
      "Choose one of the streams that the message lists.")
RAMPART_REASONS("loan_stream", RAMPART_LOAN_STREAM_REASONS)

}  // namespace rampart::loan_stream
