#include "rampart/runtime/clock_guard.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "rampart/base/file.hpp"
#include "support/set_clock.hpp"

namespace rampart::runtime {
namespace {

namespace fs = std::filesystem;
using base::Duration;
using base::TimePoint;
using support::Host;

class Guard : public testing::Test {
  protected:
    ~Guard() override { fs::remove(file_); }
    std::unique_ptr<ClockGuard> open(std::optional<TimePoint> last_used = std::nullopt) {
        return ClockGuard::open({file_, Duration::hours(24)}, host_.wall, host_.boot, last_used)
            .value();
    }
    static std::string reason(const base::Status& status) {
        return status ? "" : status.error().reason;
    }
    Host host_;
    const fs::path file_ = fs::path(testing::TempDir()) / fmt::format("clock_guard.{}", ::getpid());
};

TEST_F(Guard, AStepOfMoreThanTenMinutesIsAJumpUntilItIsAccepted) {
    for (const int64_t sign : {1, -1}) {
        const auto guard = open();
        host_.pass(Duration::days(40));  // for any running time
        host_.wall.move(Duration::seconds(sign * 600));
        EXPECT_EQ(reason(guard->check()), "");
        host_.wall.move(Duration::seconds(sign * 1));
        const TimePoint expected = host_.wall.now() - Duration::seconds(sign * 601);
        EXPECT_EQ(reason(guard->check()), "clock_jump");
        EXPECT_EQ(guard->now(), expected) << "as it would be without the step";
        host_.pass(Duration::hours(1));
        EXPECT_EQ(guard->now(), expected + Duration::hours(1));
        EXPECT_EQ(reason(guard->check()), "clock_jump");
        ASSERT_TRUE(guard->accept());
        EXPECT_EQ(reason(guard->check()), "");
        EXPECT_EQ(guard->now(), host_.wall.now());
    }
}

TEST_F(Guard, AClockThatWasSetRightAgainStillWantsAWord) {
    const auto guard = open();
    host_.wall.move(Duration::days(300));
    EXPECT_EQ(reason(guard->check()), "clock_jump");
    host_.wall.move(Duration::days(-300));
    EXPECT_EQ(reason(guard->check()), "clock_jump");
    EXPECT_EQ(guard->now(), host_.wall.now());
    EXPECT_FALSE(guard->time_unknown());
    ASSERT_TRUE(guard->accept());
    EXPECT_EQ(reason(guard->check()), "");
}

TEST_F(Guard, AtTheStartTimeBeforeTheLastUseOrTooLongAfterItIsAJump) {
    EXPECT_EQ(reason(open()->check()), "") << "a new store";
    struct Case {
        Duration since;
        const char* reason;
    };
    for (const auto& one :
         {Case{Duration::seconds(-1), "clock_jump"}, Case{Duration(), ""},
          Case{Duration::hours(24), ""}, Case{Duration::seconds(24 * 3600 + 1), "clock_jump"}}) {
        const auto guard = open(host_.wall.now() - one.since);
        EXPECT_EQ(reason(guard->check()), one.reason) << one.since.micros();
        EXPECT_EQ(guard->time_unknown(), !guard->check());
        EXPECT_EQ(guard->now(), host_.wall.now());
    }
}

TEST_F(Guard, TheLastUseIsKeptAndAJumpOutlivesARestart) {
    ASSERT_TRUE(open()->beat());
    host_.pass(Duration::hours(23));
    EXPECT_EQ(reason(open(TimePoint())->check()), "")
        << "the file says more than what else there is";
    host_.pass(Duration::hours(2));
    for (int restart = 0; restart < 2; ++restart) {
        const auto guard = open();
        EXPECT_EQ(reason(guard->check()), "clock_jump");
        EXPECT_TRUE(guard->beat());  // writes nothing
    }
    ASSERT_TRUE(open()->accept());
    EXPECT_EQ(reason(open()->check()), "");
    ASSERT_TRUE(base::write_file_atomically(file_, "yesterday\n"));
    EXPECT_EQ(
        ClockGuard::open({file_, Duration::hours(24)}, host_.wall, host_.boot, {}).error().reason,
        "bad_clock_file");
}

TEST_F(Guard, AfterAStartAtAWrongTimeTheWallClockIsFollowedOnceItIsRight) {
    const auto guard = open(host_.wall.now() + Duration::days(1));
    host_.wall.move(Duration::days(2));
    EXPECT_EQ(guard->now(), host_.wall.now());
    EXPECT_EQ(reason(guard->check()), "clock_jump");
}

}  // namespace
}  // namespace rampart::runtime
