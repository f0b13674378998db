#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>

#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::training_set {

/// The draws of the windows that may still be open, for rows that come by time.
class OpenDraws {
  public:
    /// Adds the draw of a row. Returns whether it was there already.
    bool add(const Row& row) {
        if (!row.window) return false;
        const auto& window = *row.window;
        auto& numbers = by_length_[{window.product, window.cool_off_days}];
        // later rows are of this event time or later, and decided then or later, but for clocks
        // that differ; persons' windows begin at different times
        const auto oldest = domain::window_number(row.event_time, window.cool_off_days, {}) - 2;
        while (!numbers.empty() && numbers.begin()->first < oldest) numbers.erase(numbers.begin());
        return !numbers[window.number].insert(row.person.value()).second;
    }

  private:
    using Persons = std::unordered_set<std::string>;
    std::map<std::pair<std::string, int>, std::map<int64_t, Persons>> by_length_;
};

}  // namespace rampart::training_set
