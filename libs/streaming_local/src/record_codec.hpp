#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/streaming/record.hpp"

namespace rampart::streaming_local {

/// A record as it is stored; the offset is in the key (schemas/keys.md).
struct StoredContent {
    streaming::Record record;
    std::optional<base::TimePoint> appended_at;  // nullopt: written without a clock
};

/// Encodes a record; `timed`: with room for the time of the append, which stamp() puts there.
std::string encode(const streaming::Record& record, bool timed);
void stamp(std::string& encoded, base::TimePoint appended_at);
base::Result<StoredContent> decode_record(std::string_view bytes);
/// Returns the timestamp, without decoding the rest.
base::Result<base::TimePoint> timestamp_of(std::string_view bytes);

}  // namespace rampart::streaming_local
