#include "rampart/serving/recent_outcomes.hpp"

#include <fmt/format.h>

namespace rampart::serving {

bool RecentOutcomes::add(const domain::Outcome& outcome) {
    auto key = fmt::format("{} {} {}", outcome.decision.value(), outcome.revision, outcome.measure);
    const std::lock_guard lock(mutex_);
    const auto [known, added] = by_key_.try_emplace(key, outcome);
    if (!added) return known->second != outcome;
    keys_.push_back(std::move(key));
    if (keys_.size() > limit_) {
        by_key_.erase(keys_.front());
        keys_.pop_front();
    }
    return false;
}

void RecentOutcomes::clear() {
    const std::lock_guard lock(mutex_);
    by_key_.clear();
    keys_.clear();
}

}  // namespace rampart::serving
