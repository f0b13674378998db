#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace rampart::decision_log {

/// Work of many threads that one of them at a time does for all that wait, so that many appends
/// share one write to the disk. `Work` has size(), the number of records that it may append.
/// Thread safe.
template <typename Work>
class GroupCommit {
  public:
    /// Does all of it, in the order in which it came. Called by one thread at a time.
    using Commit = std::function<void(std::span<Work* const>)>;

    /// `max_together`: records of the works that are done in one call; one alone may have more.
    GroupCommit(Commit commit, size_t max_together)
        : commit_(std::move(commit)), max_together_(max_together) {}

    /// Returns when `work` is done, by this thread or by another.
    void run(Work& work) {
        Entry entry{&work};
        std::unique_lock lock(mutex_);
        queue_.push_back(&entry);
        turn_.wait(lock, [&] { return entry.done || !committing_; });
        while (!entry.done) {
            const auto entries = take_queued();
            std::vector<Work*> works;
            for (const Entry* one : entries) works.push_back(one->work);
            committing_ = true;
            lock.unlock();
            commit_(works);
            lock.lock();
            committing_ = false;
            for (Entry* one : entries) one->done = true;
            turn_.notify_all();
        }
    }

    /// Works that are queued and not begun; tests look at the state by it.
    size_t waiting() const {
        const std::lock_guard lock(mutex_);
        return queue_.size();
    }

  private:
    struct Entry {
        Work* work;
        bool done = false;
    };

    std::vector<Entry*> take_queued() {
        std::vector<Entry*> entries;
        size_t records = 0;
        while (!queue_.empty()) {
            records += queue_.front()->work->size();
            if (!entries.empty() && records > max_together_) break;
            entries.push_back(queue_.front());
            queue_.pop_front();
        }
        return entries;
    }

    const Commit commit_;
    const size_t max_together_;
    mutable std::mutex mutex_;
    std::condition_variable turn_;
    std::deque<Entry*> queue_;
    bool committing_ = false;
};

}  // namespace rampart::decision_log
