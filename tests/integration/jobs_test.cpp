// Requests that are jobs, at a served node: accepted durably, taken up again after `kill -9`, done
// once, and without a trace of an erased person.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "rampart/runtime/job_record.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/storage/backup.hpp"
#include "services/rampartd/api/candidate_routes.hpp"
#include "services/rampartd/api/erasure_jobs.hpp"
#include "services/rampartd/node.hpp"
#include "support/byte_scan.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/thread_names.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using test_support::run_program;

const std::string kProgram = test_support::bin_dir() + "/rampart";
constexpr size_t kPersons = 150;

class RequestJobs : public testing::Test {
  protected:
    void SetUp() override {
        loan_stream::StreamOptions options;
        options.name = "simulated";
        options.rows = kPersons;
        options.seed = 7;
        const auto stream = loan_stream::load(options).value();
        workspace_ =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream, 7)
                .value();
        auto config = base::read_file(workspace_.config, 1 << 20).value();
        config.replace(config.find("every_months = 2"), 16, "every_months = 600");
        // each request is a job that its caller has to ask for
        config += "\n[privacy]\nretention_months = 8\n\n[jobs]\nwait_seconds = 0\n";
        ASSERT_TRUE(base::write_file_atomically(workspace_.config, config));
        const auto start = stream.applicants.front().application.event_time;
        const auto node = Node::open(load_settings(workspace_.config).value());
        ASSERT_TRUE(node) << node.error().message;
        ASSERT_TRUE((*node)->advance(start));
        std::vector<domain::Application> applications;
        for (size_t n = 0; n < kPersons; ++n) {
            auto one = stream.applicants[n].application;
            one.person = person(n);
            one.id = domain::ApplicationId(fmt::format("Tg5wBn3KqXe8-{}", n));
            one.event_time = start;
            applications.push_back(std::move(one));
        }
        decisions_ = (*node)->decisions().decide(applications).value();
        ASSERT_TRUE((*node)->advance(base::add_months(start, 9)));
        now_ = base::add_months(start, 9);
    }
    void TearDown() override { fs::remove_all(folder_); }

    /// An id of random letters and digits, which compression leaves as they are.
    static domain::PersonId person(size_t n) {
        constexpr std::string_view kLetters =
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        std::string id;
        for (const unsigned char byte : base::sha256(fmt::format("person {}", n)).bytes)
            id += kLetters[byte % kLetters.size()];
        return domain::PersonId(id);
    }
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
        return http::Client::create(text, options).value();
    }
    static std::string body(size_t n) {
        return fmt::format(R"({{"person_id":"{}","reason":"request","dry_run":false}})", person(n));
    }
    /// Asks for an erasure, and returns the id of its job.
    static std::string ask_erasure(http::Client& asking, size_t n) {
        const auto accepted = asking.post("/v1/erasures", body(n)).value();
        EXPECT_EQ(accepted.status, 202) << accepted.body;
        return std::string(accepted.header("Location")).substr(9);
    }
    static json::value job(http::Client& asking, const std::string& id) {
        const auto answer = asking.get("/v1/jobs/" + id).value();
        EXPECT_EQ(answer.status, 200) << answer.body;
        auto document = json::parse(answer.body).at("job");
        EXPECT_EQ(answer.body.find("person_id"), std::string::npos) << answer.body;
        return document;
    }
    /// The job, when it has ended.
    static json::value ended(http::Client& asking, const std::string& id) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
        while (true) {
            auto one = job(asking, id);
            const bool over = !one.at("ended_at").is_null();
            EXPECT_LT(std::chrono::steady_clock::now(), deadline) << json::serialize(one);
            if (over || testing::Test::HasFailure()) return one;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }
    /// Checks that the result is that of an erasure which nothing has interrupted.
    void expect_whole(const json::value& one, size_t n) const {
        ASSERT_EQ(one.at("state").as_string(), "done") << json::serialize(one);
        const auto& result = one.at("result").as_object();
        EXPECT_TRUE(result.at("erased").as_bool());
        ASSERT_EQ(result.at("decisions").as_array().size(), 1u) << json::serialize(one);
        EXPECT_EQ(result.at("decisions").at(0).at("decision_id").as_string(),
                  decisions_[n].id.value());
        EXPECT_EQ(result.at("decisions").at(0).at("decided_at").as_string(),
                  base::to_iso8601(decisions_[n].decided_at));
        EXPECT_EQ(result.at("keys_destroyed").as_int64(), 1) << json::serialize(one);
        EXPECT_EQ(result.at("in_clear").as_int64(), 0);
    }
    /// The files below a folder that have a trace of one of the persons.
    static std::string readable_in(const fs::path& folder, size_t from, size_t to) {
        std::string found;
        for (size_t n = from; n < to; ++n)
            for (const auto& file : test_support::files_with(folder, person(n).value()))
                found += fmt::format("person {} in {}\n", n, file);
        return found;
    }
    test_support::Ran run(const std::string& command) const {
        return run_program(
            fmt::format("{} {} --config {}", kProgram, command, workspace_.config.string()));
    }

    test_support::Ran back_up() const {
        return run_program(fmt::format("{} backup create --store {} --to {} --with-keys", kProgram,
                                       workspace_.store.string(), backups_.string()));
    }
    /// Puts the store of the latest backup into the place of the store, which no process may serve.
    test_support::Ran restore() const {
        fs::rename(workspace_.store, folder_ / "before");
        return run_program(fmt::format("{} backup restore --from {} --store {}", kProgram,
                                       backups_.string(), workspace_.store.string()));
    }
    /// Leaves a job in the store, as a service does that ends before the job does.
    std::string leave(char digit, std::string kind, runtime::JobPhase phase,
                      std::string work) const {
        runtime::JobRecord job;
        job.id = std::string(32, digit);
        job.kind = std::move(kind);
        job.serial = 100 + static_cast<uint64_t>(digit);
        job.phase = phase;
        job.begun = phase == runtime::JobPhase::kRunning ? 1 : 0;
        job.total = 3;
        job.asked_at = now_;
        job.request = std::move(work);
        EXPECT_TRUE(base::write_file_atomically(
            workspace_.store / "jobs" / runtime::job_file(job.id), runtime::encode_job(job), 0600));
        return job.id;
    }

    const fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("jobs.{}", ::getpid());
    const fs::path backups_ = folder_ / "backups";
    demo::Workspace workspace_;
    std::vector<domain::Decision> decisions_;
    base::TimePoint now_;
};

TEST_F(RequestJobs, ErasuresGoOnAfterKillUnderTheirIdsToTheSameResult) {
    auto process = serve();
    std::map<size_t, std::string> ids;  // by person
    size_t person = 0;
    // until one was killed after it had begun to erase, and one before
    bool in_the_middle = false, waiting = false;
    for (int round = 0; round < 12 && !(in_the_middle && waiting); ++round) {
        auto asking = client();
        const size_t first = person;
        for (; person < first + 3; ++person) ids[person] = ask_erasure(asking, person);
        // in different rounds at different steps
        const int64_t step = round % 3;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (std::chrono::steady_clock::now() < deadline) {
            const auto one = job(asking, ids[first]);
            if (one.at("done").as_int64() >= step && one.at("state").as_string() != "waiting")
                break;
        }
        process.kill();
        const auto left = runtime::read_jobs(workspace_.store / "jobs").value();
        EXPECT_TRUE(left.unreadable.empty());
        for (const auto& one : left.records) {
            in_the_middle |= one.phase == runtime::JobPhase::kRunning && !one.kept.empty();
            waiting |= one.phase == runtime::JobPhase::kWaiting;
        }
        process = serve();
        auto again = client();
        for (size_t n = first; n < person; ++n) expect_whole(ended(again, ids[n]), n);
    }
    EXPECT_TRUE(in_the_middle) << "no erasure was killed in its middle";
    EXPECT_TRUE(waiting);
    auto asking = client();
    for (const auto& [n, id] : ids)
        EXPECT_EQ(asking.get("/v1/decisions/" + decisions_[n].id.value()).value().status, 409);
    EXPECT_EQ(asking.get("/v1/decisions/" + decisions_[person].id.value()).value().status, 200);
    ASSERT_TRUE(process.stop());
    EXPECT_EQ(readable_in(workspace_.store / "jobs", 0, person), "");
    EXPECT_EQ(readable_in(workspace_.store, 0, std::min<size_t>(person, 4)), "");
    const auto check = run("store check");
    EXPECT_EQ(check.exit_code, 0) << check.output;
}

TEST_F(RequestJobs, WhatIsLeftOfARequestIsFoundByTheCheck) {
    auto process = serve();
    auto asking = client();
    const auto id = ask_erasure(asking, 0);
    expect_whole(ended(asking, id), 0);
    ASSERT_TRUE(process.stop());
    ASSERT_EQ(run("store check").exit_code, 0);
    const auto file = workspace_.store / "jobs" / runtime::job_file(id);
    const auto whole = base::read_file(file, 1 << 20).value();
    auto record = runtime::decode_job(id, whole).value();
    record.request = body(0);
    ASSERT_TRUE(base::write_file_atomically(file, runtime::encode_job(record)));
    auto check = run("store check");
    EXPECT_EQ(check.exit_code, 1) << check.output;
    EXPECT_NE(check.output.find("job " + id), std::string::npos) << check.output;
    EXPECT_EQ(check.output.find(person(0).value()), std::string::npos) << check.output;
    ASSERT_TRUE(base::write_file_atomically(file, whole.substr(0, whole.size() - 1)));
    check = run("store check");
    EXPECT_EQ(check.exit_code, 1) << check.output;
    EXPECT_NE(check.output.find(id), std::string::npos) << check.output;

    // a node with such a file decides, degraded, and names it
    process = serve();
    auto again = client();
    const auto ready = again.get("/readyz").value();
    EXPECT_EQ(ready.status, 200);
    EXPECT_NE(ready.body.find(id), std::string::npos) << ready.body;
    EXPECT_EQ(job(again, id).at("error").at("reason").as_string(), "bad_job_record");
    expect_whole(ended(again, ask_erasure(again, 1)), 1);
    ASSERT_TRUE(process.stop());
}

TEST_F(RequestJobs, TheCommandFollowsItsJobAndEndsAsBefore) {
    auto process = serve();
    const auto erased = run("erase --reason r --person " + person(0).value());
    EXPECT_EQ(erased.exit_code, 0) << erased.output;
    EXPECT_NE(erased.output.find("erased:\n"), std::string::npos) << erased.output;
    EXPECT_NE(erased.output.find(" (erasure): done, 3 of 3\n"), std::string::npos) << erased.output;
    const auto quiet = run_program(
        fmt::format("({} erase --json --reason r --application Tg5wBn3KqXe8-1 --config {} "
                    "2>/dev/null)",
                    kProgram, workspace_.config.string()));
    EXPECT_EQ(quiet.exit_code, 0);
    EXPECT_TRUE(json::parse(quiet.output).at("erased").as_bool()) << "progress is on stderr";
    const auto unknown = run("erase --reason r --person " + person(0).value());
    EXPECT_EQ(unknown.exit_code, 1) << unknown.output;
    EXPECT_NE(unknown.output.find("unknown: nothing is held here"), std::string::npos);
    EXPECT_EQ(run("erase --reason r --application none").exit_code, 2);
    ASSERT_EQ(run("hold add --matter m --reason r --person " + person(2).value()).exit_code, 0);
    const auto held = run("erase --reason r --person " + person(2).value());
    EXPECT_EQ(held.exit_code, 1) << held.output;
    EXPECT_NE(held.output.find("refused: "), std::string::npos) << held.output;

    // while the node is started anew
    auto asking = client();
    std::vector<std::string> ids;
    for (size_t n = 10; n < 20; ++n) ids.push_back(ask_erasure(asking, n));
    // once the command knows its job: before that a kill leaves it without an answer
    const auto progress = folder_ / "progress";
    auto following = std::async(std::launch::async, [&] {
        return run_program(fmt::format("({} erase --reason r --person {} --config {} 2> {})",
                                       kProgram, person(20), workspace_.config.string(),
                                       progress.string()));
    });
    const auto there = [&] {
        const auto text = base::read_file(progress, 1 << 20);
        return text && text->find(" (erasure): ") != std::string::npos;
    };
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!there() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(there());
    process.kill();
    process = serve();
    const auto followed = following.get();
    EXPECT_EQ(followed.exit_code, 0) << followed.output;
    EXPECT_NE(followed.output.find(decisions_[20].id.value()), std::string::npos)
        << followed.output;
    ASSERT_TRUE(process.stop());
    EXPECT_EQ(readable_in(workspace_.store / "jobs", 0, 21), "");
    EXPECT_TRUE(test_support::files_with(workspace_.store / "jobs", "Tg5wBn3KqXe8").empty());
}

TEST_F(RequestJobs, AStoreRestoredFromABackupTakesThemUpAsAfterACrash) {
    auto process = serve();
    auto asking = client();
    const auto ended_before = ask_erasure(asking, 0);
    const auto result = ended(asking, ended_before);
    expect_whole(result, 0);
    ASSERT_TRUE(process.stop());
    const auto erasure = [](size_t n) {
        return to_text(AskedErasure{person(n).value(), {}, "demo", "request"});
    };
    http::Request candidate;
    candidate.principal = "demo";
    candidate.query = {{"submit", "true"}};
    candidate.body = "a model";
    using Phase = runtime::JobPhase;
    const auto running = leave('1', "erasure", Phase::kRunning, erasure(1)),
               waiting = leave('2', "erasure", Phase::kWaiting, erasure(2)),
               submitted = leave('3', "candidate", Phase::kWaiting, job_text(candidate));
    const auto damaged = "jobs/" + runtime::job_file(std::string(32, '4'));
    ASSERT_TRUE(base::write_file_atomically(workspace_.store / damaged, "cut off", 0600));

    const auto created = back_up();
    EXPECT_EQ(created.exit_code, 0) << created.output;
    EXPECT_NE(created.output.find("1 files of jobs cannot be read and are not in it: " + damaged),
              std::string::npos)
        << created.output;
    const auto taken =
        storage::BackupFolder::open(backups_, storage::BackupFolder::Mode::kRead).value();
    const auto items = taken->info(1)->items;
    const auto is_job = [](const auto& item) { return item.path.starts_with("jobs/"); };
    EXPECT_EQ(std::count_if(items.begin(), items.end(), is_job), 4);
    EXPECT_TRUE(std::all_of(items.begin(), items.begin() + 4, is_job))
        << "what has ended has to be in the databases: these come after the jobs";
    const auto restored = restore();
    EXPECT_EQ(restored.exit_code, 0) << restored.output;
    EXPECT_NE(restored.output.find("3 requests that had not ended"), std::string::npos)
        << restored.output;
    const auto check = run("store check");
    EXPECT_EQ(check.exit_code, 0) << check.output;

    process = serve();
    auto again = client();
    EXPECT_EQ(job(again, ended_before), result) << "what has ended stays as it was";
    const auto first = ended(again, running), second = ended(again, waiting);
    expect_whole(first, 1);
    expect_whole(second, 2);
    EXPECT_EQ(second.at("times_begun").as_int64(), 2);
    const auto not_again = ended(again, submitted);
    EXPECT_EQ(not_again.at("state").as_string(), "failed");
    EXPECT_EQ(not_again.at("error").at("reason").as_string(), "job_interrupted")
        << "a submission costs error budget: no backup repeats it";
    for (size_t n = 0; n < 4; ++n) {
        const auto shown = again.get("/v1/decisions/" + decisions_[n].id.value()).value();
        EXPECT_EQ(shown.status, n < 3 ? 409 : 200) << n;
    }
    ASSERT_TRUE(process.stop());
    EXPECT_EQ(readable_in(workspace_.store, 0, 3), "");
    EXPECT_EQ(run("store check").exit_code, 0);
}

TEST_F(RequestJobs, ABackupOfANodeAtWorkLosesNoErasureThatWasAccepted) {
    constexpr size_t kErased = 24;
    auto process = serve();
    auto asking = client();
    std::vector<std::string> ids;
    for (size_t n = 0; n < kErased; ++n) ids.push_back(ask_erasure(asking, n));
    const auto created = back_up();
    EXPECT_EQ(created.exit_code, 0) << created.output;
    ASSERT_TRUE(process.stop());
    ASSERT_EQ(restore().exit_code, 0);
    process = serve();
    auto again = client();
    for (size_t n = 0; n < kErased; ++n) {
        // one that was carried out while the databases were taken finds nothing any more
        const auto one = ended(again, ids[n]);
        EXPECT_TRUE(one.at("state").as_string() == "done" ||
                    one.at("error").at("reason").as_string() == "unknown_person")
            << json::serialize(one);
        const auto shown = again.get("/v1/decisions/" + decisions_[n].id.value()).value();
        EXPECT_EQ(shown.status, 409) << n << ": " << json::serialize(one);
    }
    ASSERT_TRUE(process.stop());
    EXPECT_EQ(readable_in(workspace_.store / "jobs", 0, kErased), "");
    const auto check = run("store check");
    EXPECT_EQ(check.exit_code, 0) << check.output;
}

TEST_F(RequestJobs, TheThreadsOfANodeHaveNames) {
    auto process = serve();
    const auto pid = std::to_string(process.pid());
    for (const char* kind : {"job-erasures", "job-overrides", "job-candidates", "job-upkeep"})
        test_support::expect_threads(kind, 1, pid);
    test_support::expect_threads("http-io", 2, pid);
    test_support::expect_threads("train", 1, pid);  // and the one that trains
    test_support::expect_threads("disk-watch", 1, pid);
    ASSERT_TRUE(process.stop());
}

TEST_F(RequestJobs, ManyOverridesAreAJobAndFewAreNot) {
    auto process = serve();
    auto asking = client();
    const auto overrides = [&](size_t count) {
        std::string all;
        for (size_t n = 0; n < count; ++n)
            all += fmt::format(
                R"({}{{"decision_id":"{}","revision":0,"action_taken":"approve","actor":"anna",)"
                R"("reason":"known","at":"{}"}})",
                n == 0 ? "" : ",", decisions_[n].id, base::to_iso8601(decisions_[n].decided_at));
        return fmt::format(R"({{"overrides":[{}]}})", all);
    };
    const auto few = asking.post("/v1/overrides", overrides(100)).value();
    EXPECT_EQ(few.status, 200) << few.body;
    const auto many = asking.post("/v1/overrides", overrides(kPersons)).value();
    EXPECT_EQ(many.status, 202) << many.body;
    const auto one = ended(asking, std::string(many.header("Location")).substr(9));
    EXPECT_EQ(one.at("kind").as_string(), "override");
    EXPECT_EQ(one.at("done").as_int64(), static_cast<int64_t>(kPersons));
    EXPECT_EQ(one.at("result").at("accepted").as_int64(), static_cast<int64_t>(kPersons))
        << json::serialize(one);
    const auto metrics = asking.get("/metrics").value().body;
    EXPECT_NE(metrics.find("rampart_request_jobs_done_total{kind=\"override\"} 1\n"),
              std::string::npos);
    const auto status = json::parse(asking.get("/v1/status").value().body).at("requests");
    EXPECT_EQ(status.as_array().size(), 3u) << json::serialize(status);
    ASSERT_TRUE(process.stop());
}

}  // namespace
}  // namespace rampart::rampartd
