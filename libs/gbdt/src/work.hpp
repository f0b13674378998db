#pragma once

#include <algorithm>
#include <atomic>

#include "rampart/base/thread_pool.hpp"
#include "rampart/gbdt/objective.hpp"

/// Parallel loops whose results do not depend on the number of threads.
namespace rampart::gbdt {

/// Runs task(i) for each i in [0, n); `pool` may be nullptr.
template <class Task>
void run_tasks(base::ThreadPool* pool, size_t n, const Task& task) {
    if (pool == nullptr || n <= 1) {
        for (size_t i = 0; i < n; ++i) task(i);
        return;
    }
    pool->run(n, task);
}

/// Runs task(worker, i) for each i in [0, n); a free worker takes the next i, one at a time. If
/// another process delays one thread, the others take over its share.
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

/// Returns the number of chunks. Sums of chunks are added in their order.
inline size_t chunks_of(size_t rows) { return (rows + kChunkRows - 1) / kChunkRows; }

}  // namespace rampart::gbdt
