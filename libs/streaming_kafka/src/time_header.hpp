#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rampart/base/bytes.hpp"
#include "rampart/base/clock.hpp"

/// A record's time is stored in a header of ours, and Kafka's own time is that of the
/// writing: a broker expires a producer's state, which deduplication needs, by the times of
/// its records (ops/adr/0008).
namespace rampart::streaming_kafka {

inline constexpr std::string_view kTimeHeader = "rampart-time";

inline std::string encode_time(base::TimePoint time) {
    std::string bytes;
    base::append_i64(bytes, time.micros());
    return bytes;
}

/// Returns nullopt for a header of another writer.
inline std::optional<base::TimePoint> decode_time(std::string_view bytes) {
    base::ByteReader in(bytes);
    const auto micros = in.i64();
    if (!micros || !in.empty()) return std::nullopt;
    return base::TimePoint::from_micros(*micros);
}

}  // namespace rampart::streaming_kafka
