#pragma once

#include <optional>
#include <string_view>

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
    bool operator==(const ChainedPosition&) const = default;
};

/// Reads the records of a partition from `from` on, as they lie in the log, and returns the
/// position at its end, or at `to`. Read by the log itself and not by a view of it that opens
/// records: an erasure changes what a view shows. Errors: the reader's; out_of_range
/// "offset_ahead": the log ends before `from` or `to`; data_loss "retention_gap": it begins later.
base::Result<ChainedPosition> extend_chain(const Reader& log, std::string_view topic,
                                           PartitionId partition, ChainedPosition from = {},
                                           std::optional<Offset> to = std::nullopt);

}  // namespace rampart::streaming
