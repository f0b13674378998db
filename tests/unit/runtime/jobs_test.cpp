#include "rampart/runtime/jobs.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include "rampart/runtime/reasons.hpp"
#include "support/set_clock.hpp"
#include "support/thread_names.hpp"

namespace rampart::runtime {
namespace {

using base::Duration;

const auto kMs = [](int64_t n) { return Duration::micros(n * 1000); };

base::Status fails(std::string reason) {
    return base::Error{base::ErrorCode::kUnavailable, std::move(reason), "it failed"};
}

/// Waits until something holds; false after 20 s.
bool soon(const std::function<bool()>& holds) {
    for (int i = 0; i < 20000; ++i) {
        if (holds()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
}

TEST(Jobs, AreRepeatedAndDoNotWaitForOneAnother) {
    Metrics metrics;
    std::atomic<int> quick = 0;
    std::atomic<bool> held = true;
    Jobs jobs(metrics);
    jobs.add({.name = "slow", .every = kMs(1)}, [&](const JobRun& run) {
        while (held && !run.stopping()) std::this_thread::yield();
        return base::ok();
    });
    jobs.add({.name = "quick", .every = kMs(1)}, [&](const JobRun&) {
        ++quick;
        return base::ok();
    });
    EXPECT_TRUE(soon([&] { return quick > 20; })) << "the slow job stands in its way";
    auto states = jobs.states();
    ASSERT_EQ(states.size(), 2u);
    EXPECT_EQ(states[0].name, "slow");
    EXPECT_TRUE(states[0].running);
    EXPECT_FALSE(states[0].since_success);
    EXPECT_EQ(states[0].runs, 0u);
    EXPECT_FALSE(states[0].next);
    EXPECT_TRUE(states[1].since_success);
    held = false;
    EXPECT_TRUE(soon([&] { return jobs.states()[0].runs > 0; }));
}

TEST(Jobs, TheThreadOfEachHasItsName) {
    Metrics metrics;
    Jobs jobs(metrics);
    for (const char* name : {"quick", "a-name-of-18-bytes"})
        jobs.add({.name = name, .every = kMs(1)}, [](const JobRun&) { return base::ok(); });
    test_support::expect_threads("job-quick", 1);
    test_support::expect_threads("job-a-name-of-1", 1);
}

TEST(Jobs, OneInTheBackgroundHasALowerPriority) {
    const auto priority = [] { return getpriority(PRIO_PROCESS, 0); };  // the calling thread's
    Metrics metrics;
    std::promise<int> background, other;
    Jobs jobs(metrics);
    const auto tell = [&](std::promise<int>& into) {
        return [&into, priority](const JobRun&) {
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

TEST(Jobs, AFailureIsKeptAndThePausesGrow) {
    Metrics metrics;
    std::atomic<int> runs = 0;
    std::atomic<bool> bad = true;
    const auto begin = std::chrono::steady_clock::now();
    Jobs jobs(metrics);
    jobs.add({.name = "join", .every = kMs(1), .longest = kMs(40)}, [&](const JobRun&) {
        ++runs;
        return bad ? fails("gap") : base::ok();
    });
    ASSERT_TRUE(soon([&] { return runs >= 4; }));
    auto state = jobs.states()[0];
    EXPECT_EQ(state.last.error().reason, "gap");
    EXPECT_GE(state.failures, 3u);
    EXPECT_EQ(state.in_a_row, state.failures);
    EXPECT_FALSE(state.since_success);
    ASSERT_TRUE(soon([&] { return runs >= 8; }));
    // 2 + 4 + 8 + 16 + 32 + 40 + 40 ms
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(142));
    bad = false;
    ASSERT_TRUE(soon([&] { return jobs.states()[0].since_success.has_value(); }));
    EXPECT_EQ(jobs.states()[0].in_a_row, 0u);
    EXPECT_TRUE(jobs.states()[0].last);
    const auto text = metrics.prometheus_text();
    EXPECT_NE(text.find("rampart_job_failures_total{task=\"join\"}"), std::string::npos) << text;
    EXPECT_NE(text.find("rampart_job_age_seconds{task=\"join\"} "), std::string::npos) << text;
}

TEST(Jobs, OneWithoutASignOfLifeIsStuckAndOneThatAsksIsNot) {
    Metrics metrics;
    std::atomic<bool> asks = true, held = true;
    Jobs jobs(metrics);
    jobs.add({.name = "learn", .stuck_after = kMs(1000)}, [&](const JobRun& run) {
        while (held) {
            if (asks) static_cast<void>(run.stopping());
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return base::ok();
    });
    ASSERT_TRUE(soon([&] { return jobs.states()[0].running && jobs.states()[0].age > 1.2; }));
    EXPECT_FALSE(jobs.states()[0].stuck) << "it asks whether to stop";
    EXPECT_TRUE(jobs.check_stuck(false));
    asks = false;
    EXPECT_TRUE(soon([&] { return jobs.states()[0].stuck; }));
    EXPECT_EQ(jobs.check_stuck(false).error().reason, reason_info(Reason::kJobStuck).word);
    EXPECT_TRUE(jobs.check_stuck(true)) << "it is not vital";
    held = false;
}

TEST(Jobs, OneThatNeverSucceedsAgesFromItsStartOn) {
    support::SetClock clock(base::TimePoint::from_micros(7));
    Metrics metrics;
    Jobs jobs(metrics, &clock);
    jobs.add({.name = "join", .every = kMs(1)}, [](const JobRun&) { return fails("gap"); });
    ASSERT_TRUE(soon([&] { return jobs.states()[0].failures > 0; }));
    clock.move(Duration::seconds(1000));
    const auto failures = jobs.states()[0].failures;
    ASSERT_TRUE(soon([&] { return jobs.states()[0].failures > failures + 1; }));
    EXPECT_EQ(jobs.states()[0].since_added, 1000);
    EXPECT_EQ(jobs.states()[0].age, 0) << "of the last run";
    const auto text = metrics.prometheus_text();
    for (const char* line : {"rampart_job_age_seconds{task=\"join\"} 1000\n",
                             "rampart_job_interval_seconds{task=\"join\"} 0.001\n"})
        EXPECT_NE(text.find(line), std::string::npos) << text;
}

TEST(Jobs, OneIsStuckByTheClockThatIsGiven) {
    support::SetClock clock(base::TimePoint::from_micros(7));
    Metrics metrics;
    std::atomic<bool> held = true;
    Jobs jobs(metrics, &clock);
    jobs.add({.name = "learn"}, [&](const JobRun&) {
        while (held) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return base::ok();
    });
    ASSERT_TRUE(soon([&] { return jobs.states()[0].running; }));
    clock.move(Duration::seconds(600));
    EXPECT_FALSE(jobs.states()[0].stuck);
    clock.move(Duration::seconds(1));
    EXPECT_TRUE(jobs.states()[0].stuck);
    EXPECT_NE(metrics.prometheus_text().find("rampart_job_stuck{task=\"learn\"} 1"),
              std::string::npos);
    held = false;
}

TEST(Jobs, WhatIsThrownIsAFailure) {
    Metrics metrics;
    Jobs jobs(metrics);
    jobs.add({.name = "learn", .every = kMs(1)},
             [](const JobRun&) -> base::Status { throw std::bad_alloc(); });
    ASSERT_TRUE(soon([&] { return jobs.states()[0].failures > 1; }));
    EXPECT_EQ(jobs.states()[0].last.error().reason, "job_threw");
}

TEST(Jobs, OneCanBeStoppedBeforeTheOthers) {
    Metrics metrics;
    std::atomic<int> others = 0;
    Jobs jobs(metrics);
    jobs.add({.name = "learn", .every = kMs(1)}, [&](const JobRun& run) {
        while (!run.stopping()) std::this_thread::yield();
        return base::ok();
    });
    jobs.add({.name = "leases", .every = kMs(1)}, [&](const JobRun&) {
        ++others;
        return base::ok();
    });
    ASSERT_TRUE(soon([&] { return jobs.states()[0].running; }));
    jobs.request_stop("learn");
    ASSERT_TRUE(soon([&] { return jobs.states()[0].runs == 1; }));
    const int before = others;
    EXPECT_TRUE(soon([&] { return others > before + 3; })) << "leases are kept until the end";
}

TEST(Jobs, StopEndsPausesAtOnceAndNamesWhatStillRuns) {
    Metrics metrics;
    std::atomic<bool> held = true, began = false, deaf = false;
    Jobs jobs(metrics);
    jobs.add({.name = "pausing", .every = Duration::hours(1)},
             [&](const JobRun&) { return base::ok(); });
    jobs.add({.name = "polite"}, [&](const JobRun& run) {
        began = true;
        while (!run.stopping()) std::this_thread::yield();
        return fails("stopped");
    });
    jobs.add({.name = "deaf"}, [&](const JobRun&) {
        deaf = true;
        while (held) std::this_thread::yield();
        return base::ok();
    });
    ASSERT_TRUE(soon([&] { return began && deaf && jobs.states()[0].runs == 1; }));
    EXPECT_EQ(jobs.stop(Duration::seconds(2)), std::vector<std::string>{"deaf"});
    EXPECT_EQ(jobs.states()[1].failures, 0u) << "to be stopped is no failure";
    held = false;
    EXPECT_TRUE(jobs.stop(Duration::seconds(20)).empty());
}

}  // namespace
}  // namespace rampart::runtime
