#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

#include "rampart/domain/outcome.hpp"

namespace rampart::serving {

/// The outcomes that this process took in last, up to a limit: for contradictions among those that
/// were not joined yet. Thread safe.
class RecentOutcomes {
  public:
    explicit RecentOutcomes(size_t limit) : limit_(limit) {}

    /// Whether an earlier one of the same decision, measure and revision says something else. The
    /// earlier one stays.
    bool add(const domain::Outcome& outcome);
    void clear();

  private:
    const size_t limit_;
    std::mutex mutex_;
    std::unordered_map<std::string, domain::Outcome> by_key_;
    std::deque<std::string> keys_;  // oldest first
};

}  // namespace rampart::serving
