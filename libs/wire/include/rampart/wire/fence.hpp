#pragma once

#include <cstdint>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/streaming/record.hpp"

namespace rampart::wire {

/// Headers of a record in the decision topic that describe its writer.
struct WriterMark {
    bool fence = false;  // not a decision: from here on, lower epochs do not count
    uint64_t epoch = 0;  // epoch of the fence, or of the decision's writer; 0: none given
};

/// Fails with invalid_argument "bad_epoch" if a header is not a decimal number of 64 bits.
base::Result<WriterMark> writer_mark(const streaming::Record& record);

/// Returns the fence that a new owner of a partition appends first. Requires epoch >= 1.
streaming::Record fence_record(uint64_t epoch, std::string_view node, base::TimePoint now);

}  // namespace rampart::wire
