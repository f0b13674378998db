#include "services/rampartd/time_cursor.hpp"

#include <fmt/format.h>

#include <charconv>

#include "rampart/base/reasons.hpp"
#include "rampart/domain/decision.hpp"

namespace rampart::rampartd {

std::string time_cursor(base::TimePoint time, std::string_view id) {
    return fmt::format("{}.{}", time.micros(), id);
}

base::Result<TimePlace> read_time_cursor(std::string_view cursor) {
    int64_t micros = 0;
    const char* end = cursor.data() + cursor.size();
    const auto [last, failure] = std::from_chars(cursor.data(), end, micros);
    const auto time = base::TimePoint::from_micros(micros);
    if (failure != std::errc() || last == end || *last != '.' || time < base::kFirstTime ||
        time > base::kLastTime)
        return base::make_error(base::Reason::kBadUsage, "is no cursor of an earlier page");
    std::string id(last + 1, end);
    RAMPART_RETURN_IF_ERROR(domain::check_id("cursor", id));
    return TimePlace{time, std::move(id)};
}

}  // namespace rampart::rampartd
