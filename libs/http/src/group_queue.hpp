#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace rampart::http {

/// Requests that wait to be answered together, in the order in which they came. Thread safe.
template <class Session>
class GroupQueue {
  public:
    using Time = std::chrono::steady_clock::time_point;
    enum class Entry { kWork, kWait, kFull };

    /// `workers`: how many groups are answered at a time; `most`: requests of a group. While the
    /// oldest has waited for `longest_wait`, no other is let in.
    void open(size_t workers, size_t most, std::chrono::microseconds longest_wait) {
        free_ = workers;
        most_ = most;
        longest_wait_ = longest_wait;
    }

    /// Returns kWork: queued, and the caller is a worker, which calls take() until it gives
    /// nothing; kWait: queued, a worker will take it; kFull: not queued.
    Entry enter(std::shared_ptr<Session> session, Time now) {
        const std::lock_guard lock(mutex_);
        if (!waiting_.empty() && now - waiting_.front().since >= longest_wait_) return Entry::kFull;
        waiting_.push_back({std::move(session), now});
        if (free_ == 0) return Entry::kWait;
        --free_;
        return Entry::kWork;
    }

    /// Returns the next group; empty: none waits, and the caller is no worker any more.
    std::vector<std::shared_ptr<Session>> take() {
        std::vector<std::shared_ptr<Session>> group;
        const std::lock_guard lock(mutex_);
        while (!waiting_.empty() && group.size() < most_ &&
               (group.empty() || waiting_.front().session->same_group(*group.front()))) {
            group.push_back(std::move(waiting_.front().session));
            waiting_.pop_front();
        }
        if (group.empty()) ++free_;
        return group;
    }

    void clear() {
        std::deque<Waiting> gone;
        const std::lock_guard lock(mutex_);
        gone.swap(waiting_);
    }

  private:
    struct Waiting {
        std::shared_ptr<Session> session;
        Time since;
    };

    std::mutex mutex_;
    size_t free_ = 0, most_ = 1;
    std::chrono::microseconds longest_wait_{};
    std::deque<Waiting> waiting_;
};

}  // namespace rampart::http
