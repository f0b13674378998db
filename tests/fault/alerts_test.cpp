// Alerts that a real node raises: each condition is brought about, /metrics is scraped before and
// after it, and promtool evaluates the rule on what was scraped.
#include "support/alerts.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "rampart/http/server.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/record_codec.hpp"
#include "rampart/wire/topics.hpp"
#include "services/rampartd/node.hpp"
#include "support/kafka_mock.hpp"
#include "support/places.hpp"
#include "support/set_clock.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using base::Duration;
using support::Alerts;
using support::Scrape;

const base::TimePoint kStart = support::Host().wall.now();
constexpr size_t kRows = 400;
using Labels = std::vector<std::string>;

/// A node with a wall clock, served over HTTP, on a host with clocks that the test sets.
class AlertsOfANode : public testing::Test {
  protected:
    void SetUp() override {
        if (!Alerts::can_run()) GTEST_SKIP() << "there is no promtool: ops/setup installs it";
        fs::create_directories(folder_);
        stream_ = loan_stream::load({.name = "simulated", .data_dir = {}, .rows = kRows}).value();
    }
    ~AlertsOfANode() override {
        close();
        if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
        fs::remove_all(folder_);
    }
    void prepare(const std::optional<demo::KafkaBroker>& kafka = std::nullopt) {
        workspace_ =
            demo::prepare_workspace(folder_ / "a", test_support::source_dir() + "/ops/config",
                                    stream_, 5, kafka)
                .value();
        replace("mode = \"event\"", "mode = \"system\"");
    }
    void replace(const std::string& before, const std::string& after) {
        auto config = base::read_file(workspace_.config, 1 << 20).value();
        ASSERT_NE(config.find(before), std::string::npos) << before;
        config.replace(config.find(before), before.size(), after);
        ASSERT_TRUE(base::write_file_atomically(workspace_.config, config));
    }
    void open(http::ServerOptions options = {}) {
        close();
        auto node = Node::open(load_settings(workspace_.config).value(), nullptr,
                               {&host_.wall, &host_.boot});
        ASSERT_TRUE(node) << node.error().message;
        node_ = *std::move(node);
        router_ = std::make_unique<http::Router>(access::one_token("t"));
        node_->add_routes(*router_);
        server_ = http::Server::start(options, *router_).value();
    }
    void close() {
        server_.reset();
        router_.reset();
        node_.reset();
    }
    http::Client client() const {
        http::ClientOptions options;
        options.token = "t";
        return http::Client::create(server_->endpoint(), options).value();
    }
    Scrape scrape() const {
        const auto answer = client().get("/metrics").value();
        EXPECT_EQ(answer.status, 200);
        return Scrape(answer.body);
    }
    domain::Application applicant(size_t n) const {
        auto one = stream_.applicants.at(n).application;
        one.event_time = kStart;
        return one;
    }
    int post(const domain::Application& one) const {
        const auto answer = client().post("/v1/decisions", wire::to_json(one));
        return answer ? answer->status : 0;
    }
    void decide(size_t from, size_t to) {
        for (size_t n = from; n < to; ++n) ASSERT_EQ(post(applicant(n)), 200);
    }
    std::string tick() {
        const auto status = node_->advance(node_->now());
        return status ? "" : status.error().reason;
    }
    /// Makes a topic of the embedded log anew, while the node is closed.
    void make_anew(const std::string& name) {
        close();
        const auto log = streaming_local::LocalLog::open(workspace_.store / "log").value();
        streaming_local::TopicOptions options;
        for (const auto& topic : log->topics())
            if (topic.name == name) options = topic.options;
        ASSERT_TRUE(log->delete_topic(name));
        ASSERT_TRUE(log->create_topic(name, options));
    }
    void expect_fires(const Labels& alerts, const Scrape& before, const Scrape& after,
                      Alerts::Gauges gauges = Alerts::Gauges::kStay) const {
        const Alerts rules(folder_);
        for (const auto& alert : alerts) {
            EXPECT_TRUE(rules.fires(alert, before, after, host_.wall.now(), gauges)) << alert;
            EXPECT_FALSE(rules.fires(alert, before, before, host_.wall.now()))
                << alert << " fires without the fault";
        }
    }

    support::Host host_;
    const fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("alerts.{}", ::getpid());
    bool mounted_ = false;
    loan_stream::Stream stream_;
    demo::Workspace workspace_;
    std::unique_ptr<Node> node_;
    std::unique_ptr<http::Router> router_;
    std::unique_ptr<http::Server> server_;
};

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

TEST_F(AlertsOfANode, NothingIsJoinedAnyMore) {
    prepare();
    open();
    EXPECT_EQ(tick(), "");
    node_->mend();
    const auto before = scrape();
    host_.pass(Duration::days(70));
    expect_fires({"RampartJoinBehind"}, before, scrape());
}

TEST_F(AlertsOfANode, OutcomesAreMissingMatchNothingOrMakeNoSense) {
    prepare();
    open();
    decide(0, 200);
    EXPECT_EQ(tick(), "");
    const auto before = scrape();
    close();
    {
        const auto log = streaming_local::LocalLog::open(workspace_.store / "log").value();
        std::vector<streaming::Record> records;
        for (int n = 0; n < 150; ++n) {
            const domain::Outcome stranger{domain::DecisionId(fmt::format("stranger-{}", n)),
                                           "repaid", 0, 1, kStart};
            records.push_back(wire::to_record(stranger));
        }
        records.push_back({"key", "no outcome at all", kStart, records.front().headers});
        ASSERT_TRUE(log->append("outcomes", records));
    }
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
    EXPECT_TRUE(Alerts(folder_).fires("RampartDiskNearlyFull", before, before, host_.wall.now()));
    {
        std::ofstream file(folder_ / "filler", std::ios::binary);
        const std::string block(1 << 20, 'x');
        for (int i = 0; i < 500; ++i) file << block;
    }
    EXPECT_TRUE(Alerts(folder_).fires("RampartDiskFillsUp", before, scrape(), host_.wall.now(),
                                      Alerts::Gauges::kMove));
    EXPECT_FALSE(Alerts(folder_).fires("RampartDiskFillsUp", before, before, host_.wall.now(),
                                       Alerts::Gauges::kMove));
}

TEST_F(AlertsOfANode, TheBrokerIsSlowAndThenGone) {
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
    mock.rtt(std::chrono::milliseconds(700));
    for (size_t n = 5; n < 9; ++n) static_cast<void>(post(applicant(n)));
    expect_fires({"RampartDecisionsSlow", "RampartAppendsSlow"}, before, scrape());
    mock.rtt(std::chrono::milliseconds(0));

    mock.down();
    for (size_t n = 10; n < 13; ++n) EXPECT_NE(post(applicant(n)), 200);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    auto after = scrape();
    while (after.values.at("rampart_lease_age_seconds") < 9) {
        ASSERT_LT(std::chrono::steady_clock::now(), end);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        after = scrape();
    }
    expect_fires({"RampartLeaseNotRenewed"}, before, after);
    mock.up();
}

}  // namespace
}  // namespace rampart::rampartd
