#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace rampart::base {

/// Fixed number of threads that work through index ranges, created by the owner of the process.
/// Results may not depend on the number of threads. Only one thread at a time may call run().
///
/// A waiting thread spins for some microseconds before it sleeps: learners call run() thousands of
/// times a second, and waking a thread takes longer than many of their tasks.
class ThreadPool {
  public:
    explicit ThreadPool(size_t threads);  // 1: all tasks run in the calling thread
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    size_t size() const { return workers_.size() + 1; }

    /// Calls task(i) once for each i in [0, n), on the caller's and the pool's threads; returns
    /// when all are done. Tasks may not throw and may not call run().
    void run(size_t n, const std::function<void(size_t)>& task);

  private:
    void work();
    bool take_and_run(std::unique_lock<std::mutex>& lock);

    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable start_, done_;
    const std::function<void(size_t)>* task_ = nullptr;
    size_t next_ = 0, end_ = 0;
    bool stop_ = false;
    // written under the mutex, read without it
    std::atomic<uint64_t> calls_ = 0;     // number of run() calls
    std::atomic<size_t> unfinished_ = 0;  // tasks left in the present call
};

}  // namespace rampart::base
