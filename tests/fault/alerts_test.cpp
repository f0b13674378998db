// Alerts that a real node raises: each condition is brought about, /metrics is scraped before and
// after it, and promtool evaluates the rule on what was scraped.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "alerts_fixture.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/wire/record_codec.hpp"
#include "rampart/wire/topics.hpp"
#include "support/kafka_mock.hpp"

namespace rampart::rampartd {
namespace {

using base::Duration;

TEST_F(AlertsOfANode, AllPartitionsStandStill) {
    prepare();
    open();
    decide(0, 20);
    EXPECT_EQ(tick(), "");
    const auto before = scrape();
    make_anew("decisions");
    open();
    EXPECT_NE(tick(), "");
    for (size_t n = 20; n < 40; ++n) EXPECT_EQ(post(applicant(n)), 503);
    expect_fires({"RampartCannotDecide", "RampartPartitionsStopped", "RampartSourceStopped",
                  "RampartCheckFails", "RampartRequestsFail"},
                 before, scrape());
}

TEST_F(AlertsOfANode, TheClockJumps) {
    prepare();
    open();
    EXPECT_EQ(tick(), "");
    const auto before = scrape();
    host_.wall.move(Duration::days(400));
    EXPECT_EQ(tick(), "clock_jump");
    expect_fires({"RampartClockInDoubt", "RampartCheckFails"}, before, scrape());
}

TEST_F(AlertsOfANode, PeopleHaveStoppedExplorationWhileTheClockIsInDoubt) {
    prepare();
    open();
    decide(0, 1);
    EXPECT_EQ(tick(), "");
    const auto before = scrape();
    host_.wall.move(Duration::days(-400));
    EXPECT_EQ(tick(), "clock_jump");
    const auto pressed = client().post("/v1/stops/exploration", R"({"reason":"noise"})").value();
    EXPECT_EQ(pressed.status, 200) << pressed.body;
    expect_fires({"RampartStopInForce"}, before, scrape());
}

TEST_F(AlertsOfANode, NothingIsJoinedAnyMore) {
    prepare();
    open();
    EXPECT_EQ(tick(), "");
    reopen();
    const auto before = scrape();
    host_.pass(Duration::days(70));  // the schedule's first run is due after two months
    expect_fires({"RampartJoinBehind", "RampartTrainingOverdue"}, before, scrape());
}

TEST_F(AlertsOfANode, OutcomesAreMissingMatchNothingOrMakeNoSense) {
    prepare();
    open();
    decide(0, 200);
    EXPECT_EQ(tick(), "");
    const auto before = scrape();
    with_log([&](auto& log) {
        std::vector<streaming::Record> records;
        for (int n = 0; n < 150; ++n) {
            const domain::Outcome stranger{domain::DecisionId(fmt::format("stranger-{}", n)),
                                           "repaid", 0, 1, start_};
            records.push_back(wire::to_record(stranger));
        }
        records.push_back({"key", "no outcome at all", start_, records.front().headers});
        ASSERT_TRUE(log.append("outcomes", records));
    });
    open();
    host_.pass(Duration::days(300));
    EXPECT_EQ(tick(), "");
    expect_fires({"RampartOutcomesOverdue", "RampartOutcomesUnmatched", "RampartQuarantine"},
                 before, scrape());
}

TEST_F(AlertsOfANode, CategoriesAreUnknown) {
    prepare();
    open();
    decide(0, 10);
    const auto before = scrape();
    for (size_t n = 10; n < 20; ++n) {
        auto one = applicant(n);
        for (auto& feature : one.features)
            if (std::holds_alternative<std::string>(feature.value)) feature.value = "new";
        ASSERT_EQ(post(one), 200);
    }
    expect_fires({"RampartUnseenCategories"}, before, scrape());
}

TEST_F(AlertsOfANode, MoreWaitsThanIsTaken) {
    prepare();
    open();
    const auto before = scrape();
    // 50 MiB of 64: refused beside another one
    std::vector<domain::Application> batch(1000, applicant(0));
    for (auto& one : batch) one.features.push_back({"x", std::string(50 << 10, 'x')});
    std::atomic<bool> refused = false;
    const auto ask = [&] {
        for (int round = 0; round < 100'000 && !refused; ++round) {
            const auto answer = node_->decisions().decide_each(batch);
            if (answer) continue;
            EXPECT_EQ(answer.error().reason, "overloaded");
            refused = true;
        }
    };
    { std::jthread one(ask), two(ask); }
    ASSERT_TRUE(refused);
    expect_fires({"RampartOverloaded"}, before, scrape());
}

TEST_F(AlertsOfANode, ConnectionsAreTurnedAway) {
    prepare();
    open();
    const auto before = scrape();
    http::ServerOptions options;
    options.max_connections = 1;
    open(options);
    auto first = client();
    EXPECT_EQ(first.get("/healthz").value().status, 200);  // stays connected
    EXPECT_EQ(client().get("/v1/runs").value().status, 503);
    expect_fires({"RampartConnectionsRefused"}, before, scrape());
}

TEST_F(AlertsOfANode, FilesRunOut) {
    prepare();
    open();
    const auto before = scrape();
    rlimit usual{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
    rlimit tight = usual;
    tight.rlim_cur = static_cast<rlim_t>(before.values.at("process_open_fds")) + 10;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
    const auto after = scrape();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
    expect_fires({"RampartFilesNearlyOut"}, before, after);
}

TEST_F(AlertsOfANode, TheDiskFillsUp) {
    if (::mount("rampart-alerts", folder_.c_str(), "tmpfs", 0, "size=900m,mode=700") != 0)
        GTEST_SKIP() << "no tmpfs can be mounted here";
    mounted_ = true;
    prepare();
    open();
    const auto before = scrape();
    EXPECT_TRUE(Alerts(folder_).fires("RampartDiskNearlyFull", before, before));
    {
        std::ofstream file(folder_ / "filler", std::ios::binary);
        const std::string block(1 << 20, 'x');
        for (int i = 0; i < 500; ++i) file << block;
    }
    EXPECT_TRUE(
        Alerts(folder_).fires("RampartDiskFillsUp", before, scrape(), Alerts::Gauges::kMove));
    EXPECT_FALSE(
        Alerts(folder_).fires("RampartDiskFillsUp", before, before, Alerts::Gauges::kMove));
}

TEST_F(AlertsOfANode, ARecordIsForgedAndTheBrokerIsSlowAndThenGone) {
    const support::KafkaMock mock;
    for (const auto& spec : wire::Topics::with_prefix("").specs(4)) {
        mock.create(spec.name, spec.partitions);
    }
    prepare(demo::KafkaBroker{mock.bootstrap(), ""});
    replace("node = \"demo\"\n",
            "node = \"demo\"\nlease_ms = 8000\nrequest_timeout_ms = 1000\n"
            "delivery_timeout_ms = 4000\n");
    open();
    ASSERT_FALSE(HasFatalFailure());
    decide(0, 5);
    ASSERT_TRUE(node_->keep_leases());
    const auto before = scrape();
    const auto topics = wire::Topics::with_prefix("");
    mock.produce(topics.leases, "0", "by another program", start_.micros() / 1000);
    ASSERT_TRUE(node_->keep_leases());
    const auto forged = scrape();
    mock.rtt(std::chrono::milliseconds(700));
    for (size_t n = 5; n < 9; ++n) static_cast<void>(post(applicant(n)));
    expect_fires({"RampartDecisionsSlow", "RampartAppendsSlow"}, before, scrape());
    mock.rtt(std::chrono::milliseconds(0));
    expect_fires({"RampartLogForged"}, before, forged);

    mock.down();
    for (size_t n = 10; n < 13; ++n) EXPECT_NE(post(applicant(n)), 200);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    auto after = scrape();
    while (after.values.at("rampart_lease_age_seconds") < 9) {
        ASSERT_LT(std::chrono::steady_clock::now(), end);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        after = scrape();
    }
    expect_fires({"RampartLeaseNotRenewed", "RampartLogFails"}, before, after);
    mock.up();
}

TEST_F(AlertsOfANode, NoStoreOfTheGroupTrains) {
    const support::KafkaMock mock;
    for (const auto& spec : wire::Topics::with_prefix("").specs(4))
        mock.create(spec.name, spec.partitions);
    prepare(demo::KafkaBroker{mock.bootstrap(), ""});
    open();
    ASSERT_FALSE(HasFatalFailure());
    ASSERT_TRUE(node_->check_trains());
    // the broker has the time of the machine, not the one that the test sets
    const auto after_hours = [&](int hours) {
        auto scraped = scrape();
        scraped.at = runtime::SystemClock().now() + Duration::hours(hours);
        return scraped;
    };
    ASSERT_TRUE(node_->keep_leases());
    const auto before = after_hours(0);
    ASSERT_TRUE(node_->keep_leases());  // those of its partitions, but not the trainer's
    expect_fires({"RampartNoTrainer"}, before, after_hours(5));
    expect_silent({"RampartNoTrainer"}, before, after_hours(1));  // and two hours of the rule
}

}  // namespace
}  // namespace rampart::rampartd
