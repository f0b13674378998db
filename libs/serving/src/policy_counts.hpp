#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "rampart/runtime/metric_list.hpp"

namespace rampart::serving {

/// Decisions by policy, of the last kMost policies that decided. Thread safe.
class PolicyCounts {
  public:
    static constexpr size_t kMost = 8;

    void add(const std::string& policy) {
        const std::lock_guard lock(mutex_);
        for (auto& [known, count] : counts_) {
            if (known != policy) continue;
            ++count;
            return;
        }
        if (counts_.size() == kMost) counts_.pop_front();
        counts_.emplace_back(policy, 1);
    }
    void write(runtime::Samples& out) const {
        const std::lock_guard lock(mutex_);
        for (const auto& [policy, count] : counts_) {
            out.add(runtime::metric::kPolicyDecisions, static_cast<double>(count),
                    {{"policy", policy}});
        }
    }

  private:
    mutable std::mutex mutex_;
    std::deque<std::pair<std::string, uint64_t>> counts_;  // the policy that came first in front
};

}  // namespace rampart::serving
