#include "rampart/base/thread_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace rampart::base {
namespace {

TEST(ThreadPool, RunsEveryIndexOnceWhateverTheNumberOfThreads) {
    for (const size_t threads : {1u, 2u, 5u}) {
        ThreadPool pool(threads);
        EXPECT_EQ(pool.size(), threads);
        for (int round = 0; round < 200; ++round) {
            std::vector<std::atomic<int>> hits(97);
            pool.run(hits.size(), [&](size_t i) { ++hits[i]; });
            for (const auto& hit : hits) ASSERT_EQ(hit, 1);
        }
    }
}

TEST(ThreadPool, NothingToDoReturnsAtOnce) {
    ThreadPool pool(3);
    pool.run(0, [](size_t) { FAIL(); });
}

}  // namespace
}  // namespace rampart::base
