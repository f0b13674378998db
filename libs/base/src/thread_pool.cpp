#include "rampart/base/thread_pool.hpp"

#include "rampart/base/check.hpp"

namespace rampart::base {

ThreadPool::ThreadPool(size_t threads) {
    RAMPART_CHECK(threads >= 1 && threads <= 256, "threads={}", threads);
    for (size_t i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    start_.notify_all();
    for (auto& worker : workers_) worker.join();
}

bool ThreadPool::take_and_run(std::unique_lock<std::mutex>& lock) {
    if (next_ == end_) return false;
    const size_t index = next_++;
    const auto& task = *task_;
    ++running_;
    lock.unlock();
    task(index);
    lock.lock();
    --running_;
    return true;
}

void ThreadPool::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        start_.wait(lock, [this] { return stop_ || next_ != end_; });
        if (stop_) return;
        while (take_and_run(lock)) {
        }
        if (running_ == 0) done_.notify_all();
    }
}

void ThreadPool::run(size_t n, const std::function<void(size_t)>& task) {
    if (workers_.empty() || n <= 1) {
        for (size_t i = 0; i < n; ++i) task(i);
        return;
    }
    std::unique_lock lock(mutex_);
    RAMPART_CHECK(next_ == end_ && running_ == 0, "run() called inside run()");
    task_ = &task;
    next_ = 0;
    end_ = n;
    start_.notify_all();
    while (take_and_run(lock)) {
    }
    done_.wait(lock, [this] { return running_ == 0; });
    next_ = end_ = 0;
}

}  // namespace rampart::base
