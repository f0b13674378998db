#include "services/rampartd/clock_guard.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>

#include "rampart/base/file.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/wire/record_codec.hpp"
#include "services/rampartd/node.hpp"
#include "support/program.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

/// A wrong wall clock stops what cannot be undone, and only that.
namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using base::Duration;
using base::TimePoint;
using streaming::PartitionId;

/// A clock with a time that the test sets, also back in time.
class SetClock final : public base::Clock {
  public:
    explicit SetClock(TimePoint time) : time_(time) {}
    TimePoint now() const override { return time_; }
    void move(Duration by) { time_ = time_ + by; }

  private:
    TimePoint time_;
};

const TimePoint kStart = base::parse_iso8601("2005-04-01T10:00:00Z").value();

/// A host with clocks that the test sets.
struct Host {
    SetClock wall{kStart}, boot{TimePoint::from_micros(77)};
    void pass(Duration time) {
        wall.move(time);
        boot.move(time);
    }
};

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

/// A node with a wall clock, on a host with clocks that the test sets.
class NodeClock : public testing::Test {
  protected:
    NodeClock() {
        stream_ = loan_stream::load({.name = "simulated", .data_dir = {}, .rows = 60}).value();
        workspace_ =
            demo::prepare_workspace(folder_, RAMPART_SOURCE_DIR "/ops/config", stream_, 5).value();
        auto config = base::read_file(workspace_.config, 1 << 20).value();
        const std::string event = "mode = \"event\"";
        config.replace(config.find(event), event.size(), "mode = \"system\"");
        const size_t window = config.find("[event_time]");
        config.replace(window, config.find("\n[", window) - window, "");  // that of a service
        EXPECT_TRUE(base::write_file_atomically(workspace_.config, config));
    }
    ~NodeClock() override {
        node_.reset();
        fs::remove_all(folder_);
    }
    void open() {
        node_.reset();
        auto settings = load_settings(workspace_.config).value();
        settings.retention_period = Duration();  // at every tend()
        auto node = Node::open(std::move(settings), nullptr, {&host_.wall, &host_.boot});
        ASSERT_TRUE(node) << node.error().message;
        node_ = *std::move(node);
    }
    base::Result<domain::Decision> decide(size_t n, Duration ago = {}) {
        auto one = stream_.applicants.at(n).application;
        one.event_time = kStart - ago;
        auto decisions = node_->decisions().decide(std::span(&one, 1));
        if (!decisions) return decisions.error();
        return decisions->front();
    }
    /// Does what the process does each second.
    std::string tick() {
        const auto tended = node_->tend();
        EXPECT_TRUE(tended) << tended.error().message;
        const auto status = node_->advance(node_->now());
        return status ? "" : status.error().reason;
    }
    http::Response ask(const std::string& method, const std::string& path, std::string body = {}) {
        http::Router router("t");
        node_->add_routes(router);
        http::Request request;
        request.method = method;
        request.path = path;
        request.headers = {{"Authorization", "Bearer t"}};
        request.body = std::move(body);
        return router.handle(std::move(request));
    }
    http::Response accept() {
        return ask("POST", "/v1/clock/accept", R"({"actor":"anna","reason":"clock set right"})");
    }

    Host host_;
    const fs::path folder_ =
        fs::path(testing::TempDir()) / fmt::format("node_clock.{}", ::getpid());
    loan_stream::Stream stream_;
    demo::Workspace workspace_;
    std::unique_ptr<Node> node_;
};

TEST_F(NodeClock, AJumpOfTheWallClockStopsTimeDrivenWorkOnlyUntilItIsAccepted) {
    open();
    for (size_t i = 0; i < 20; ++i) ASSERT_TRUE(decide(i));
    host_.pass(Duration::seconds(1));
    EXPECT_EQ(tick(), "");
    const auto clock = node_->joiner().clock();
    EXPECT_EQ(clock, host_.wall.now());

    host_.wall.move(Duration::days(400));
    host_.pass(Duration::seconds(1));
    EXPECT_EQ(tick(), "clock_jump");
    EXPECT_EQ(node_->joiner().clock(), clock);
    EXPECT_EQ(node_->joiner().counts().matured, 0u);
    EXPECT_TRUE(node_->trainer().runs().value().empty());
    EXPECT_EQ(node_->certify(node_->registry().champion()->policy, node_->now(), "").error().reason,
              "clock_jump");

    const auto during = decide(20);  // deciding continues, at the time of the boot clock
    ASSERT_TRUE(during) << during.error().message;
    EXPECT_EQ(during->decided_at, kStart + Duration::seconds(2));
    EXPECT_EQ(tick(), "clock_jump");
    EXPECT_EQ(node_->joiner().counts().decisions, 21u) << "joining goes on";
    const auto ready = ask("GET", "/readyz");
    EXPECT_EQ(ready.status, 200) << ready.body;
    EXPECT_NE(ready.body.find("rampart clock accept"), std::string::npos) << ready.body;
    const auto metrics = [&] { return ask("GET", "/metrics").body; };
    EXPECT_NE(metrics().find("rampart_clock_in_doubt 1\n"), std::string::npos);

    EXPECT_EQ(ask("POST", "/v1/clock/accept", R"({"actor":"anna","reason":""})").status, 400);
    EXPECT_EQ(tick(), "clock_jump");
    EXPECT_EQ(accept().status, 200);
    const auto entry = node_->registry().audit_entries()->back();
    EXPECT_EQ(entry.action, "clock_accept");
    EXPECT_EQ(entry.actor, "anna");
    EXPECT_EQ(entry.details.at("reason"), "clock set right");
    EXPECT_EQ(entry.details.at("accepted"), base::to_iso8601(host_.wall.now()));
    EXPECT_EQ(tick(), "");
    EXPECT_EQ(node_->joiner().clock(), host_.wall.now());
    EXPECT_EQ(node_->joiner().counts().matured, 21u);
    EXPECT_EQ(accept().status, 409) << "nothing is left to accept";
    EXPECT_NE(metrics().find("rampart_clock_in_doubt 0\n"), std::string::npos);
}

TEST_F(NodeClock, AJumpLetsNothingGoByAge) {
    open();
    const streaming::Record old{"k", "v", kStart, {}};
    node_.reset();
    {
        const auto log = streaming_local::LocalLog::open(workspace_.store / "log").value();
        ASSERT_TRUE(log->append_to("quarantine", PartitionId(0), {&old, 1}));
    }
    open();
    const auto begin = [&] {
        return node_->log().begin_offset("quarantine", PartitionId(0)).value().value();
    };
    host_.wall.move(Duration::days(4000));
    EXPECT_EQ(tick(), "clock_jump");
    EXPECT_EQ(begin(), 0);
    EXPECT_EQ(accept().status, 200);
    EXPECT_EQ(tick(), "");
    EXPECT_EQ(begin(), 1);
}

TEST_F(NodeClock, ANodeThatStartsMonthsLaterThanItsStoreWasUsedMaturesNothingUntilTold) {
    open();
    for (size_t i = 0; i < 5; ++i) ASSERT_TRUE(decide(i));
    EXPECT_EQ(tick(), "");
    node_.reset();
    host_.pass(Duration::hours(24));
    open();
    EXPECT_EQ(tick(), "") << "a day of downtime is none";
    node_.reset();
    host_.pass(Duration::days(400));
    open();
    EXPECT_EQ(tick(), "clock_jump");
    EXPECT_EQ(node_->joiner().counts().matured, 0u);
    const auto during = decide(5);  // without a clock, its event time cannot be judged
    EXPECT_TRUE(during) << during.error().message;
    open();
    EXPECT_EQ(tick(), "clock_jump") << "a restart is no word";
    EXPECT_EQ(accept().status, 200);
    EXPECT_EQ(tick(), "");
    EXPECT_EQ(node_->joiner().counts().matured, 6u);
    EXPECT_EQ(decide(6).error().reason, "event_time_outside");
}

TEST_F(NodeClock, TheCommandAcceptsTheClockOfANodeThatHasJustStarted) {
    const auto run = [&](const std::string& more) {
        return test_support::run_program(
            fmt::format(RAMPART_BIN_DIR "/rampart clock accept --config {} --actor anna {}",
                        workspace_.config.string(), more));
    };
    EXPECT_EQ(run("--reason moved").exit_code, 4) << "no node serves the store";
    ASSERT_TRUE(base::write_file_atomically(workspace_.store / "clock", "2020-01-01T00:00:00Z\n"));
    auto process = demo::ServiceProcess::start(RAMPART_BIN_DIR "/rampart", workspace_.config,
                                               workspace_.endpoint_file, workspace_.log);
    ASSERT_TRUE(process) << process.error().message;
    const auto first = run("--reason moved");
    EXPECT_EQ(first.exit_code, 0) << first.output;
    EXPECT_NE(first.output.find("2020-01-01T00:00:00Z"), std::string::npos) << first.output;
    const auto again = run("--reason moved");
    EXPECT_EQ(again.exit_code, 1) << again.output;
    EXPECT_TRUE(process->stop());
    EXPECT_GT(base::read_file(workspace_.store / "clock", 100).value(), "2024");
}

}  // namespace
}  // namespace rampart::rampartd
