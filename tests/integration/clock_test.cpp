#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>

#include "rampart/base/file.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/wire/record_codec.hpp"
#include "services/rampartd/node.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/set_clock.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

/// A wrong wall clock stops what cannot be undone, and only that.
namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using base::Duration;
using base::TimePoint;
using streaming::PartitionId;

using support::Host;

const TimePoint kStart = Host().wall.now();

/// A node with a wall clock, on a host with clocks that the test sets.
class NodeClock : public testing::Test {
  protected:
    NodeClock() {
        stream_ = loan_stream::load({.name = "simulated", .data_dir = {}, .rows = 60}).value();
        workspace_ =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream_, 5)
                .value();
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
        settings.retention_period = Duration();  // at every upkeep()
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
        const auto tended = node_->upkeep();
        EXPECT_TRUE(tended) << tended.error().message;
        const auto status = node_->advance(node_->now());
        return status ? "" : status.error().reason;
    }
    http::Response ask(const std::string& method, const std::string& path, std::string body = {}) {
        http::Router router(access::one_token("t", {"anna", access::Scopes::all()}));
        node_->add_routes(router);
        http::Request request;
        request.method = method;
        request.path = path;
        request.headers = {{"Authorization", "Bearer t"}};
        request.body = std::move(body);
        return router.handle(std::move(request));
    }
    http::Response accept() {
        return ask("POST", "/v1/clock/accept", R"({"reason":"clock set right"})");
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

    EXPECT_EQ(ask("POST", "/v1/clock/accept", R"({"reason":""})").status, 400);
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
        return test_support::run_program(fmt::format("{}/rampart clock accept --config {} {}",
                                                     test_support::bin_dir(),
                                                     workspace_.config.string(), more));
    };
    EXPECT_EQ(run("--reason moved").exit_code, 4) << "no node serves the store";
    ASSERT_TRUE(base::write_file_atomically(workspace_.store / "clock", "2020-01-01T00:00:00Z\n"));
    auto process =
        demo::ServiceProcess::start(test_support::bin_dir() + "/rampart", workspace_.config,
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
