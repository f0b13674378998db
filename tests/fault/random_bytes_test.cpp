// Random bytes over the tables of each database of a running node, one database at a time: the
// process stays up, applications that do not need the bytes are decided, what follows from the log
// is made anew, and what does not is named, alarmed, and refused at the next start.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/application_json.hpp"
#include "support/alerts.hpp"
#include "support/places.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::demo {
namespace {

namespace fs = std::filesystem;
using domain::Application;
using std::chrono::seconds;
using std::chrono::steady_clock;
using support::Alerts;
using support::Scrape;

const std::string kProgram = test_support::bin_dir() + "/rampart";
constexpr size_t kPersons = 600, kBatch = 200;
constexpr int32_t kPartitions = 4;

class RandomBytes : public testing::Test {
  protected:
    void SetUp() override {
        loan_stream::StreamOptions options;
        options.name = "simulated";
        options.rows = kPersons;
        stream_ = loan_stream::load(options).value();
        workspace_ =
            prepare_workspace(folder_ / "a", test_support::source_dir() + "/ops/config", stream_, 3)
                .value();
        auto config = base::read_file(workspace_.config, 1 << 20).value();
        const std::string clock = "mode = \"event\"";
        config.replace(config.find(clock), clock.size(), "mode = \"system\"");
        ASSERT_TRUE(base::write_file_atomically(workspace_.config, config));
        {
            auto process = start();
            auto asking = client();
            for (size_t i = 0; i < kPersons; i += kBatch) {
                std::vector<Application> some;
                for (size_t n = i; n < i + kBatch; ++n) some.push_back(application(n, "first"));
                const auto body = wire::to_json(std::span<const Application>(some));
                ASSERT_EQ(asking.post("/v1/decisions", body).value().status, 200);
            }
            ASSERT_TRUE(process.stop());
        }
        // so that all of it is in tables: what is in a write-ahead log moves there at a start
        ASSERT_TRUE(start().stop());
        fs::copy(workspace_.store, folder_ / "whole", fs::copy_options::recursive);
    }
    ~RandomBytes() override { fs::remove_all(folder_); }

    ServiceProcess start() const {
        auto process = ServiceProcess::start(kProgram, workspace_.config, workspace_.endpoint_file,
                                             workspace_.log);
        EXPECT_TRUE(process) << process.error().message;
        return std::move(*process);
    }
    http::Client client() const {
        auto text = base::read_file(workspace_.endpoint_file, 256).value();
        text.pop_back();
        http::ClientOptions options;
        options.token = workspace_.token;
        options.timeout = base::Duration::seconds(60);
        return http::Client::create(text, options).value();
    }
    /// An application of the nth person; another `lot`, another application.
    Application application(size_t n, const std::string& lot) const {
        auto one = stream_.applicants.at(n).application;
        one.id = domain::ApplicationId(fmt::format("{}-{}", lot, n));
        return one;
    }
    static int32_t home(const Application& one) {
        const auto id = domain::decision_id_of(one.id);
        return streaming::partition_of(id.value(), kPartitions).value();
    }
    /// A node whose store is whole again, with its tables damaged under way.
    ServiceProcess start_and_damage(const std::string& database) {
        fs::remove_all(workspace_.store);
        fs::copy(folder_ / "whole", workspace_.store, fs::copy_options::recursive);
        auto process = start();
        before_.emplace(client().get("/metrics").value().body);
        std::mt19937 random(11);
        int tables = 0;
        for (const auto& entry : fs::directory_iterator(workspace_.store / database)) {
            if (entry.path().extension() != ".sst") continue;
            std::string bytes(entry.file_size() * 6 / 10, '\0');
            for (char& byte : bytes) byte = static_cast<char>(random());
            std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
            file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
            EXPECT_TRUE(file.good());
            ++tables;
        }
        EXPECT_GT(tables, 0) << database << " has nothing to damage";
        return process;
    }
    /// The answers by partition and what is wrong with them: to old applications, to new ones of
    /// the same persons, and to those of new persons.
    struct Answers {
        std::map<int32_t, std::map<std::string, size_t>> old_ones, new_ones, strangers;
        static size_t refused(const std::map<int32_t, std::map<std::string, size_t>>& answers,
                              int32_t except = -1) {
            size_t sum = 0;
            for (const auto& [partition, by_reason] : answers) {
                for (const auto& [reason, count] : by_reason)
                    sum += partition == except || reason.empty() ? 0 : count;
            }
            return sum;
        }
    };
    Answers ask(const std::string& lot) const {
        Answers answers;
        auto asking = client();
        const auto note = [&](const Application& one, auto& where) {
            const auto answer = asking.post("/v1/decisions", wire::to_json(one));
            const bool decided = answer && answer->status == 200;
            ++where[home(one)][decided ? "" : answer ? answer->body : answer.error().message];
        };
        for (size_t n = 0; n < kPersons; n += 3) {
            note(application(n, "first"), answers.old_ones);
            note(application(n, lot), answers.new_ones);
            auto stranger = application(n, lot + "-stranger");
            stranger.person = domain::PersonId(fmt::format("{}-stranger-{}", lot, n));
            note(stranger, answers.strangers);
        }
        return answers;
    }
    Scrape scrape() const { return Scrape(client().get("/metrics").value().body); }
    std::string status() const { return client().get("/v1/status").value().body; }
    void expect_alive() const {
        EXPECT_EQ(client().get("/healthz").value().status, 200);
        EXPECT_EQ(client().get("/readyz").value().status, 200);
    }
    bool fires(const std::string& alert) const {
        if (!Alerts::can_run()) return true;
        return Alerts(folder_).fires(alert, *before_, scrape());
    }
    std::string last_words() const {
        const auto log = base::read_file(workspace_.log, 64 << 20).value();
        return log.substr(log.size() - std::min<size_t>(log.size(), 1500));
    }
    /// The next start names the database and where to read on.
    void expect_refused_start(const std::string& database) const {
        const auto again = ServiceProcess::start(kProgram, workspace_.config,
                                                 workspace_.endpoint_file, workspace_.log);
        EXPECT_FALSE(again) << database;
        const auto words = last_words();
        EXPECT_NE(words.find((workspace_.store / database).string()), std::string::npos) << words;
        EXPECT_NE(words.find("ops/runbooks/damage.md"), std::string::npos) << words;
    }

    const fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("bytes.{}", ::getpid());
    loan_stream::Stream stream_;
    Workspace workspace_;
    std::optional<Scrape> before_;
};

TEST_F(RandomBytes, InWhatFollowsFromTheLogConcernItsPartitionForAWhile) {
    for (const std::string database : {"partitions/0/decisions", "partitions/1/joins"}) {
        SCOPED_TRACE(database);
        auto process = start_and_damage(database);
        const auto begun = steady_clock::now();
        const fs::path aside = workspace_.store / (database + ".damaged-1");
        size_t refused = 0, elsewhere = 0;
        for (int round = 0; steady_clock::now() - begun < seconds(90); ++round) {
            const auto answers = ask(fmt::format("round{}", round));
            for (const auto* kind : {&answers.old_ones, &answers.new_ones, &answers.strangers}) {
                refused = kind == &answers.old_ones ? 0 : refused;
                refused += Answers::refused(*kind);
                elsewhere += Answers::refused(*kind, 0);
            }
            if (fs::exists(aside) && refused == 0) break;
        }
        fmt::print("{}: whole after {:.1f} s\n", database,
                   std::chrono::duration<double>(steady_clock::now() - begun).count());
        EXPECT_TRUE(fs::exists(aside)) << "nothing has met the damage";
        EXPECT_EQ(refused, 0u) << "it is not whole after 90 s";
        EXPECT_EQ(elsewhere, 0u) << "another partition suffers";
        expect_alive();
        // the metric follows the folder within moments, and is looked at only then
        const auto kind = fs::path(database).filename().string();
        const auto series =
            fmt::format("rampart_databases_set_aside_total{{database=\"{}\"}}", kind);
        while (scrape().values[series] < 1 && steady_clock::now() - begun < seconds(120))
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        EXPECT_TRUE(fires("RampartDatabaseSetAside"));
        EXPECT_FALSE(Alerts::can_run() && fires("RampartDatabaseDamaged"));
        EXPECT_TRUE(process.stop());
        EXPECT_TRUE(start().stop());
    }
}

TEST_F(RandomBytes, InTheKeysOfPersonsConcernThosePersonsAndAreAlarmed) {
    auto process = start_and_damage("privacy/keys");
    const auto answers = ask("more");
    EXPECT_GT(Answers::refused(answers.new_ones), 0u) << "nothing has met the damage";
    EXPECT_LT(Answers::refused(answers.strangers), kPersons / 30) << "persons without a key yet";
    expect_alive();
    EXPECT_NE(status().find("damage_found"), std::string::npos) << status();
    EXPECT_TRUE(fires("RampartDatabaseDamaged"));
    process.kill();
    expect_refused_start("privacy/keys");
}

TEST_F(RandomBytes, InWhatNoDecisionReadsStopNoDecision) {
    for (const std::string database :
         {"log", "privacy/register", "protected", "registry/registry", "trainer"}) {
        SCOPED_TRACE(database);
        auto process = start_and_damage(database);
        const auto answers = ask("more");
        for (const auto* kind : {&answers.old_ones, &answers.new_ones, &answers.strangers})
            EXPECT_EQ(Answers::refused(*kind), 0u);
        expect_alive();
        process.kill();
        expect_refused_start(database);
    }
}

}  // namespace
}  // namespace rampart::demo
