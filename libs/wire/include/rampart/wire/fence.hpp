#pragma once

#include <cstdint>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/streaming/record.hpp"

namespace rampart::wire {

/// What the headers of a record in the topic of decisions say about its writer.
struct WriterMark {
    bool fence = false;  // no decision: from here on, lower epochs do not count
    uint64_t epoch = 0;  // of the fence, or of the writer of the decision; 0: none was given
};

/// invalid_argument "bad_epoch": a header that is not a decimal number of 64 bits.
base::Result<WriterMark> writer_mark(const streaming::Record& record);

/// The fence that a new owner of a partition appends before anything else. epoch >= 1.
streaming::Record fence_record(uint64_t epoch, std::string_view node, base::TimePoint now);

}  // namespace rampart::wire
