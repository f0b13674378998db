#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace rampart::http {

/// Requests that wait to be answered together, in the order in which they came. Where the last
/// group had more than one, a worker gathers the next for a moment first: a group costs as much
/// as several requests, above all two writes to the disk. Thread safe.
template <class Session>
class GroupQueue {
  public:
    using Time = std::chrono::steady_clock::time_point;
    enum class Entry { kWork, kWait, kFull };

    struct Options {
        size_t workers = 1;                        // how many groups are answered at a time
        size_t most = 1;                           // requests of a group
        std::chrono::microseconds longest_wait{};  // the oldest's, before no other is let in
        std::chrono::microseconds gather{};        // longest time that a worker gathers
        size_t enough = 1;                         // requests that end the gathering
    };
    void open(const Options& options) {
        options_ = options;
        // who is gathered has not waited too long
        options_.gather = std::min(options.gather, options.longest_wait / 4);
        free_ = options.workers;
    }

    /// Returns kWork: queued, and the caller is a worker, which calls take() until it gives
    /// nothing; kWait: queued, a worker will take it; kFull: not queued.
    Entry enter(std::shared_ptr<Session> session, Time now) {
        const std::lock_guard lock(mutex_);
        if (!waiting_.empty() && now - waiting_.front().since >= options_.longest_wait)
            return Entry::kFull;
        waiting_.push_back({std::move(session), now});
        if (gathers_ && waiting_.size() >= options_.enough) gathered_.notify_one();
        if (gathers_ || free_ == 0) return Entry::kWait;
        --free_;
        return Entry::kWork;
    }

    struct Group {
        std::vector<std::shared_ptr<Session>> sessions;
        bool another = false;  // others wait: one more worker is to begin
    };
    /// Returns the next group; empty: none waits, or another worker gathers, and the caller is no
    /// worker any more.
    Group take() {
        Group next;
        auto& group = next.sessions;
        std::unique_lock lock(mutex_);
        if (!gathers_) gather(lock);
        while (!gathers_ && !waiting_.empty() && group.size() < options_.most &&
               (group.empty() || waiting_.front().session->same_group(*group.front()))) {
            group.push_back(std::move(waiting_.front().session));
            waiting_.pop_front();
        }
        if (group.empty()) {
            ++free_;
            return next;
        }
        several_ = group.size() > 1;
        next.another = !waiting_.empty() && free_ > 0;  // none came for them while one gathered
        if (next.another) --free_;
        return next;
    }

    /// Lets those that wait go without an answer.
    void clear() {
        std::deque<Waiting> gone;
        const std::lock_guard lock(mutex_);
        gone.swap(waiting_);
    }

  private:
    /// Waits until enough requests are there, for some time. With the lock.
    void gather(std::unique_lock<std::mutex>& lock) {
        if (!several_ || waiting_.empty() || options_.gather.count() == 0) return;
        gathers_ = true;
        gathered_.wait_for(lock, options_.gather,
                           [this] { return waiting_.size() >= options_.enough; });
        gathers_ = false;
    }

    struct Waiting {
        std::shared_ptr<Session> session;
        Time since;
    };

    Options options_;
    std::mutex mutex_;
    std::condition_variable gathered_;
    size_t free_ = 0;       // workers
    bool gathers_ = false;  // one of them does
    bool several_ = false;  // requests were in the last group
    std::deque<Waiting> waiting_;
};

}  // namespace rampart::http
