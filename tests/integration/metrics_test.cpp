// What a running node shows at /metrics: by the list, in a form that Prometheus takes, and with the
// figure of each condition that an alert rule asks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "rampart/http/server.hpp"
#include "rampart/runtime/metric_list.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/record_codec.hpp"
#include "services/rampartd/node.hpp"
#include "support/damage.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/set_clock.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using base::Duration;
using streaming::PartitionId;
using test_support::run_program;

const base::TimePoint kStart = support::Host().wall.now();

/// A node with a wall clock, served over HTTP, on a host with clocks that the test sets.
class MetricsTest : public testing::Test {
  protected:
    MetricsTest() {
        stream_ = loan_stream::load({.name = "simulated", .data_dir = {}, .rows = 60}).value();
        workspace_ =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream_, 5)
                .value();
        auto config = base::read_file(workspace_.config, 1 << 20).value();
        const std::string event = "mode = \"event\"";
        config.replace(config.find(event), event.size(), "mode = \"system\"");
        EXPECT_TRUE(base::write_file_atomically(workspace_.config, config));
        open();
    }
    ~MetricsTest() override {
        close();
        fs::remove_all(folder_);
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
    std::string scrape() const {
        auto client = this->client();
        const auto answer = client.get("/metrics").value();
        EXPECT_EQ(answer.status, 200);
        return answer.body;
    }
    /// The value of a series of a scrape, as it is written; "none": it is not there.
    static std::string value_of(const std::string& text, const std::string& series) {
        const size_t at = text.find("\n" + series + " ");
        if (at == std::string::npos) return "none";
        const size_t from = at + series.size() + 2;
        return text.substr(from, text.find('\n', from) - from);
    }
    std::string value(const std::string& series) const { return value_of(scrape(), series); }
    /// The value once it is as expected, or the last one after 30 s: a request is counted when its
    /// response was written, a moment after the client may have it.
    std::string value_soon(const std::string& series, const std::string& expected) const {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        auto seen = value(series);
        while (seen != expected && std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            seen = value(series);
        }
        return seen;
    }
    void decide(size_t from, size_t to) {
        auto client = this->client();
        for (size_t n = from; n < to; ++n) {
            auto one = stream_.applicants.at(n).application;
            one.event_time = kStart;
            const auto answer = client.post("/v1/decisions", wire::to_json(one)).value();
            ASSERT_EQ(answer.status, 200) << answer.body;
        }
    }
    std::string tick() {
        const auto status = node_->advance(node_->now());
        return status ? "" : status.error().reason;
    }
    /// Appends as another producer could, while the node is closed.
    void append(const std::string& topic, const std::string& key, const std::string& value,
                const std::vector<streaming::Header>& headers) {
        close();
        const auto log = streaming_local::LocalLog::open(workspace_.store / "log").value();
        const streaming::Record record{key, value, kStart, headers};
        ASSERT_TRUE(log->append(topic, {&record, 1}));
    }
    void append_outcome(const std::string& key, const std::string& value,
                        const std::vector<streaming::Header>& headers) {
        append("outcomes", key, value, headers);
    }

    support::Host host_;
    const fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("metrics.{}", ::getpid());
    loan_stream::Stream stream_;
    demo::Workspace workspace_;
    std::unique_ptr<Node> node_;
    std::unique_ptr<http::Router> router_;
    std::unique_ptr<http::Server> server_;
};

/// "rampart_x" of its series "rampart_x_bucket" and the like, if it is a histogram.
std::string family_of(const std::string& name, const std::set<std::string>& histograms) {
    for (const std::string part : {"_bucket", "_sum", "_count"}) {
        if (!name.ends_with(part)) continue;
        const auto family = name.substr(0, name.size() - part.size());
        if (histograms.contains(family)) return family;
    }
    return name;
}

/// Names of the labels of a line of a scrape, but for `le`; none of the values here has a quote.
std::set<std::string> labels_of(const std::string& line) {
    std::set<std::string> labels;
    const size_t open = line.find('{'), space = line.find(' ');
    if (open == std::string::npos || open > space) return labels;
    for (size_t at = open + 1; at < line.size() && line[at] != '}';) {
        const size_t equals = line.find("=\"", at), end = line.find('"', equals + 2);
        labels.insert(line.substr(at, equals - at));
        at = line[end + 1] == ',' ? end + 2 : end + 1;
    }
    labels.erase("le");
    return labels;
}

std::set<std::string> split(std::string_view names) {
    std::set<std::string> out;
    std::istringstream stream{std::string(names)};
    for (std::string name; std::getline(stream, name, ',');) out.insert(name);
    return out;
}

// What TLS and Kafka have, jobs that `rampart serve` runs, and what has not happened to this node.
const std::set<std::string> kNotOfThisNode{"rampart_followed_champion_epoch",
                                           "rampart_followed_champion_sequence",
                                           "rampart_http_certificate_expiry_timestamp_seconds",
                                           "rampart_http_certificate_loaded",
                                           "rampart_lease_age_seconds",
                                           "rampart_lease_epoch",
                                           "rampart_lease_ttl_seconds",
                                           "rampart_log_failures_total",
                                           "rampart_log_unauthenticated_records_total",
                                           "rampart_job_age_seconds",
                                           "rampart_job_failures_total",
                                           "rampart_job_interval_seconds",
                                           "rampart_job_running",
                                           "rampart_job_runs_total",
                                           "rampart_job_stuck",
                                           "rampart_monitor_evidence",
                                           "rampart_scrub_damaged_files",
                                           "rampart_scrub_last_success_timestamp_seconds",
                                           "rampart_trainer_last_sign_timestamp_seconds",
                                           "rampart_trainer_lease_epoch",
                                           "rampart_trainer_lease_held",
                                           "rampart_unseen_categories_total"};

TEST_F(MetricsTest, AScrapeIsWhatTheListSays) {
    decide(0, 20);
    host_.pass(Duration::seconds(1));
    EXPECT_EQ(tick(), "");
    EXPECT_TRUE(node_->upkeep());
    node_->mend();
    decide(20, 30);
    const auto text = scrape();

    std::map<std::string, const runtime::MetricInfo*> listed;
    std::set<std::string> missing, histograms;
    for (const auto& metric : runtime::metric::all()) {
        listed[std::string(metric.name)] = &metric;
        if (metric.type == "histogram") histograms.insert(std::string(metric.name));
        const auto head = fmt::format("# HELP {} {}\n# TYPE {} {}\n", metric.name, metric.help,
                                      metric.name, metric.type);
        if (text.find(head) == std::string::npos) missing.insert(std::string(metric.name));
    }
    EXPECT_EQ(missing, kNotOfThisNode);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('#')) continue;
        const auto name = family_of(line.substr(0, line.find_first_of("{ ")), histograms);
        ASSERT_TRUE(listed.contains(name)) << line << ": not in runtime/metric_list.hpp";
        EXPECT_EQ(labels_of(line), split(listed.at(name)->labels)) << line;
    }
    EXPECT_LT(text.size(), 100'000u);  // a node with four partitions

    const auto promtool = run_program("promtool --version");
    if (promtool.exit_code != 0) GTEST_SKIP() << "there is no promtool: ops/setup installs it";
    const auto file = folder_ / "scrape.txt";
    ASSERT_TRUE(base::write_file_atomically(file, text));
    const auto checked = run_program("promtool check metrics < " + file.string());
    EXPECT_EQ(checked.exit_code, 0) << checked.output;
    EXPECT_EQ(checked.output, "");
}

TEST_F(MetricsTest, DecidingJoiningAndRequestsAreCounted) {
    decide(0, 30);
    host_.pass(Duration::seconds(90));
    const std::string route = R"(method="POST",route="/v1/decisions")";
    EXPECT_EQ(
        value_soon(fmt::format("rampart_http_requests_total{{{},status=\"200\"}}", route), "30"),
        "30");
    auto text = scrape();
    EXPECT_EQ(
        value_of(text, fmt::format("rampart_http_request_duration_seconds_count{{{}}}", route)),
        "30");
    const auto champion = node_->registry().champion()->policy;
    EXPECT_EQ(
        value_of(text, fmt::format("rampart_policy_decisions_total{{policy=\"{}\"}}", champion)),
        "30");
    EXPECT_EQ(value_of(text, R"(rampart_log_appended_records_total{topic="decisions"})"), "30");
    EXPECT_EQ(value_of(text, "rampart_partitions_owned"), "4");
    EXPECT_EQ(value_of(text, "rampart_joined_decisions"), "0");
    EXPECT_EQ(value_of(text, R"(rampart_databases_open{database="joins"})"), "4");
    EXPECT_EQ(value_of(text, "rampart_join_clock_lag_seconds"), "NaN");
    EXPECT_EQ(tick(), "");
    host_.pass(Duration::seconds(90));
    text = scrape();
    EXPECT_EQ(value_of(text, "rampart_joined_decisions"), "30");
    EXPECT_EQ(value_of(text, "rampart_join_clock_lag_seconds"), "90");
    int64_t lag = 0;
    for (int p = 0; p < 4; ++p) {
        const auto series =
            fmt::format("rampart_log_lag_records{{partition=\"{}\",topic=\"decisions\"}}", p);
        const auto one = value_of(text, series);
        if (one != "none") lag += std::stoll(one);
    }
    EXPECT_EQ(lag, 0);
    EXPECT_EQ(value_of(text, "rampart_disk_size_bytes") == "NaN", false);
    EXPECT_EQ(value_of(text, "rampart_memory_budget_bytes"), "536870912");
}

// --- each condition that an alert rule asks for, as far as it is cheap to bring about

TEST_F(MetricsTest, AClockInDoubtIsShown) {
    EXPECT_EQ(tick(), "");
    EXPECT_EQ(value("rampart_clock_in_doubt"), "0");
    host_.wall.move(Duration::days(400));
    EXPECT_EQ(tick(), "clock_jump");
    EXPECT_EQ(value("rampart_clock_in_doubt"), "1");
    EXPECT_EQ(value(R"(rampart_check_ok{check="loop"})"), "0");
    EXPECT_EQ(value(R"(rampart_check_ok{check="decision_service"})"), "1");
}

TEST_F(MetricsTest, ASourceThatStoppedIsShown) {
    EXPECT_EQ(tick(), "");
    EXPECT_EQ(value(R"(rampart_join_sources_stopped{topic="outcomes"})"), "0");
    close();
    {
        const auto log = streaming_local::LocalLog::open(workspace_.store / "log").value();
        streaming_local::TopicOptions options;
        for (const auto& topic : log->topics())
            if (topic.name == "outcomes") options = topic.options;
        ASSERT_TRUE(log->delete_topic("outcomes"));
        ASSERT_TRUE(log->create_topic("outcomes", options));
    }
    open();
    EXPECT_NE(tick(), "");
    EXPECT_EQ(value(R"(rampart_join_sources_stopped{topic="outcomes"})"), "1");
    EXPECT_EQ(value(R"(rampart_join_sources_stopped{topic="decisions"})"), "0");
    EXPECT_EQ(value(R"(rampart_check_ok{check="loop"})"), "0");
}

TEST_F(MetricsTest, OutcomesThatAreMissingOrMakeNoSenseAreShown) {
    decide(0, 40);
    EXPECT_EQ(tick(), "");
    const domain::Outcome stranger{domain::DecisionId("nobody"), "repaid", 0, 1, kStart};
    const auto record = wire::to_record(stranger);
    append_outcome(record.key, record.value, record.headers);
    append_outcome("key", "no outcome at all", record.headers);
    open();
    host_.pass(Duration::days(300));  // all have matured, with no outcome of any
    EXPECT_EQ(tick(), "");
    node_->mend();
    const auto text = scrape();
    EXPECT_EQ(value_of(text, "rampart_joined_matured"), "40");
    EXPECT_GT(std::stoi(value_of(text, "rampart_joined_overdue")), 0);
    EXPECT_EQ(value_of(text, "rampart_joined_unmatched"), "1");
    EXPECT_EQ(value_of(text, R"(rampart_quarantined_records_total{kind="undecodable"})"), "1");
}

TEST_F(MetricsTest, DecisionsWhoseDrawsCannotBeCheckedAreShown) {
    decide(0, 3);
    EXPECT_EQ(tick(), "");
    EXPECT_EQ(value("rampart_join_unchecked_draws_total"), "0");
    const auto known = domain::decision_id_of(stream_.applicants.at(0).application.id);
    auto other = *node_->joiner().find_decision(known).value();
    other.application.id = domain::ApplicationId("elsewhere");
    other.id = domain::decision_id_of(other.application.id);
    other.draw_key_id = "key-of-another-store";
    const auto record = wire::to_record(other, 0);
    append("decisions", record.key, record.value, record.headers);
    open();
    EXPECT_EQ(tick(), "");
    EXPECT_EQ(value("rampart_join_unchecked_draws_total"), "1");
}

TEST_F(MetricsTest, WhatTheBoundsOfTheQuarantineDeleteAndKeepIsShown) {
    decide(0, 5);
    EXPECT_EQ(tick(), "");
    const auto record =
        wire::to_record(domain::Outcome{domain::DecisionId("unknown"), "repaid", 0, 1, kStart});
    const std::string mib(1u << 20 >> 1, 'x');
    for (int n = 0; n < 3; ++n) append_outcome("key", mib, record.headers);
    auto config = base::read_file(workspace_.config, 1 << 20).value();
    const auto bound = [&](const std::string& bounds) {
        EXPECT_TRUE(
            base::write_file_atomically(workspace_.config, config + "\n[quarantine]\n" + bounds));
        open();
        EXPECT_EQ(tick(), "");
        EXPECT_TRUE(node_->upkeep());
        return scrape();
    };
    const auto pass_two_days = [&] {
        for (int i = 0; i < 4; ++i) {
            host_.pass(Duration::hours(12));
            EXPECT_TRUE(node_->upkeep());  // so that it was not away for long
        }
    };
    const std::string deleted = "rampart_quarantine_deleted_records_total";
    auto text = bound("max_mib = 1\nmax_days = 1000\n");
    EXPECT_EQ(value_of(text, deleted + R"({bound="bytes",store="joins"})"), "2");
    EXPECT_EQ(value_of(text, deleted + R"({bound="age",store="joins"})"), "0");
    EXPECT_EQ(value_of(text, R"(rampart_quarantine_bytes{store="joins"})"), "0") << "whole MiB";
    EXPECT_EQ(node_->joiner().list_quarantined(9)->size(), 1u);
    pass_two_days();
    text = bound("max_mib = 1\nmax_days = 1\n");
    EXPECT_EQ(value_of(text, deleted + R"({bound="age",store="joins"})"), "1");
    EXPECT_EQ(value_of(text, deleted + R"({bound="age",store="applications"})"), "0");
    EXPECT_EQ(value_of(text, "rampart_quarantine_unread_decisions"), "0");
    append("decisions", "key", "no decision at all", {{"schema", "rampart.v9.Decision/1"}});
    bound("max_mib = 1\nmax_days = 1\n");
    pass_two_days();
    text = bound("max_mib = 1\nmax_days = 1\n");
    EXPECT_EQ(value_of(text, "rampart_quarantine_unread_decisions"), "1");
    EXPECT_EQ(node_->joiner().list_quarantined(9)->size(), 1u);
}

TEST_F(MetricsTest, ADamagedDatabaseIsShown) {
    decide(0, 40);
    EXPECT_EQ(value(R"(rampart_databases_set_aside_total{database="decisions"})"), "none");
    close();
    for (int p = 0; p < 4; ++p) {
        test_support::damage_table(workspace_.store / fmt::format("partitions/{}/decisions", p),
                                   test_support::Damage::kMostOfATable);
    }
    open();
    {
        auto client = this->client();
        for (size_t n = 0; n < 40; ++n) {  // reads what is damaged
            auto one = stream_.applicants.at(n).application;
            one.event_time = kStart;
            EXPECT_TRUE(client.post("/v1/decisions", wire::to_json(one)));
        }
    }
    while (node_->mend()) {
    }
    const auto text = scrape();
    EXPECT_GT(
        std::stoi(value_of(text, R"(rampart_databases_set_aside_total{database="decisions"})")), 0);
    EXPECT_EQ(value_of(text, R"(rampart_partitions_rebuilding{database="decisions"})"), "0");
    EXPECT_EQ(value_of(text, R"(rampart_partitions_refused{database="decisions"})"), "0");
    decide(0, 40);
}

TEST_F(MetricsTest, ConnectionsThatAreTurnedAwayAreShown) {
    http::ServerOptions options;
    options.max_connections = 1;
    open(options);
    auto first = client();
    EXPECT_EQ(first.get("/healthz").value().status, 200);  // stays connected
    EXPECT_EQ(client().get("/v1/runs").value().status, 503);
    EXPECT_EQ(value("rampart_http_connections_refused_total"), "2");  // with that of the scrape
    EXPECT_EQ(
        value_soon(R"(rampart_http_requests_total{method="GET",route="/v1/runs",status="503"})",
                   "1"),
        "1");
}

TEST_F(MetricsTest, ASchedulesRunsAreShown) {
    EXPECT_EQ(tick(), "");
    close();
    open();  // reads what is behind long locks anew
    auto text = scrape();
    EXPECT_EQ(value_of(text, R"(rampart_training_runs_total{verdict="REFUSED"})"), "0");
    EXPECT_EQ(value_of(text, "rampart_training_last_run_timestamp_seconds"), "NaN");
    const double due = std::stod(value_of(text, "rampart_training_next_due_timestamp_seconds"));
    EXPECT_GT(due, static_cast<double>(kStart.micros()) / 1e6);
    const auto run = node_->certify(node_->registry().champion()->policy, node_->now(), "a test");
    ASSERT_TRUE(run) << run.error().message;
    host_.pass(Duration::days(70));
    EXPECT_EQ(tick(), "");
    close();
    open();
    text = scrape();
    const auto verdict = certification::to_string(run->verdict);
    EXPECT_EQ(value_of(text, fmt::format("rampart_training_runs_total{{verdict=\"{}\"}}", verdict)),
              "1");
    EXPECT_EQ(std::stod(value_of(text, "rampart_training_last_run_timestamp_seconds")),
              static_cast<double>(run->at.micros()) / 1e6);
    EXPECT_GT(std::stod(value_of(text, "rampart_training_next_due_timestamp_seconds")), due);
    EXPECT_EQ(value_of(text, "rampart_error_budget_spent_ratio"), "0");
}

}  // namespace
}  // namespace rampart::rampartd
