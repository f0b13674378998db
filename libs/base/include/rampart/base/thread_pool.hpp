#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace rampart::base {

/// A fixed number of threads that work through index ranges. Handed in by whoever owns the process;
/// results may not depend on the number of threads. run() may be called from one thread at a time.
class ThreadPool {
  public:
    explicit ThreadPool(size_t threads);  // 1 = everything runs in the caller
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    size_t size() const { return workers_.size() + 1; }

    /// Calls task(i) once for each i in [0, n), on the caller's and the pool's threads; returns when
    /// all are done. Tasks may not throw and may not call run.
    void run(size_t n, const std::function<void(size_t)>& task);

  private:
    void work();
    bool take_and_run(std::unique_lock<std::mutex>& lock);

    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable start_, done_;
    const std::function<void(size_t)>* task_ = nullptr;
    size_t next_ = 0, end_ = 0, running_ = 0;
    bool stop_ = false;
};

}  // namespace rampart::base
