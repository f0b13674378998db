#include "rampart/runtime/reload_signal.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace rampart::runtime {
namespace {

TEST(ReloadSignal, TakesEachHangupOnce) {
    ReloadSignal signal;
    EXPECT_FALSE(signal.take());
    std::raise(SIGHUP);
    EXPECT_TRUE(signal.take());
    EXPECT_FALSE(signal.take());
    std::raise(SIGHUP);
    EXPECT_TRUE(signal.take());
}

TEST(ReloadSignal, PutsBackWhatWasThere) {
    static volatile std::sig_atomic_t seen = 0;
    const auto before = std::signal(SIGHUP, [](int) { seen = 1; });
    { const ReloadSignal signal; }
    std::raise(SIGHUP);
    std::signal(SIGHUP, before);
    EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace rampart::runtime
