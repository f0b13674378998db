#pragma once

#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/certification/delta_ledger.hpp"
#include "rampart/streaming/log_chain.hpp"

namespace rampart::rampartd {

/// Returns the end of each partition of a topic, with one digest of all before it. What lies before
/// the ends in `known` is not read again. `log`: as it lies, with sealed records sealed. Errors:
/// the reader's.
base::Result<std::vector<certification::LogEnd>> log_ends(
    const streaming::Reader& log, std::string_view topic,
    const std::vector<certification::LogEnd>& known);

/// A partition and what of it could be compared.
struct CheckedPartition {
    uint32_t partition = 0;
    streaming::CheckedRecords records;
};

/// Checks that the log has all records of the ends, which may be several of a partition, unchanged.
/// Errors: streaming::check_chain's.
base::Result<std::vector<CheckedPartition>> check_log(
    const streaming::Reader& log, std::string_view topic,
    const std::vector<certification::LogEnd>& ends);

/// Returns the ends that the ledger's registrations have, oldest first.
base::Result<std::vector<certification::LogEnd>> committed_ends(
    const certification::DeltaLedger& ledger);

}  // namespace rampart::rampartd
