#pragma once

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "rampart/http/server.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "rampart/wire/application_json.hpp"
#include "services/rampartd/node.hpp"
#include "support/alerts.hpp"
#include "support/places.hpp"
#include "support/set_clock.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {

/// A node with a wall clock, served over HTTP, on a host with clocks that the test sets.
class AlertsOfANode : public testing::Test {
  protected:
    using Alerts = support::Alerts;
    using Scrape = support::Scrape;
    using Labels = std::vector<std::string>;
    static constexpr size_t kRows = 400;

    void SetUp() override {
        if (!Alerts::can_run()) GTEST_SKIP() << "there is no promtool: ops/setup installs it";
        std::filesystem::create_directories(folder_);
        stream_ = loan_stream::load({.name = "simulated", .data_dir = {}, .rows = kRows}).value();
    }
    ~AlertsOfANode() override {
        close();
        if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
        std::filesystem::remove_all(folder_);
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
    void configure(const std::string& more) {
        const auto config = base::read_file(workspace_.config, 1 << 20).value();
        ASSERT_TRUE(base::write_file_atomically(workspace_.config, config + "\n" + more));
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
    /// Opens the node anew, so that it reads what is behind long locks.
    void reopen() {
        EXPECT_TRUE(node_->upkeep());  // so that it was not away for long
        open();
    }
    void close() {
        server_.reset();
        router_.reset();
        if (node_) node_->begin_stop();
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
        return Scrape(answer.body, host_.wall.now());
    }
    /// Waits until a series has the value or a larger one; false: it has not after 30 s.
    bool soon(const std::string& series, double least) const {
        for (int i = 0; i < 3000; ++i) {
            const auto now = scrape();
            const auto found = now.values.find(series);
            if (found != now.values.end() && found->second >= least) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return false;
    }
    domain::Application applicant(size_t n) const {
        auto one = stream_.applicants.at(n % kRows).application;
        one.event_time = start_;
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
    /// Does something with the embedded log while the node is closed.
    template <class Work>
    void with_log(const Work& work) {
        close();
        const auto log = streaming_local::LocalLog::open(workspace_.store / "log").value();
        work(*log);
    }
    void make_anew(const std::string& name) {
        with_log([&](auto& log) {
            streaming_local::TopicOptions options;
            for (const auto& topic : log.topics())
                if (topic.name == name) options = topic.options;
            ASSERT_TRUE(log.delete_topic(name));
            ASSERT_TRUE(log.create_topic(name, options));
        });
    }
    void expect_fires(const Labels& alerts, const Scrape& before, const Scrape& after,
                      Alerts::Gauges gauges = Alerts::Gauges::kStay) const {
        const Alerts rules(folder_);
        for (const auto& alert : alerts) {
            EXPECT_TRUE(rules.fires(alert, before, after, gauges)) << alert;
            EXPECT_FALSE(rules.fires(alert, before, before)) << alert << " fires without the fault";
        }
    }
    void expect_silent(const Labels& alerts, const Scrape& before, const Scrape& after) const {
        for (const auto& alert : alerts)
            EXPECT_FALSE(Alerts(folder_).fires(alert, before, after)) << alert;
    }

    support::Host host_;
    const base::TimePoint start_ = host_.wall.now();
    const std::filesystem::path folder_ =
        std::filesystem::path(testing::TempDir()) / fmt::format("alerts.{}", ::getpid());
    bool mounted_ = false;
    loan_stream::Stream stream_;
    demo::Workspace workspace_;
    std::unique_ptr<Node> node_;
    std::unique_ptr<http::Router> router_;
    std::unique_ptr<http::Server> server_;
};

}  // namespace rampart::rampartd
