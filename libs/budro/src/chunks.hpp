#pragma once

#include <algorithm>
#include <cstddef>

#include "rampart/base/thread_pool.hpp"

namespace rampart::budro {

/// task(chunk, first, last) for ranges of `size` out of 0 … n - 1. What is added up by chunk and
/// then in the order of the chunks does not depend on the threads. `pool` may be nullptr.
template <class Task>
void for_chunks(base::ThreadPool* pool, size_t n, size_t size, const Task& task) {
    const size_t chunks = (n + size - 1) / size;
    const auto one = [&](size_t chunk) {
        task(chunk, chunk * size, std::min(n, (chunk + 1) * size));
    };
    if (pool == nullptr || chunks <= 1) {
        for (size_t chunk = 0; chunk < chunks; ++chunk) one(chunk);
        return;
    }
    pool->run(chunks, one);
}

}  // namespace rampart::budro
