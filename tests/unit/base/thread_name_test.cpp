#include "rampart/base/thread_name.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "rampart/base/thread_pool.hpp"
#include "support/thread_names.hpp"

namespace rampart::base {
namespace {

using test_support::expect_threads;
using test_support::thread_names;

/// A thread that does what it is given, and stays until it is let go.
class Staying {
  public:
    explicit Staying(const std::function<void()>& work)
        : thread_([this, work] {
              work();
              std::unique_lock lock(mutex_);
              done_ = true;
              changed_.notify_all();
              changed_.wait(lock, [this] { return leave_; });
          }) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return done_; });
    }
    ~Staying() {
        {
            const std::lock_guard lock(mutex_);
            leave_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }
    Staying(const Staying&) = delete;
    Staying& operator=(const Staying&) = delete;

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool done_ = false, leave_ = false;
    std::thread thread_;
};

TEST(ThreadName, IsWhatOthersSee) {
    const Staying one([] { name_this_thread("unit-one"); });
    const Staying two([] {
        name_this_thread("unit-one");
        name_this_thread("unit-two");
    });
    const Staying back([] {
        name_this_thread("unit-back");
        name_this_thread("unit-other");
        name_this_thread("unit-back");
    });
    const auto names = thread_names();
    EXPECT_EQ(names.count("unit-one"), 1u);
    EXPECT_EQ(names.count("unit-two"), 1u);
    EXPECT_EQ(names.count("unit-back"), 1u);
}

TEST(ThreadName, IsCutWhereItIsTooLong) {
    ASSERT_EQ(kMaxThreadName, 15u);
    const Staying fits([] { name_this_thread("fifteen-bytes-x"); });
    const Staying longer([] { name_this_thread("sixteen-bytes-xy"); });
    const auto names = thread_names();
    EXPECT_EQ(names.count("fifteen-bytes-x"), 1u);
    EXPECT_EQ(names.count("sixteen-bytes-x"), 1u);
}

TEST(ThreadName, GoesToTheThreadsOfAPoolThatTheThreadMakes) {
    std::unique_ptr<ThreadPool> pool;
    std::thread([&] {
        name_this_thread("unit-pool");
        pool = std::make_unique<ThreadPool>(4);
    }).join();
    expect_threads("unit-pool", 3);
}

}  // namespace
}  // namespace rampart::base
