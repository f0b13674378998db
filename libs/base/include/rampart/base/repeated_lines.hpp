#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace rampart::base {

/// Says which of the lines of a log that are alike are written: the first, and then one 1, 10, 60
/// and every 600 s after the one before. What does not come for a minute, and would be written
/// anyway, is new when it comes again. Keeps kMost lines; beyond, the one that was not seen for
/// longest is forgotten. Not thread safe.
class RepeatedLines {
  public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr size_t kMost = 256;

    /// nullopt: leave it out. Otherwise write it; how many like it were left out since the last.
    std::optional<uint64_t> take(const std::string& line, Time now);
    size_t size() const { return lines_.size(); }

  private:
    struct Line {
        Time next, seen;
        size_t step = 0;
        uint64_t left_out = 0;
    };
    std::map<std::string, Line> lines_;
};

}  // namespace rampart::base
