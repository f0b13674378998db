#include "rampart/wire/quarantine_time.hpp"

#include <charconv>

namespace rampart::wire {
namespace {

constexpr std::string_view kName = "rampart-appended";

}  // namespace

streaming::Header appended_header(base::TimePoint appended_at) {
    return {std::string(kName), std::to_string(appended_at.micros())};
}

bool is_appended_header(const streaming::Header& header) { return header.name == kName; }

std::optional<base::TimePoint> appended_at(const Quarantined& one) {
    for (const auto& header : one.record.headers) {
        if (!is_appended_header(header)) continue;
        int64_t micros = 0;
        const char* end = header.value.data() + header.value.size();
        const auto read = std::from_chars(header.value.data(), end, micros);
        if (read.ec == std::errc() && read.ptr == end) return base::TimePoint::from_micros(micros);
    }
    return std::nullopt;
}

}  // namespace rampart::wire
