#include "rampart/base/thread_pool.hpp"

#include <chrono>

#include "rampart/base/check.hpp"

namespace rampart::base {
namespace {

/// Spins until the condition holds, but only about as long as it takes to wake a thread.
template <class Condition>
void spin_until(const Condition& condition) {
    constexpr auto kSpinTime = std::chrono::microseconds(50);
    const auto end = std::chrono::steady_clock::now() + kSpinTime;
    do {
        for (int i = 0; i < 32; ++i) {
            if (condition()) return;
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
    } while (std::chrono::steady_clock::now() < end);
}

}  // namespace

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

/// Takes the next task, if there is one, and runs it without the lock.
bool ThreadPool::take_and_run(std::unique_lock<std::mutex>& lock) {
    if (next_ == end_) return false;
    const size_t index = next_++;
    const auto& task = *task_;
    lock.unlock();
    task(index);
    lock.lock();
    if (--unfinished_ == 0) done_.notify_all();
    return true;
}

void ThreadPool::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        const uint64_t seen = calls_;
        if (next_ == end_ && !stop_) {
            lock.unlock();
            spin_until([&] { return calls_ != seen; });
            lock.lock();
        }
        start_.wait(lock, [this] { return stop_ || next_ != end_; });
        if (stop_) return;
        while (take_and_run(lock)) {
        }
    }
}

void ThreadPool::run(size_t n, const std::function<void(size_t)>& task) {
    if (workers_.empty() || n <= 1) {
        for (size_t i = 0; i < n; ++i) task(i);
        return;
    }
    std::unique_lock lock(mutex_);
    RAMPART_CHECK(next_ == end_ && unfinished_ == 0, "run() called inside run()");
    task_ = &task;
    next_ = 0;
    end_ = n;
    unfinished_ = n;
    ++calls_;
    start_.notify_all();
    while (take_and_run(lock)) {
    }
    if (unfinished_ > 0) {
        lock.unlock();
        spin_until([this] { return unfinished_ == 0; });
        lock.lock();
        done_.wait(lock, [this] { return unfinished_ == 0; });
    }
    next_ = end_ = 0;
}

}  // namespace rampart::base
