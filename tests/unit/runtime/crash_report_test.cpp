#include "rampart/runtime/crash_report.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

namespace rampart::runtime {
namespace {

TEST(CrashReportDeathTest, SaysTheSignalAndTheStackAndEndsByIt) {
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
        EXPECT_EXIT(
            {
                report_crashes();
                report_crashes();
                ::raise(signal);
                ::_exit(0);
            },
            testing::KilledBySignal(signal), "crashed.* signal=[01][0-9]\n.*unit_runtime")
            << signal;
    }
}

}  // namespace
}  // namespace rampart::runtime
