// Stop buttons of a node that serves: by HTTP and by command, over kill -9, and whatever else is
// wrong.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "rampart/wire/application_json.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/settings.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;

const std::string kProgram = test_support::bin_dir() + "/rampart";

class ServedStops : public testing::Test {
  protected:
    ServedStops()
        : folder_(fs::path(testing::TempDir()) / ("stops" + base::to_hex(base::random_bytes(8)))),
          stream_(loan_stream::load({.name = "simulated", .data_dir = {}, .rows = 50}).value()) {
        workspace_ =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream_, 1)
                .value();
    }
    ~ServedStops() override { fs::remove_all(folder_); }

    demo::ServiceProcess start() {
        auto process = demo::ServiceProcess::start(kProgram, workspace_.config,
                                                   workspace_.endpoint_file, workspace_.log);
        EXPECT_TRUE(process) << process.error().message;
        return std::move(*process);
    }
    http::Client client() const {
        auto endpoint = base::read_file(workspace_.endpoint_file, 256).value();
        endpoint.pop_back();
        return http::Client::create(endpoint, {.token = workspace_.token}).value();
    }
    test_support::Ran rampart(const std::string& arguments) const {
        return test_support::run_program(
            fmt::format("{} {} --config {}", kProgram, arguments, workspace_.config.string()));
    }
    /// Sends an application that was not sent before; returns the answer.
    http::Response decide(http::Client& client, int number) const {
        auto one = stream_.applicants.front().application;
        one.id = domain::ApplicationId(fmt::format("new-{}", number));
        one.person = domain::PersonId(one.id.value());
        return client.post("/v1/decisions", wire::to_json(one)).value();
    }
    bool explores(int number) const {
        auto asking = client();
        const auto answer = decide(asking, number);
        EXPECT_EQ(answer.status, 200) << answer.body;
        return answer.body.find(R"("exploration_spent":true)") == std::string::npos;
    }

    fs::path folder_;
    const loan_stream::Stream stream_;
    demo::Workspace workspace_;
};

TEST_F(ServedStops, OutliveKillNineAndEndByCommandWithTheirReasons) {
    auto process = start();
    EXPECT_TRUE(explores(1));
    const auto stopped = rampart("stop exploration --reason 'complaints, branch 7'");
    ASSERT_EQ(stopped.exit_code, 0) << stopped.output;
    EXPECT_FALSE(explores(2));
    ASSERT_EQ(rampart("stop rules-only --reason harm").exit_code, 0);
    process.kill();
    process = start();
    EXPECT_FALSE(explores(3));
    const auto status = rampart("status");
    EXPECT_NE(status.output.find("STOPPED       exploration rules-only"), std::string::npos)
        << status.output;
    EXPECT_NE(client().get("/v1/status")->body.find(R"("stops":["exploration","rules-only"])"),
              std::string::npos);
    ASSERT_EQ(rampart("stop exploration --end --reason 'answered & closed'").exit_code, 0);
    EXPECT_TRUE(explores(4));
    const auto again = rampart("stop exploration --end --reason again");
    EXPECT_EQ(again.exit_code, 0) << again.output;
    EXPECT_NE(again.output.find("exploration is not stopped"), std::string::npos);
    const auto listed = rampart("stop list");
    for (const char* part : {"complaints, branch 7", "answered & closed", "IN FORCE  rules-only"})
        EXPECT_NE(listed.output.find(part), std::string::npos) << part << "\n" << listed.output;
    process.kill();
    process = start();
    EXPECT_TRUE(explores(5));
    const auto now = fmt::format("registry at 2099-01-01 --store {}", workspace_.store.string());
    const auto at = test_support::run_program(kProgram + " " + now);
    EXPECT_NE(at.output.find("STOPPED       rules_only since"), std::string::npos) << at.output;
    const auto asked = client().get("/v1/policies/at?time=2099-01-01");
    EXPECT_EQ(asked->status, 200) << asked->body;
    EXPECT_NE(asked->body.find(R"("kind":"rules_only")"), std::string::npos) << asked->body;
    EXPECT_EQ(client().get("/v1/policies/at")->status, 400);
    EXPECT_EQ(client().get("/v1/policies/at?time=soon")->status, 400);
    EXPECT_EQ(rampart("stop exploration").exit_code, 2) << "a reason is required";
}

TEST_F(ServedStops, ArePressedUnderLoadWithoutAFailedDecision) {
    auto process = start();
    std::atomic<bool> done{false};
    std::atomic<int> next{100}, answered{0}, version{0}, sure{0};  // version: odd while it changes
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
        threads.emplace_back([&] {
            auto asking = client();
            while (!done) {
                const int before = version;
                const auto answer = decide(asking, next++);
                ASSERT_EQ(answer.status, 200) << answer.body;
                ++answered;
                if (before % 2 == 1 || version != before) continue;
                ++sure;
                const bool spent =
                    answer.body.find(R"("exploration_spent":true)") != std::string::npos;
                EXPECT_EQ(spent, before % 4 == 2) << "as the last press or release says";
            }
        });
    }
    auto operating = client();
    for (int turn = 0; turn < 20; ++turn) {
        const int seen = answered;
        while (answered < seen + 20 && !HasFailure())
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ++version;
        const auto told = turn % 2 == 0
                              ? operating.post("/v1/stops/exploration", R"({"reason":"load"})")
                              : operating.remove("/v1/stops/exploration?reason=load");
        ++version;
        ASSERT_EQ(told->status, 200) << told->body;
    }
    done = true;
    for (auto& thread : threads) thread.join();
    EXPECT_GT(sure, 100);
    ASSERT_TRUE(process.stop());
    const auto node = Node::open(load_settings(workspace_.config).value()).value();
    EXPECT_EQ(node->registry().stops().size(), 10u);
    EXPECT_TRUE(node->registry().verify_audit());
}

TEST_F(ServedStops, NeedTheScopeOperateAndNoOther) {
    auto process = start();
    const auto file = (folder_ / "operator").string();
    ASSERT_EQ(rampart("token create operator --scope operate --out " + file).exit_code, 0);
    const auto as_operator = [&](const std::string& arguments) {
        return test_support::run_program(fmt::format("RAMPART_TOKEN_FILE={} {} {} --config {}",
                                                     file, kProgram, arguments,
                                                     workspace_.config.string()));
    };
    auto stopped = as_operator("stop rules-only --reason harm");
    for (int i = 0; i < 600 && stopped.exit_code != 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        stopped = as_operator("stop rules-only --reason harm");
    }
    EXPECT_EQ(stopped.exit_code, 0) << stopped.output;
    EXPECT_NE(stopped.output.find("by operator: harm"), std::string::npos) << stopped.output;
    EXPECT_NE(as_operator("stop list").exit_code, 0) << "reading has a scope of its own";
}

}  // namespace
}  // namespace rampart::rampartd
