// A champion is promoted, and then repayment changes or not: one alarm and one rollback.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <filesystem>
#include <thread>

#include "rampart/base/file.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "services/rampartd/node.hpp"
#include "support/alerts.hpp"
#include "support/generous_champion.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/driver.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Duration;
using base::TimePoint;
using test_support::run_program;

const std::string kRampart = test_support::bin_dir() + "/rampart";
constexpr size_t kBefore = 1200, kApplicants = 2400;  // decided before the promotion; in all
// Days from the start. The first decisions have matured at kPromoted. Decisions after the promotion
// mature from kMaturing on, and all of them have matured at kAllKnown.
constexpr int kPromoted = 300, kReported = 100, kMaturing = 500, kAllKnown = 560;
constexpr double kGood = 0.9, kBad = 0.2;  // shares of the approved that repay

class Monitor : public testing::Test {
  protected:
    Monitor() {
        stream_ =
            loan_stream::load({.name = "simulated", .data_dir = {}, .rows = kApplicants}).value();
        start_ = stream_.applicants.front().application.event_time;
    }
    static void TearDownTestSuite() { fs::remove_all(folder_); }
    TimePoint day(int n) const { return start_ + Duration::days(n); }

    /// A store whose trainer never has enough examples: only the tests change it.
    demo::Workspace prepare(const std::string& name) {
        auto workspace = demo::prepare_workspace(
                             folder_ / name, test_support::source_dir() + "/ops/config", stream_, 5)
                             .value();
        plain_config_ = base::read_file(workspace.config, 1 << 20).value();
        const std::string few = "min_examples = 500";
        plain_config_.replace(plain_config_.find(few), few.size(), "min_examples = 1000000");
        return workspace;
    }
    void configure(const demo::Workspace& workspace, const std::string& monitor) {
        ASSERT_TRUE(base::write_file_atomically(workspace.config,
                                                plain_config_ + "\n[monitor]\n" + monitor + "\n"));
    }
    /// The same store in another folder.
    demo::Workspace copy_of(const demo::Workspace& workspace, const std::string& name) {
        auto copy = workspace;
        copy.folder = folder_ / name;
        fs::remove_all(copy.folder);
        fs::copy(workspace.folder, copy.folder, fs::copy_options::recursive);
        copy.config = copy.folder / workspace.config.filename();
        copy.store = copy.folder / "store";
        copy.endpoint_file = copy.store / "endpoint";
        copy.log = copy.folder / workspace.log.filename();
        return copy;
    }
    static std::unique_ptr<Node> open(const demo::Workspace& workspace) {
        const auto settings = load_settings(workspace.config);
        EXPECT_TRUE(settings) << settings.error().message;
        auto node = Node::open(*settings);
        EXPECT_TRUE(node) << node.error().message;
        return std::move(*node);
    }
    static void advance(Node& node, TimePoint to) {
        const auto status = node.advance(to);
        ASSERT_TRUE(status) << status.error().message;
    }
    static json::value ask(Node& node) { return json::parse(node.monitor_report().value()); }

    void publish_attributes(Node& node) {
        http::Router router(access::one_token("t"));
        node.add_routes(router);
        for (size_t n = 0; n < kApplicants; n += 800) {
            http::Request request;
            request.method = "POST";
            request.path = "/v1/protected-attributes";
            request.headers = {{"Authorization", "Bearer t"}};
            for (size_t i = n; i < std::min(n + 800, kApplicants); ++i) {
                const auto& one = stream_.applicants[i];
                request.body += protected_attributes::to_json({one.application.person,
                                                               one.application.event_time,
                                                               one.protected_attributes}) +
                                "\n";
            }
            ASSERT_EQ(router.handle(std::move(request)).status, 200);
        }
    }
    /// Decides applicants [from, to) at `time`; a share `repays` of the approved repays.
    std::vector<domain::Decision> live_through(Node& node, size_t from, size_t to, TimePoint time,
                                               double repays) {
        std::vector<domain::Decision> all;
        for (size_t n = from; n < to; n += 400) {
            std::vector<domain::Application> batch;
            for (size_t i = n; i < std::min(n + 400, to); ++i) {
                batch.push_back(stream_.applicants[i].application);
                batch.back().event_time = time;
            }
            const auto decided = node.decisions().decide(batch).value();
            std::vector<domain::Outcome> outcomes;
            for (const auto& decision : decided) {
                if (decision.action != domain::Action::kApprove) continue;
                const bool good = base::keyed_uniform("luck", decision.id.value()) < repays;
                outcomes.push_back(
                    {decision.id, "repaid", 0, good ? 1.0 : 0.0, time + Duration::days(kReported)});
            }
            EXPECT_TRUE(node.decisions().submit_outcomes(outcomes));
            all.insert(all.end(), decided.begin(), decided.end());
        }
        return all;
    }
    /// A store for one test, just before outcomes of the champion's decisions are known. A share
    /// `repays` of them repays.
    demo::Workspace store_with_a_champion(const std::string& name, double repays) {
        auto& made = repays == kGood ? good_ : bad_;
        if (!made) made = make_store(repays == kGood ? "good" : "bad", repays);
        plain_config_ = made->plain_config;
        first_ = made->first;
        generous_ = made->generous;
        return copy_of(made->workspace, name);
    }
    struct Made {
        demo::Workspace workspace;
        std::string plain_config;
        domain::PolicyId first, generous;
    };
    Made make_store(const std::string& name, double repays) {
        const auto workspace = prepare(name);
        configure(workspace, "");
        const auto node = open(workspace);
        advance(*node, start_);
        first_ = node->registry().champion()->policy;
        publish_attributes(*node);
        live_through(*node, 0, kBefore, start_, kGood);
        advance(*node, day(kPromoted));
        generous_ = support::promote_a_generous_one(*node);
        advance(*node, node->now());  // it decides
        for (const auto& decision :
             live_through(*node, kBefore, kApplicants - 10, day(kPromoted + 1), repays)) {
            EXPECT_EQ(decision.policy, generous_);
        }
        advance(*node, day(kMaturing));
        EXPECT_EQ(node->registry().champion()->policy, generous_);
        return {workspace, plain_config_, first_, generous_};
    }
    static std::string metrics_of(Node& node) {
        http::Router router(access::one_token("t"));
        node.add_routes(router);
        http::Request request;
        request.method = "GET";
        request.path = "/metrics";
        return router.handle(request).body;
    }
    /// The number of alarms that /metrics shows.
    static std::string alarms_of(Node& node) {
        const auto text = metrics_of(node);
        const std::string name = "\nrampart_monitor_alarms ";
        const size_t at = text.find(name);
        if (at == std::string::npos) return "none";
        const size_t from = at + name.size();
        return text.substr(from, text.find('\n', from) - from);
    }
    static std::vector<registry::AuditEntry> audited(Node& node, std::string_view action) {
        auto entries = node.registry().audit_entries().value();
        std::erase_if(entries, [&](const auto& entry) { return entry.action != action; });
        return entries;
    }
    /// Checks for one alarm and one rollback, both by the monitor; the first policy decides.
    void expect_rolled_back_once(Node& node) {
        ASSERT_EQ(audited(node, "monitor_alarm").size(), 1u);
        const auto rollbacks = audited(node, "rollback");
        ASSERT_EQ(rollbacks.size(), 1u);
        EXPECT_EQ(rollbacks[0].actor, "monitor");
        EXPECT_EQ(node.registry().champion()->policy, first_);
        const auto promotions = node.registry().promotions();
        EXPECT_EQ(promotions.size(), 3u);
        EXPECT_EQ(promotions.back().kind, registry::PromotionKind::kRollback);
        EXPECT_TRUE(promotions.back().reason.starts_with("monitor: alarm of 20"))
            << promotions.back().reason;
    }

    static const fs::path folder_;
    static std::optional<Made> good_, bad_;
    loan_stream::Stream stream_;
    std::string plain_config_;
    TimePoint start_;
    domain::PolicyId first_, generous_;
};
const fs::path Monitor::folder_ =
    fs::path(testing::TempDir()) / fmt::format("monitor_test.{}", ::getpid());
std::optional<Monitor::Made> Monitor::good_, Monitor::bad_;

TEST_F(Monitor, AChampionThatBecomesHarmfulIsRolledBackOnceAndTheEarlierPolicyDecides) {
    const auto workspace = store_with_a_champion("a", kBad);
    configure(workspace, "action = \"rollback\"");
    const auto node = open(workspace);
    EXPECT_EQ(node->decisions().policy()->id(), generous_);
    advance(*node, day(kAllKnown));
    expect_rolled_back_once(*node);
    EXPECT_EQ(node->decisions().policy()->id(), first_);
    const auto decided =
        live_through(*node, kApplicants - 10, kApplicants, day(kAllKnown + 1), kGood);
    for (const auto& decision : decided) EXPECT_EQ(decision.policy, first_);
    const auto alarm = audited(*node, "monitor_alarm").front();
    EXPECT_EQ(alarm.details.at("policy"), generous_.value());
    EXPECT_NE(alarm.details.at("groups").find("race=white (change)"), std::string::npos);
    // later looks have no champion to roll back, and no policy before the first
    advance(*node, day(kAllKnown + 100));
    expect_rolled_back_once(*node);
    EXPECT_TRUE(ask(*node).at("watches").as_array().empty());
    ASSERT_TRUE(node->registry().verify_audit());
}

TEST_F(Monitor, WithoutAChangeOfRepaymentThereIsNoAlarm) {
    const auto workspace = store_with_a_champion("a", kGood);
    configure(workspace, "action = \"rollback\"");
    {
        const auto node = open(workspace);
        advance(*node, day(kAllKnown));
        EXPECT_EQ(node->registry().champion()->policy, generous_);
        EXPECT_TRUE(audited(*node, "monitor_alarm").empty());
        const auto report = ask(*node);
        const auto& watch = report.at("watches").as_array().at(0);
        EXPECT_TRUE(watch.at("decides").as_bool());
        EXPECT_TRUE(watch.at("alarm").is_null());
        const auto& group = watch.at("groups").as_array().at(0);
        EXPECT_EQ(group.at("group").as_string(), "race=white");
        EXPECT_GT(group.at("persons").to_number<int>(), 100);
        EXPECT_GT(group.at("change").to_number<double>(), 0) << "to approve more does good here";
        EXPECT_TRUE(report.at("champion_certificate_expired").as_bool());
    }
    const auto ran =
        run_program(fmt::format("{} monitor --config {}", kRampart, workspace.config.string()));
    EXPECT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_NE(ran.output.find("no alarm"), std::string::npos) << ran.output;
    EXPECT_NE(ran.output.find("the champion's certificate expired at 20"), std::string::npos)
        << ran.output;
}

TEST_F(Monitor, AChampionWhoseCertificateExpiresDecidesOnAndTheMetricSaysSo) {
    const auto workspace = store_with_a_champion("a", kGood);
    const auto node = open(workspace);
    http::Router router(access::one_token("t"));
    node->add_routes(router);
    const auto expired = [&](TimePoint now) {
        advance(*node, now);
        http::Request request;
        request.method = "GET";
        request.path = "/metrics";
        const auto metrics = router.handle(request).body;
        EXPECT_EQ(node->registry().champion()->policy, generous_);
        EXPECT_EQ(node->decisions().policy()->id(), generous_);
        return metrics.find("rampart_champion_certificate_expired 1\n") != std::string::npos;
    };
    const auto end = node->registry().champion_certified_until().value().value();
    ASSERT_GT(end, node->now());
    EXPECT_FALSE(expired(end - Duration::micros(1)));
    EXPECT_TRUE(expired(end));
}

TEST_F(Monitor, OnlyPersonsOutsideTheVaultCount) {
    const auto workspace = store_with_a_champion("a", kGood);
    const auto node = open(workspace);
    advance(*node, day(kAllKnown));
    int64_t persons = 0, outside = 0;
    const auto report = ask(*node);
    for (const auto& group : report.at("watches").as_array().at(0).at("groups").as_array()) {
        persons += group.at("persons").to_number<int64_t>();
    }
    for (size_t n = kBefore; n < kApplicants - 10; ++n) {
        const auto& person = stream_.applicants[n].application.person;
        outside += training_set::in_vault(node->keys().split, person) ? 0 : 1;
    }
    EXPECT_EQ(persons, outside);
}

TEST_F(Monitor, WithTheActionAlarmAPersonDecidesAndARestartWithRollbackDoesWhatIsLeftOnce) {
    const auto workspace = store_with_a_champion("a", kBad);
    {
        const auto node = open(workspace);
        const support::Scrape before(metrics_of(*node));
        advance(*node, day(kAllKnown));
        advance(*node, day(kAllKnown + 30));
        EXPECT_EQ(audited(*node, "monitor_alarm").size(), 1u) << "once, not at every look";
        EXPECT_EQ(node->registry().champion()->policy, generous_);
        EXPECT_EQ(alarms_of(*node), "1");
        if (support::Alerts::can_run()) {
            const support::Alerts rules(folder_);
            const support::Scrape after(metrics_of(*node));
            EXPECT_TRUE(rules.fires("RampartMonitorAlarm", before, after));
            EXPECT_FALSE(rules.fires("RampartMonitorAlarm", before, before));
        }
        http::Router router(access::one_token("t"));
        node->add_routes(router);
        http::Request request;
        request.method = "GET";
        request.path = "/v1/monitor";
        EXPECT_EQ(router.handle(request).status, 401);
        request.headers = {{"Authorization", "Bearer t"}};
        const auto response = router.handle(request);
        EXPECT_EQ(response.status, 200);
        EXPECT_FALSE(
            json::parse(response.body).at("watches").as_array().at(0).at("alarm").is_null());
    }
    // an alert on it does not resolve by a restart, in the days until the next look
    EXPECT_EQ(alarms_of(*open(workspace)), "1");
    const auto command = fmt::format("{} monitor --config {}", kRampart, workspace.config.string());
    const auto ran = run_program(command);
    EXPECT_EQ(ran.exit_code, 1) << ran.output;
    EXPECT_NE(ran.output.find("ALARM of 20"), std::string::npos) << ran.output;
    EXPECT_EQ(json::parse(run_program("(" + command + " --json 2>/dev/null)").output)
                  .at("action")
                  .as_string(),
              "alarm");
    // as a crash between alarm and rollback would leave it
    configure(workspace, "action = \"rollback\"");
    {
        const auto node = open(workspace);
        advance(*node, day(kAllKnown + 37));
        expect_rolled_back_once(*node);
    }
    EXPECT_EQ(alarms_of(*open(workspace)), "0");
}

TEST_F(Monitor, AFloorIsWatchedAndAWrongOneIsNamed) {
    const auto workspace = store_with_a_champion("a", kBad);
    configure(workspace, "floor = 500");
    const auto wrong = Node::open(load_settings(workspace.config).value());
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().reason, "bad_floor");
    configure(workspace, "floor = -20\nmargin = 1000000");
    const auto node = open(workspace);
    advance(*node, day(kAllKnown));
    const auto alarms = audited(*node, "monitor_alarm");
    ASSERT_EQ(alarms.size(), 1u);
    EXPECT_NE(alarms[0].details.at("groups").find("race=white (level)"), std::string::npos)
        << alarms[0].details.at("groups");
}

TEST_F(Monitor, DisabledItDoesNothing) {
    const auto workspace = store_with_a_champion("a", kBad);
    configure(workspace, "enabled = false\naction = \"rollback\"");
    const auto node = open(workspace);
    advance(*node, day(kAllKnown));
    EXPECT_EQ(node->registry().champion()->policy, generous_);
    EXPECT_TRUE(audited(*node, "monitor_alarm").empty());
    EXPECT_FALSE(ask(*node).at("enabled").as_bool());
}

TEST_F(Monitor, KilledAtAnyMomentOfTheLookItRollsBackExactlyOnce) {
    const auto prepared = store_with_a_champion("a", kBad);
    configure(prepared, "action = \"rollback\"");
    const auto clock = fmt::format("{{\"now\":\"{}\"}}", base::to_iso8601(day(kAllKnown)));
    const auto session_of = [](const demo::Workspace& workspace) {
        return demo::Session(workspace.endpoint_file, workspace.token, Duration::seconds(60));
    };
    const auto start = [](const demo::Workspace& workspace) {
        auto process = demo::ServiceProcess::start(kRampart, workspace.config,
                                                   workspace.endpoint_file, workspace.log);
        EXPECT_TRUE(process) << process.error().message;
        return std::move(*process);
    };
    const auto calm = copy_of(prepared, "calm");
    const auto began = std::chrono::steady_clock::now();
    {
        auto process = start(calm);
        ASSERT_TRUE(session_of(calm).post("/v1/clock", clock));
        ASSERT_TRUE(process.stop());
    }
    const auto took = std::chrono::steady_clock::now() - began;
    const auto expected = open(calm)->state_hash().value();
    constexpr int kKills = 6;
    for (int kill = 1; kill <= kKills; ++kill) {
        const auto wild = copy_of(prepared, "wild");
        auto process = start(wild);
        std::thread asking([&] { EXPECT_TRUE(session_of(wild).post("/v1/clock", clock)); });
        std::this_thread::sleep_for(took * kill / kKills);
        process.kill();
        process = start(wild);
        asking.join();
        ASSERT_TRUE(process.stop());
        const auto node = open(wild);
        expect_rolled_back_once(*node);
        EXPECT_EQ(node->state_hash().value().hex(), expected.hex()) << "kill " << kill;
    }
}

}  // namespace
}  // namespace rampart::rampartd
