#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/streaming/reader.hpp"

namespace rampart::streaming {

/// A position in a partition, and one digest of all that lies before it:
///     chain of no record  32 bytes of 0
///     chain then          SHA-256(chain before, record_digest(record))
/// Kept elsewhere, it shows later whether a record before it was left out, changed or put in.
struct ChainedPosition {
    Offset next{0};
    base::Digest chain{};
    Offset begin{0};  // first record of the chain; what lay before was gone when it was begun
    bool operator==(const ChainedPosition&) const = default;
};

/// Reads the records of a partition from `from` on, as they lie in the log, and returns the
/// position at its end, or at `to`. Read by the log itself and not by a view of it that opens
/// records: an erasure changes what a view shows. Errors: the reader's; out_of_range
/// "offset_ahead": the log ends before `from` or `to`; data_loss "retention_gap": it begins later.
base::Result<ChainedPosition> extend_chain(const Reader& log, std::string_view topic,
                                           PartitionId partition, ChainedPosition from = {},
                                           std::optional<Offset> to = std::nullopt);

/// As extend_chain() to the end. Where the log begins behind `from`, or ends before it, the chain
/// is begun anew with the log's first record, so that check_chain() finds what is missing. Errors:
/// the reader's.
base::Result<ChainedPosition> resume_chain(const Reader& log, std::string_view topic,
                                           PartitionId partition, ChainedPosition from = {});

/// Records of a partition that were compared with positions kept of it: those in [from, to), but
/// for the holes between a chain and one that was begun anew behind its end.
struct CheckedRecords {
    Offset from{0}, to{0};
    int64_t in_holes = 0;     // offsets in [from, to) that were not compared
    Offset begin{0}, end{0};  // those that the positions speak of
    bool nothing() const { return from == to && begin != end; }
    int64_t compared() const { return to.value() - from.value() - in_holes; }
};

/// Checks that the partition has the records of all `kept` positions, unchanged. What lies before
/// its first record cannot be checked: there the comparison starts with the first kept position
/// that can still be read from; none: the range is empty. Errors: the reader's; out_of_range
/// "offset_ahead": the log ends before a position; failed_precondition "other_log": a record was
/// left out, put in or changed.
base::Result<CheckedRecords> check_chain(const Reader& log, std::string_view topic,
                                         PartitionId partition, std::vector<ChainedPosition> kept);

}  // namespace rampart::streaming
