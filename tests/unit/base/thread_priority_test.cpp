#include "rampart/base/thread_priority.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <thread>

namespace rampart::base {
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

/// Returns the calling thread's slice of time, ns; 0: the system's, or Linux does not say.
uint64_t slice() {
    struct {
        uint32_t size = 56, policy = 0;
        uint64_t flags = 0;
        int32_t nice = 0;
        uint32_t priority = 0;
        uint64_t runtime = 0, deadline = 0, period = 0, clamps = 0;
    } attributes;
    EXPECT_EQ(syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0), 0);
    return attributes.runtime;
}

TEST(Priority, APromptThreadHasAShortSliceAndALowerOneLosesIt) {
    const uint64_t before = slice();
    const int nice = priority();
    uint64_t prompt = 0, started = 0, lowered = 0;
    int nice_of_prompt = -1, nice_of_lowered = -1;
    std::thread([&] {
        wake_promptly();
        prompt = slice();
        nice_of_prompt = priority();
        std::thread([&] { started = slice(); }).join();
        lower_priority();
        lowered = slice();
        nice_of_lowered = priority();
    }).join();
    EXPECT_EQ(nice_of_prompt, nice);
    EXPECT_EQ(nice_of_lowered, std::max(nice, 10));
    EXPECT_EQ(slice(), before) << "of this thread";
    if (prompt == before) GTEST_SKIP() << "Linux before 6.12 has one slice for all";
    EXPECT_EQ(prompt, 100'000u);
    EXPECT_EQ(started, prompt);
    EXPECT_EQ(lowered, before);
}

}  // namespace
}  // namespace rampart::base
