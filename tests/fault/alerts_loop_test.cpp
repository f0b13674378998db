// More alerts that a real node raises: of its jobs, its disk, its learning, its certificates, and
// of the program as a process.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "alerts_fixture.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/storage/derived_database.hpp"
#include "rampart/wire/record_codec.hpp"
#include "support/damage.hpp"
#include "support/generous_champion.hpp"
#include "support/tls_files.hpp"
#include "tools/demo/service_process.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using base::Duration;
using streaming::PartitionId;
using test_support::Damage;

// --- jobs

TEST_F(AlertsOfANode, AJobFailsFromTheStartOn) {
    const std::string of_join = R"({task="join"})";
    prepare();
    open();
    decide(0, 20);
    node_->begin_work();
    ASSERT_TRUE(soon("rampart_job_runs_total" + of_join, 1));
    const auto before = scrape();
    make_anew("decisions");
    open();
    node_->begin_work();
    ASSERT_TRUE(soon("rampart_job_failures_total" + of_join, 1));
    host_.pass(Duration::seconds(16 * 60));
    const auto failures = scrape().values["rampart_job_failures_total" + of_join];
    ASSERT_TRUE(soon("rampart_job_failures_total" + of_join, failures + 2));
    expect_fires({"RampartJobFails"}, before, scrape());
}

TEST_F(AlertsOfANode, AJobHangsInTheFileSystem) {
    prepare();
    open();
    node_->begin_work();
    ASSERT_TRUE(soon(R"(rampart_job_runs_total{task="principals"})", 1));
    const auto before = scrape();
    const auto file = workspace_.store / "keys" / "principals.toml";
    fs::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);  // who reads it waits for what is written
    int writer = -1;
    for (int i = 0; i < 2000 && writer < 0; ++i) {
        writer = ::open(file.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);  // once it is read
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_GE(writer, 0);
    host_.pass(Duration::seconds(11 * 60));
    const auto after = scrape();
    ::close(writer);
    expect_fires({"RampartJobStuck"}, before, after);
}

TEST_F(AlertsOfANode, AnAcceptedRequestDoesNotEnd) {
    prepare();
    configure("[jobs]\nwait_seconds = 0\n");
    open();
    const auto before = scrape();
    const auto accepted =
        client()
            .post("/v1/erasures", R"({"person_id":"p","reason":"a test","dry_run":false})")
            .value();
    ASSERT_EQ(accepted.status, 202) << accepted.body;
    fs::rename(workspace_.store / "jobs", workspace_.store / "jobs.gone");
    node_->begin_work();
    ASSERT_TRUE(soon(R"(rampart_job_failures_total{task="erasures"})", 1));
    host_.pass(Duration::hours(2));
    expect_fires({"RampartRequestJobOld"}, before, scrape());
}

// --- the log and what is read of it

TEST_F(AlertsOfANode, ADecisionInTheLogCannotBeRead) {
    prepare();
    open();
    decide(0, 5);
    EXPECT_EQ(tick(), "");
    EXPECT_TRUE(node_->upkeep());
    const auto before = scrape();
    with_log([&](auto& log) {
        const streaming::Record record{
            "key", "no decision at all", start_, {{"schema", "rampart.v9.Decision/1"}}};
        ASSERT_TRUE(log.append("decisions", {&record, 1}));
    });
    open();
    EXPECT_EQ(tick(), "");
    EXPECT_TRUE(node_->upkeep());
    expect_fires({"RampartDecisionsUnread", "RampartQuarantine"}, before, scrape());
}

TEST_F(AlertsOfANode, ADecisionInTheLogWasNotDrawnByItsKey) {
    prepare();
    open();
    decide(0, 5);
    EXPECT_EQ(tick(), "");
    const auto before = scrape();
    auto decision = *node_->joiner().find_decision(domain::decision_id_of(applicant(0).id)).value();
    decision.application.id = domain::ApplicationId("forged");
    decision.id = domain::decision_id_of(decision.application.id);
    decision.draw = std::nextafter(decision.draw, 0.5);
    with_log([&](auto& log) {
        const auto record = wire::to_record(decision, 0);
        ASSERT_TRUE(log.append("decisions", {&record, 1}));
    });
    open();
    EXPECT_EQ(tick(), "");
    expect_fires({"RampartDrawForged", "RampartQuarantine"}, before, scrape());
}

TEST_F(AlertsOfANode, ADecisionIsOfAnotherSchemaFile) {
    prepare();
    open();
    decide(0, 5);
    EXPECT_EQ(tick(), "");
    const auto before = scrape();
    auto decision = *node_->joiner().find_decision(domain::decision_id_of(applicant(0).id)).value();
    decision.application.id = domain::ApplicationId("other");
    decision.id = domain::decision_id_of(decision.application.id);
    decision.application.features.push_back({"of another file", 1.0});
    with_log([&](auto& log) {
        const auto record = wire::to_record(decision, 0);
        ASSERT_TRUE(log.append("decisions", {&record, 1}));
    });
    open();
    host_.pass(Duration::days(2500));  // it has matured
    node_->begin_work();
    ASSERT_TRUE(soon("rampart_training_unexplained_decisions", 1));
    expect_fires({"RampartDecisionsUnexplained"}, before, scrape());
}

// --- the disk

TEST_F(AlertsOfANode, AScrubFindsDamageAndNoneHasSucceededSince) {
    prepare();
    open();
    decide(0, kRows);
    node_->begin_work();
    ASSERT_TRUE(soon("rampart_scrub_last_success_timestamp_seconds", 1));
    const auto before = scrape();
    close();
    test_support::damage_table(workspace_.store / "log", Damage::kOneByte);
    open();
    node_->begin_work();
    ASSERT_TRUE(soon("rampart_scrub_damaged_files", 1));
    host_.pass(Duration::days(14));
    expect_silent({"RampartScrubOverdue"}, before, scrape());
    host_.pass(Duration::days(2));
    expect_fires({"RampartDamageFound", "RampartScrubOverdue"}, before, scrape());
}

TEST_F(AlertsOfANode, OneIndexIsMadeAnewAndAnotherCannotBe) {
    constexpr size_t kMany = 2000;  // more of each partition than a turn of making it anew reads
    prepare();
    open();
    std::vector<domain::Application> all;
    for (size_t n = 0; n < kMany; ++n) {
        all.push_back(applicant(n));
        all.back().id = domain::ApplicationId(fmt::format("many-{}", n));
    }
    std::vector<domain::DecisionId> ids;
    for (size_t n = 0; n < kMany; n += kRows) {
        const auto decided = node_->decisions().decide(std::span(all).subspan(n, kRows)).value();
        for (const auto& one : decided) ids.push_back(one.id);
    }
    node_->mend();
    const auto before = scrape();
    close();
    const auto index = [&](int p) {
        return workspace_.store / fmt::format("partitions/{}/decisions", p);
    };
    for (const int p : {0, 1}) test_support::damage_table(index(p), Damage::kMostOfATable);
    // the operator had accepted a gap: this index knew what the log does not have
    ASSERT_TRUE(base::write_file_atomically(storage::beyond_log_mark(index(1)), ""));
    open();
    for (const auto& id : ids) static_cast<void>(node_->decisions().find(id));
    EXPECT_TRUE(node_->mend()) << "a turn does not do it all";
    const auto after = scrape();
    const std::string of_decisions = R"({database="decisions"})";
    EXPECT_EQ(after.values.at("rampart_partitions_rebuilding" + of_decisions), 1);
    EXPECT_EQ(after.values.at("rampart_partitions_refused" + of_decisions), 1);
    expect_fires({"RampartRebuildTakesLong", "RampartPartitionRefused"}, before, after);
    while (node_->mend()) {
    }
    expect_silent({"RampartRebuildTakesLong"}, before, scrape());
}

// --- learning

TEST_F(AlertsOfANode, ARunOfTheGateIsRefused) {
    prepare();
    open();
    EXPECT_EQ(tick(), "");
    reopen();
    const auto before = scrape();
    const auto run = node_->certify(node_->registry().champion()->policy, node_->now(), "a test");
    ASSERT_TRUE(run) << run.error().message;
    ASSERT_EQ(run->verdict, certification::Verdict::kRefused);
    reopen();
    expect_fires({"RampartRunRefused"}, before, scrape());
}

TEST_F(AlertsOfANode, TheBudgetIsSpentAndTheChampionsCertificateEnds) {
    prepare();
    open();
    EXPECT_EQ(tick(), "");
    reopen();
    const auto before = scrape();
    support::promote_a_generous_one(*node_, 1);
    EXPECT_EQ(tick(), "");
    reopen();
    expect_fires({"RampartBudgetSpent"}, before, scrape());
    const Labels both{"RampartCertificateExpiresSoon", "RampartCertificateExpired"};
    expect_silent(both, before, scrape());
    const auto end = node_->registry().champion_certified_until().value().value();
    host_.pass(end - Duration::days(10) - host_.wall.now());
    EXPECT_EQ(tick(), "");
    const auto days_before = scrape();
    expect_fires({both[0]}, before, days_before);
    expect_silent({both[1]}, before, days_before);
    host_.pass(Duration::days(11));
    EXPECT_EQ(tick(), "");
    const auto after = scrape();
    expect_fires({both[1]}, before, after);
    expect_silent({both[0]}, before, after);
}

TEST_F(AlertsOfANode, AProposalIsAboutToExpire) {
    prepare();
    open();
    EXPECT_EQ(tick(), "");
    reopen();
    const auto before = scrape();
    support::propose_a_generous_one(*node_, {1, Duration::days(14)});
    reopen();
    EXPECT_EQ(tick(), "");
    expect_silent({"RampartProposalExpiresSoon"}, before, scrape());
    host_.pass(Duration::days(13));
    EXPECT_EQ(tick(), "");
    expect_fires({"RampartProposalExpiresSoon"}, before, scrape());
    host_.pass(Duration::days(2));
    EXPECT_EQ(tick(), "");
    reopen();
    expect_silent({"RampartProposalExpiresSoon"}, before, scrape());
}

TEST_F(AlertsOfANode, AScheduledSwitchCannotBeMade) {
    prepare();
    open();
    EXPECT_EQ(tick(), "");
    support::propose_a_generous_one(*node_, {1, Duration::days(14)});
    auto& registry = node_->registry();
    const auto proposal = registry.proposals(node_->now()).value().front();
    const auto at = node_->now() + Duration::hours(10);
    ASSERT_TRUE(registry.approve_proposal(proposal.number,
                                          {proposal.digest(), "anna", "board", node_->now(), at},
                                          node_->keys().signing.public_key()));
    const auto file = workspace_.store / "registry/models" / (proposal.policy.value() + ".rmp");
    std::filesystem::rename(file, folder_ / "kept.rmp");
    reopen();
    const auto before = scrape();
    host_.pass(Duration::seconds(10 * 3600 + 12 * 60));
    EXPECT_NE(tick(), "");
    reopen();
    expect_fires({"RampartSwitchOverdue"}, before, scrape());
    std::filesystem::rename(folder_ / "kept.rmp", file);
    EXPECT_EQ(tick(), "");
    reopen();
    EXPECT_EQ(node_->registry().champion()->policy, proposal.policy);
    expect_silent({"RampartSwitchOverdue"}, before, scrape());
}

// --- the program as a process

/// `rampart serve` with the clocks of this host.
class AlertsOfAProcess : public AlertsOfANode {
  protected:
    demo::ServiceProcess serve() const {
        auto process =
            demo::ServiceProcess::start(test_support::bin_dir() + "/rampart", workspace_.config,
                                        workspace_.endpoint_file, workspace_.log);
        EXPECT_TRUE(process) << process.error().message;
        return std::move(*process);
    }
    /// Asks as Prometheus does.
    Scrape ask(http::ClientTls tls = {}) const {
        auto endpoint = base::read_file(workspace_.endpoint_file, 256).value();
        endpoint.pop_back();
        http::ClientOptions options;
        options.tls = std::move(tls);
        const auto answer = http::Client::create(endpoint, options).value().get("/metrics");
        if (!answer) return Scrape::unanswered();
        EXPECT_EQ(answer->status, 200);
        return Scrape(answer->body, runtime::SystemClock().now());
    }
};

TEST_F(AlertsOfAProcess, ItIsKilledAgainAndAgain) {
    prepare();
    std::vector<Scrape> all;
    for (int start = 0; start < 4; ++start) {
        auto process = serve();
        all.push_back(ask());
        process.kill();
    }
    const Alerts rules(folder_);
    EXPECT_TRUE(rules.fires("RampartRestarts", all));
    EXPECT_FALSE(rules.fires("RampartRestarts", {all[0], all[1], all[2]}));
    expect_fires({"RampartDown"}, all.back(), ask());
}

TEST_F(AlertsOfAProcess, ItsTlsCertificateEndsAndNewFilesAreRefused) {
    const std::string end = "rampart_http_certificate_expiry_timestamp_seconds";
    const std::string loaded = "rampart_http_certificate_loaded";
    const Labels all{"RampartTlsCertificateExpiresSoon", "RampartTlsCertificateExpires",
                     "RampartTlsFilesRefused"};
    test_support::TlsFolder files;
    for (const auto& [name, days] :
         std::map<std::string, int>{{"server", 90}, {"weeks", 20}, {"days", 3}})
        files.certificate(name, "IP:127.0.0.1", days);
    prepare();
    configure(fmt::format("[http.tls]\ncertificate_file = \"{}\"\nkey_file = \"{}\"\n",
                          (files / "server.pem").string(), (files / "server.key").string()));
    auto process = serve();
    const auto before = ask(files.client());
    // has the process read its files anew, and waits until it shows so
    const auto renew = [&](const std::string& series) {
        const auto old = ask(files.client()).values.at(series);
        EXPECT_EQ(::kill(process.pid(), SIGHUP), 0);
        for (int i = 0; i < 600; ++i) {
            auto now = ask(files.client());
            if (now.values.at(series) != old) return now;
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        ADD_FAILURE() << series << " is as before";
        return before;
    };
    files.replace("server", "weeks");
    const auto weeks = renew(end);
    expect_fires({all[0]}, before, weeks);
    expect_silent({all[1], all[2]}, before, weeks);
    files.replace("server", "days");
    const auto days = renew(end);
    expect_fires({all[1]}, before, days);
    expect_silent({all[0], all[2]}, before, days);
    fs::copy_file(files / "ca.key", files / "server.key", fs::copy_options::overwrite_existing);
    expect_fires({all[2]}, before, renew(loaded));
    EXPECT_TRUE(process.stop());
}

}  // namespace
}  // namespace rampart::rampartd
