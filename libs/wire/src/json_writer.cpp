#include "json_writer.hpp"

#include <boost/json/serialize.hpp>
#include <cmath>

#include "rampart/base/check.hpp"

namespace rampart::wire {

std::string json_string(std::string_view text) {
    return boost::json::serialize(boost::json::string_view(text.data(), text.size()));
}

std::string json_number(double value) {
    RAMPART_CHECK(std::isfinite(value), "JSON has no {}", value);
    return fmt::format("{}", value);
}

std::string json_time(base::TimePoint time) { return json_string(base::to_iso8601(time)); }

}  // namespace rampart::wire
