// A damaged block in what follows from the log: one partition is made anew, the others go on, and
// `rampart serve` stays up, also when it is killed in the middle of it.
#include "support/damage.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "rampart/storage/derived_database.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/application_json.hpp"
#include "services/rampartd/node.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using domain::Application;
using streaming::PartitionId;
using test_support::Damage;

const std::string kProgram = test_support::bin_dir() + "/rampart";
constexpr size_t kBatch = 500, kBatches = 16;  // more of each partition than is read at the start
const PartitionId kDamaged(0);

class DamageTest : public testing::Test {
  protected:
    void SetUp() override {
        loan_stream::StreamOptions options;
        options.name = "simulated";
        options.rows = 200;
        options.seed = 7;
        const auto stream = loan_stream::load(options).value();
        workspace_ =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream, 7)
                .value();
        auto config = base::read_file(workspace_.config, 1 << 20).value();
        config.replace(config.find("every_months = 2"), 16, "every_months = 600");
        config += "\n[privacy]\nretention_months = 8\n";
        ASSERT_TRUE(base::write_file_atomically(workspace_.config, config));
        start_ = stream.applicants.front().application.event_time;
        const auto node = open();
        ASSERT_TRUE(node->advance(start_));
        for (size_t batch = 0; batch < kBatches; ++batch) {
            std::vector<Application> applications;
            for (size_t i = 0; i < kBatch; ++i) {
                auto one = stream.applicants[i % 200].application;
                one.id = domain::ApplicationId(fmt::format("a-{}", batch * kBatch + i));
                one.person = domain::PersonId(fmt::format("p-{}", batch * kBatch + i));
                one.event_time = start_;
                applications.push_back(std::move(one));
            }
            const auto decisions = node->decisions().decide(applications);
            ASSERT_TRUE(decisions) << decisions.error().message;
            std::vector<domain::Outcome> outcomes;
            for (size_t i = 0; i < kBatch; i += 2) {
                outcomes.push_back({(*decisions)[i].id, "repaid", 0, 1, start_});
            }
            ASSERT_TRUE(node->decisions().submit_outcomes(outcomes));
            for (const auto& one : *decisions)
                (is_damaged(one) ? here_ : elsewhere_).push_back(one);
        }
        ASSERT_TRUE(node->advance(start_ + base::Duration::days(2)));
        hash_ = node->joiner().state_hash();
    }
    void TearDown() override { fs::remove_all(folder_); }

    static bool is_damaged(const domain::Decision& one) {
        return streaming::partition_of(one.id.value(), 4) == kDamaged;
    }
    std::unique_ptr<Node> open() const {
        auto node = Node::open(load_settings(workspace_.config).value());
        EXPECT_TRUE(node) << node.error().message;
        return *std::move(node);
    }
    fs::path index() const { return workspace_.store / "partitions/0/decisions"; }
    fs::path joins() const { return workspace_.store / "partitions/0/joins"; }
    static fs::path aside(const fs::path& database) { return database.string() + ".damaged-1"; }

    demo::ServiceProcess serve() const {
        auto process = demo::ServiceProcess::start(kProgram, workspace_.config,
                                                   workspace_.endpoint_file, workspace_.log);
        EXPECT_TRUE(process) << process.error().message;
        return std::move(*process);
    }
    http::Client client() const {
        auto text = base::read_file(workspace_.endpoint_file, 256).value();
        text.pop_back();
        http::ClientOptions options;
        options.token = workspace_.token;
        options.timeout = base::Duration::seconds(30);
        return http::Client::create(text, options).value();
    }
    /// The status of asking for the decision again; what is answered is the same decision.
    static int ask_again(http::Client& client, const domain::Decision& one) {
        const auto answer = client.post("/v1/decisions", wire::to_json(one.application));
        if (!answer) return 0;
        if (answer->status == 200) {
            EXPECT_NE(answer->body.find(one.id.value()), std::string::npos);
            EXPECT_NE(answer->body.find(fmt::format(R"("policy_id":"{}")", one.policy)),
                      std::string::npos)
                << answer->body;
            EXPECT_NE(answer->body.find(
                          fmt::format(R"("decided_at":"{}")", base::to_iso8601(one.decided_at))),
                      std::string::npos)
                << answer->body;
        } else if (answer->status == 503) {
            EXPECT_NE(answer->header("Retry-After"), "");
            EXPECT_NE(answer->body.find("partition_rebuilding"), std::string::npos) << answer->body;
        }
        return answer->status;
    }
    /// Asks again for decisions of the damaged partition, and of the others beside it, until so
    /// many of the former in a row are answered; returns how many were put off.
    int ask_until_whole(http::Client& client, size_t in_a_row) const {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(90);
        int put_off = 0;
        size_t answered = 0;
        for (size_t i = 0; answered < in_a_row; ++i) {
            const int status = ask_again(client, here_[i % here_.size()]);
            EXPECT_TRUE(status == 200 || status == 503) << status;
            answered = status == 200 ? answered + 1 : 0;
            put_off += status == 503;
            if (i % 20 == 0) {
                EXPECT_EQ(ask_again(client, elsewhere_[i % elsewhere_.size()]), 200);
            }
            if (std::chrono::steady_clock::now() > deadline) {
                ADD_FAILURE() << "it is not whole after 90 s";
                break;
            }
        }
        return put_off;
    }

    const fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("damage.{}", ::getpid());
    demo::Workspace workspace_;
    base::TimePoint start_;
    std::vector<domain::Decision> here_, elsewhere_;
    base::Digest hash_;
};

using DamageOfAServedStore = DamageTest;

TEST_F(DamageOfAServedStore, AScrubFindsWhatNobodyReadsAndDecisionsGoOn) {
    test_support::damage_table(workspace_.store / "log", Damage::kOneByte);
    auto process = serve();
    auto asking = client();
    const std::string found = "rampart_scrub_damaged_files 1";
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const auto scrubbed = [&] {
        return asking.get("/metrics").value().body.find(found) != std::string::npos;
    };
    while (!scrubbed() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_TRUE(scrubbed());
    const auto status = asking.get("/v1/status").value().body;
    EXPECT_NE(status.find("damage_found"), std::string::npos) << status;
    EXPECT_EQ(asking.get("/readyz").value().status, 200);
    for (const auto* decisions : {&here_, &elsewhere_})
        EXPECT_EQ(ask_again(asking, decisions->front()), 200);
    EXPECT_TRUE(process.stop());
}

TEST_F(DamageOfAServedStore, AScrubHasAnIndexMadeAnewBeforeItIsNeeded) {
    test_support::damage_table(index(), Damage::kOneByte);
    auto process = serve();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!fs::exists(aside(index())) && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_TRUE(fs::exists(aside(index()))) << "nothing has looked at the damaged block";
    auto asking = client();
    ask_until_whole(asking, 20);
    EXPECT_TRUE(process.stop());
}

TEST_F(DamageOfAServedStore, AnIndexIsRebuiltFromTheLogWhileTheOthersDecide) {
    test_support::damage_table(index(), Damage::kMostOfATable);
    auto process = serve();
    auto asking = client();
    EXPECT_GT(ask_until_whole(asking, here_.size()), 0) << "nothing has met the damage";
    EXPECT_TRUE(fs::exists(aside(index())));
    const auto metrics = asking.get("/metrics").value().body;
    EXPECT_NE(metrics.find("rampart_databases_set_aside_total{database=\"decisions\"} 1"),
              std::string::npos);
    EXPECT_EQ(asking.get("/readyz").value().status, 200);
    EXPECT_TRUE(process.stop());
}

TEST_F(DamageOfAServedStore, CompactionThatMeetsTheBlockEndsNoProcess) {
    test_support::damage_table(index(), Damage::kMostOfATable);
    auto process = serve();
    auto asking = client();
    const auto retained = base::to_iso8601(base::add_months(start_, 9));
    ASSERT_EQ(asking.post("/v1/clock", fmt::format(R"({{"now":"{}"}})", retained)).value().status,
              200);
    const auto erase = [&] {
        auto answer = asking
                          .post("/v1/erasures",
                                fmt::format(R"({{"person_id":"{}","reason":"r","dry_run":false}})",
                                            here_.front().application.person))
                          .value();
        if (answer.status != 202) return answer;
        const auto job = std::string(answer.header("Location"));  // until it has ended
        while (answer.body.find(R"("ended_at":null)") != std::string::npos) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            answer = asking.get(job).value();
        }
        if (answer.body.find(R"("state":"done")") == std::string::npos) answer.status = 503;
        return answer;
    };
    auto answer = erase();  // compacts where the decision lay
    for (int i = 0; i < 60 && answer.status != 200; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        answer = erase();
    }
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(asking.get("/v1/decisions/" + here_.front().id.value()).value().status, 409);
    EXPECT_NE(answer.body.find("partitions/0/decisions.damaged-1"), std::string::npos)
        << "it says what it leaves: " << answer.body;
    EXPECT_TRUE(fs::exists(aside(index())));
    EXPECT_TRUE(process.stop());
}

TEST_F(DamageOfAServedStore, KilledAtAnyMomentItGoesOnToTheSameDecisions) {
    test_support::damage_table(index(), Damage::kMostOfATable);
    size_t while_rebuilding = 0;
    for (const int milliseconds : {0, 600, 1000, 1100, 1200, 1300, 1500}) {
        auto process = serve();
        auto asking = client();
        const auto until =
            std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
        int last = 0;
        for (size_t i = 0; i == 0 || std::chrono::steady_clock::now() < until; ++i) {
            last = ask_again(asking, here_[(97 * i) % here_.size()]);
            EXPECT_TRUE(last == 200 || last == 503) << last;
            EXPECT_EQ(ask_again(asking, elsewhere_[i % elsewhere_.size()]), 200);
        }
        while_rebuilding += last == 503;
        process.kill();
    }
    EXPECT_GT(while_rebuilding, 0u);
    auto process = serve();
    auto asking = client();
    ask_until_whole(asking, here_.size());
    EXPECT_TRUE(process.stop());
    EXPECT_TRUE(fs::exists(aside(index())));
    EXPECT_FALSE(fs::exists(index().string() + ".damaged-2"));
}

TEST_F(DamageTest, JoinedStateIsMadeAnewToTheSameHash) {
    for (const auto kind : {Damage::kMostOfATable, Damage::kOneByte}) {
        test_support::damage_table(joins(), kind);
        const auto node = open();
        static_cast<void>(node->joiner().check());  // as reading every block once a month does
        ASSERT_TRUE(node->advance(start_ + base::Duration::days(2)));
        EXPECT_EQ(node->joiner().state_hash(), hash_);
        EXPECT_EQ(node->joiner().check().value(), std::vector<std::string>{});
        EXPECT_TRUE(fs::exists(aside(joins())));
        EXPECT_EQ(node->joiner().upkeep().set_aside, 1u);
        fs::remove_all(aside(joins()));
    }
}

TEST_F(DamageTest, WhatWasSetAsideIsNamedAndInNoBackup) {
    test_support::damage_table(joins(), Damage::kOneByte);
    {
        const auto node = open();
        static_cast<void>(node->joiner().check());
        ASSERT_TRUE(node->advance(start_ + base::Duration::days(2)));
    }
    ASSERT_TRUE(fs::exists(aside(joins())));
    const auto run = [&](const std::string& arguments) {
        return test_support::run_program(fmt::format("{} {}", kProgram, arguments));
    };
    const auto check = run("store check --config " + workspace_.config.string());
    EXPECT_EQ(check.exit_code, 0) << check.output;
    EXPECT_NE(check.output.find("partitions/0/joins.damaged-1"), std::string::npos) << check.output;
    const auto backup = folder_ / "backup", restored = folder_ / "restored";
    const auto made = run(fmt::format("backup create --store {} --to {} --with-keys",
                                      workspace_.store.string(), backup.string()));
    EXPECT_EQ(made.exit_code, 0) << made.output;
    const auto back =
        run(fmt::format("backup restore --from {} --store {}", backup.string(), restored.string()));
    EXPECT_EQ(back.exit_code, 0) << back.output;
    EXPECT_TRUE(fs::exists(restored / "partitions/0/joins/CURRENT"));
    EXPECT_FALSE(fs::exists(aside(restored / "partitions/0/joins")));
}

}  // namespace
}  // namespace rampart::rampartd
