#include "rampart/base/repeated_lines.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace rampart::base {
namespace {

using std::chrono::seconds;

constexpr std::array<seconds, 4> kPauses{seconds(1), seconds(10), seconds(60), seconds(600)};
constexpr seconds kForgotten(60);

}  // namespace

std::optional<uint64_t> RepeatedLines::take(const std::string& line, Time now) {
    const auto known = lines_.find(line);
    if (known == lines_.end()) {
        if (lines_.size() == kMost) {
            lines_.erase(std::min_element(lines_.begin(), lines_.end(), [](auto& a, auto& b) {
                return a.second.seen < b.second.seen;
            }));
        }
        lines_[line] = {.next = now + kPauses[0], .seen = now};
        return 0;
    }
    auto& [next, seen, step, left_out] = known->second;
    const bool is_new = now >= next && now - seen > kForgotten;
    seen = now;
    if (now < next) {
        ++left_out;
        return std::nullopt;
    }
    step = is_new ? 0 : std::min(step + 1, kPauses.size() - 1);
    next = now + kPauses[step];
    return std::exchange(left_out, 0);
}

}  // namespace rampart::base
