#include "rampart/runtime/priority.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <future>
#include <thread>

#include "rampart/runtime/jobs.hpp"

namespace rampart::runtime {
namespace {

int priority() { return getpriority(PRIO_PROCESS, 0); }  // the calling thread's

TEST(Priority, IsLowerForTheThreadAndThoseThatItStartsAndForNoOther) {
    const int before = priority();
    int lowered = 0, started = 0;
    std::thread([&] {
        lower_priority();
        lowered = priority();
        std::thread([&] { started = priority(); }).join();
    }).join();
    EXPECT_EQ(lowered, std::max(before, 10));
    EXPECT_EQ(started, lowered);
    EXPECT_EQ(priority(), before);
}

TEST(Priority, IsLowerForAJobInTheBackground) {
    Metrics metrics;
    std::promise<int> background, other;
    Jobs jobs(metrics);
    const auto tell = [](std::promise<int>& into) {
        return [&into](const JobRun&) {
            into.set_value(priority());
            return base::ok();
        };
    };
    const auto hour = base::Duration::hours(1);
    jobs.add({.name = "learn", .every = hour, .longest = hour, .background = true},
             tell(background));
    jobs.add({.name = "join", .every = hour, .longest = hour}, tell(other));
    EXPECT_EQ(background.get_future().get(), std::max(priority(), 10));
    EXPECT_EQ(other.get_future().get(), priority());
}

}  // namespace
}  // namespace rampart::runtime
