#include "rampart/runtime/shutdown.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

namespace rampart::runtime {
namespace {

TEST(Shutdown, ASignalIsARequest) {
    for (const int signal : {SIGTERM, SIGINT}) {
        const auto shutdown = Shutdown::install().value();
        EXPECT_FALSE(shutdown->requested());
        std::raise(signal);
        EXPECT_TRUE(shutdown->requested());
        shutdown->wait();
        EXPECT_TRUE(shutdown->requested());  // it stays
    }
}

TEST(Shutdown, WakesEveryWaiter) {
    const auto shutdown = Shutdown::install().value();
    std::thread one([&] { shutdown->wait(); });
    std::thread two([&] { EXPECT_TRUE(shutdown->wait_for(base::Duration::seconds(60))); });
    shutdown->request();
    one.join();
    two.join();
}

TEST(Shutdown, WaitsNoLongerThanAsked) {
    const auto shutdown = Shutdown::install().value();
    EXPECT_FALSE(shutdown->wait_for(base::Duration::micros(1)));
}

TEST(Shutdown, OneAtATime) {
    auto first = Shutdown::install().value();
    const auto second = Shutdown::install();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().reason, "already_installed");
    first->request();
    first.reset();
    const auto third = Shutdown::install();
    ASSERT_TRUE(third);
    EXPECT_FALSE((*third)->requested());  // the old request is forgotten
}

TEST(Shutdown, PutsBackWhatWasThere) {
    static volatile std::sig_atomic_t seen = 0;
    const auto before = std::signal(SIGTERM, [](int) { seen = 1; });
    Shutdown::install().value().reset();
    std::raise(SIGTERM);
    std::signal(SIGTERM, before);
    EXPECT_EQ(seen, 1);
}

TEST(ShutdownDeathTest, AHungUpPeerDoesNotEndTheProcess) {
    EXPECT_EXIT(
        {
            const auto shutdown = Shutdown::install().value();
            std::raise(SIGPIPE);
            std::_Exit(7);
        },
        testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace rampart::runtime
