#include "rampart/decision_log/group_commit.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>
#include <thread>

namespace rampart::decision_log {
namespace {

struct Work {
    size_t records = 0;
    int done_in = 0;  // the call that did it
    size_t size() const { return records; }
};

TEST(GroupCommit, DoesEachWorkOnceByOneThreadAtATime) {
    std::atomic<int> at_once{0}, calls{0};
    GroupCommit<Work> commits(
        [&](std::span<Work* const> works) {
            EXPECT_EQ(++at_once, 1);
            ++calls;
            for (Work* work : works) ++work->done_in;
            --at_once;
        },
        1000);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 200; ++i) {
                Work work{1};
                commits.run(work);
                EXPECT_EQ(work.done_in, 1);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_LE(calls, 1600);
}

/// Lets works queue up behind a first one, then returns which call did each.
std::vector<int> calls_of(const std::vector<size_t>& sizes, size_t max_together) {
    std::binary_semaphore begun(0), go_on(0);
    int calls = 0;
    GroupCommit<Work> commits(
        [&](std::span<Work* const> works) {
            if (calls++ == 0) {
                begun.release();
                go_on.acquire();
            }
            for (Work* work : works) work->done_in = calls;
        },
        max_together);
    std::vector<Work> works;
    for (const size_t size : sizes) works.push_back({size});
    std::vector<std::thread> threads;
    threads.emplace_back([&] { commits.run(works[0]); });
    begun.acquire();
    for (size_t i = 1; i < works.size(); ++i) {
        const size_t before = commits.waiting();
        threads.emplace_back([&, i] { commits.run(works[i]); });
        while (commits.waiting() == before) std::this_thread::yield();
    }
    go_on.release();
    for (auto& thread : threads) thread.join();
    std::vector<int> done_in;
    for (const Work& work : works) done_in.push_back(work.done_in);
    return done_in;
}

TEST(GroupCommit, WhatQueuedMeanwhileIsDoneTogetherUpToTheLimit) {
    EXPECT_EQ(calls_of({1, 2, 3, 4}, 100), (std::vector{1, 2, 2, 2}));
    EXPECT_EQ(calls_of({1, 2, 3, 4}, 5), (std::vector{1, 2, 2, 3}));
    EXPECT_EQ(calls_of({1, 2, 90, 4, 1}, 5), (std::vector{1, 2, 3, 4, 4}));
    EXPECT_EQ(calls_of({1, 0, 0, 5}, 5), (std::vector{1, 2, 2, 2}));
}

}  // namespace
}  // namespace rampart::decision_log
