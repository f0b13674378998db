#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

/// What a server keeps of its connections: those that wait for a thread, and all that are open.
namespace rampart::http {

/// Limits the handlers of one Lane that run concurrently, and queues the others.
template <class Session>
class LaneGate {
  public:
    enum class Entry { kGo, kWait, kFull };
    void open(size_t places, bool queue) {
        free_ = places;
        queue_ = queue;
    }

    /// Returns kGo: run, then leave(); or kWait: run() of the session is called when it is its
    /// turn.
    Entry enter(const std::shared_ptr<Session>& session) {
        const std::lock_guard lock(mutex_);
        if (free_ > 0) {
            --free_;
            return Entry::kGo;
        }
        if (!queue_) return Entry::kFull;
        waiting_.push_back(session);
        return Entry::kWait;
    }
    /// Returns the session that gets the place; nullptr: the place is free.
    std::shared_ptr<Session> leave() {
        const std::lock_guard lock(mutex_);
        if (waiting_.empty()) {
            ++free_;
            return nullptr;
        }
        auto next = std::move(waiting_.front());
        waiting_.pop_front();
        return next;
    }
    void clear() {
        std::deque<std::shared_ptr<Session>> gone;
        const std::lock_guard lock(mutex_);
        gone.swap(waiting_);
    }

  private:
    std::mutex mutex_;
    size_t free_ = 0;
    bool queue_ = true;
    std::deque<std::shared_ptr<Session>> waiting_;
};

/// The open sessions, so that stop() can reach them and wait for the last one.
template <class Session>
class OpenSessions {
  public:
    void add(const std::shared_ptr<Session>& session) {
        const std::lock_guard lock(mutex_);
        sessions_.insert({session.get(), session});
    }
    void remove(Session* session) {
        const std::lock_guard lock(mutex_);
        sessions_.erase(session);
        if (sessions_.empty()) none_left_.notify_all();
    }
    size_t count() const {
        const std::lock_guard lock(mutex_);
        return sessions_.size();
    }
    std::vector<std::shared_ptr<Session>> all() const {
        const std::lock_guard lock(mutex_);
        std::vector<std::shared_ptr<Session>> all;
        for (const auto& [key, weak] : sessions_) {
            if (auto session = weak.lock()) all.push_back(std::move(session));
        }
        return all;
    }
    /// Returns the session that may be closed to make room for another; nullptr: none.
    std::shared_ptr<Session> one_that_waits() const {
        std::shared_ptr<Session> best;
        // without the lock: to let go of a session as the last owner removes it from here
        for (auto& session : all())
            if (session->may_close() && (!best || session->closes_before(*best)))
                best = std::move(session);
        return best;
    }
    bool wait_for_none(std::chrono::microseconds timeout) {
        std::unique_lock lock(mutex_);
        return none_left_.wait_for(lock, timeout, [&] { return sessions_.empty(); });
    }

  private:
    mutable std::mutex mutex_;
    std::condition_variable none_left_;
    std::map<Session*, std::weak_ptr<Session>> sessions_;
};

}  // namespace rampart::http
