#pragma once

#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/streaming/record.hpp"

namespace rampart::streaming_local {

/// Encodes a record; the offset is in the key (schemas/keys.md).
std::string encode(const streaming::Record& record);
base::Result<streaming::Record> decode_record(std::string_view bytes);
/// Returns the timestamp, without decoding the rest.
base::Result<base::TimePoint> timestamp_of(std::string_view bytes);

}  // namespace rampart::streaming_local
