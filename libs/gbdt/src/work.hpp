#pragma once

#include <algorithm>
#include <atomic>

#include "rampart/base/thread_pool.hpp"
#include "rampart/gbdt/objective.hpp"

/// Ways to share work between threads whose results do not depend on how many there are.
namespace rampart::gbdt {

/// task(i) for each i in [0, n); `pool` may be nullptr.
template <class Task>
void run_tasks(base::ThreadPool* pool, size_t n, const Task& task) {
    if (pool == nullptr || n <= 1) {
        for (size_t i = 0; i < n; ++i) task(i);
        return;
    }
    pool->run(n, task);
}

/// task(worker, i) for each i in [0, n), whoever is free taking the next; at one time a worker
/// works on one i. Where another process holds up one thread the others do its share.
template <class Task>
void run_workers(base::ThreadPool* pool, size_t n, const Task& task) {
    if (pool == nullptr || pool->size() == 1 || n <= 1) {
        for (size_t i = 0; i < n; ++i) task(size_t{0}, i);
        return;
    }
    std::atomic<size_t> next = 0;
    pool->run(std::min(n, pool->size()), [&](size_t worker) {
        for (size_t i = next++; i < n; i = next++) task(worker, i);
    });
}

/// Sums of chunks are added up in their order.
inline size_t chunks_of(size_t rows) { return (rows + kChunkRows - 1) / kChunkRows; }

}  // namespace rampart::gbdt
