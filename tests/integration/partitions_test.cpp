// An operator handles partitions and quarantine of a served store with the command line.
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>

#include "rampart/base/file.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "rampart/wire/event_codec.hpp"
#include "services/rampartd/settings.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/driver.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::demo {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using test_support::Ran;
using test_support::run_program;

const fs::path kProgram = test_support::bin_dir() + "/rampart";
const fs::path kConfig = test_support::source_dir() + "/ops/config";

class PartitionCommands : public testing::Test {
  protected:
    PartitionCommands() {
        loan_stream::StreamOptions options;
        options.name = "simulated";
        options.rows = 400;
        options.seed = 3;
        stream_ = loan_stream::load(options).value();
        workspace_ = workspace("one");
    }
    ~PartitionCommands() override {
        fs::remove_all(workspace_.folder);
        fs::remove_all(fs::path(testing::TempDir()) / fmt::format("two.{}", ::getpid()));
    }

    Workspace workspace(const std::string& name) const {
        const auto folder = fs::path(testing::TempDir()) / fmt::format("{}.{}", name, ::getpid());
        auto made = prepare_workspace(folder, kConfig, stream_, 3).value();
        const auto config = base::read_file(made.config, 1 << 20).value();
        // so that state hashes are shown
        EXPECT_TRUE(
            base::write_file_atomically(made.config, config + "\n[audit]\nenabled = true\n"));
        return made;
    }
    ServiceProcess serve(const Workspace& workspace) const {
        auto process = ServiceProcess::start(kProgram, workspace.config, workspace.endpoint_file,
                                             workspace.log);
        EXPECT_TRUE(process) << process.error().message;
        return std::move(*process);
    }
    /// Decides and joins the whole stream.
    void fill() const {
        auto process = serve(workspace_);
        Driver driver(
            stream_, "repaid",
            Session(workspace_.endpoint_file, workspace_.token, base::Duration::seconds(60)));
        const auto status = driver.run([](base::TimePoint, double) {});
        ASSERT_TRUE(status) << status.error().message;
        ASSERT_TRUE(process.stop());
    }
    /// Moves event time years after the end of the stream; returns the status of the answer.
    std::string advance_to_the_end() const {
        return run_program(
                   fmt::format("curl -s -o /dev/null -w '%{{http_code}}' -H 'Authorization: "
                               "Bearer {}' -d '{{\"now\":\"{}\"}}' http://$(cat {})/v1/clock",
                               workspace_.token, base::to_iso8601(end()),
                               workspace_.endpoint_file.string()))
            .output;
    }
    base::TimePoint end() const {
        return base::add_months(stream_.applicants.back().application.event_time, 60);
    }
    static Ran run(const std::string& command, const Workspace& workspace) {
        return run_program(fmt::format("{} {} --config {}", kProgram.string(), command,
                                       workspace.config.string()));
    }
    static json::value answer(const std::string& command, const Workspace& workspace) {
        const auto ran = run(command + " --json", workspace);
        EXPECT_LE(ran.exit_code, 1) << ran.output;
        return json::parse(ran.output);
    }
    static std::map<std::string, std::string> hashes(const Workspace& workspace) {
        std::map<std::string, std::string> found;
        const auto document = answer("partition list", workspace);
        for (const auto& one : document.at("partitions").as_array()) {
            found[json::serialize(one.at("partition"))] = json::serialize(one.at("state_hash"));
        }
        return found;
    }

    loan_stream::Stream stream_;
    Workspace workspace_;
};

TEST_F(PartitionCommands, RejectedRecordsAreListedReplayedDroppedAndAudited) {
    {
        const auto process = serve(workspace_);  // creates the store
    }
    {
        const auto log = streaming_local::LocalLog::open(workspace_.store / "log").value();
        const streaming::Record poison{"k", "\xff\xff", base::TimePoint(), {}};
        ASSERT_TRUE(log->append("outcomes", std::span(&poison, 1)));
    }
    auto process = serve(workspace_);
    ASSERT_EQ(advance_to_the_end(), "200");
    const auto document = answer("quarantine list", workspace_);
    const auto& listed = document.at("quarantined").as_array();
    ASSERT_EQ(listed.size(), 1u);
    EXPECT_EQ(listed[0].at("reason").as_string(), "not_a_message");
    const auto state = answer("partition list", workspace_).at("partitions").at(0);
    const auto& counts = state.at("counts");
    EXPECT_EQ(counts.at("undecodable").to_number<int>(), 1);
    EXPECT_EQ(counts.at("decisions").to_number<int>(), 0);
    const auto where =
        fmt::format("{} --topic outcomes --partition {} --reason 'trying'",
                    listed[0].at("offset").as_int64(), json::serialize(listed[0].at("partition")));
    const auto again = run("quarantine replay " + where, workspace_);
    EXPECT_EQ(again.exit_code, 1) << again.output;
    EXPECT_NE(again.output.find("it stays"), std::string::npos);
    EXPECT_EQ(run("quarantine drop " + where, workspace_).exit_code, 0);
    EXPECT_EQ(run("quarantine drop " + where, workspace_).exit_code, 2);
    EXPECT_TRUE(answer("quarantine list", workspace_).at("quarantined").as_array().empty());
    ASSERT_TRUE(process.stop());
    EXPECT_EQ(run("quarantine list", workspace_).exit_code, 4);  // no node serves

    const auto registry = registry::ModelRegistry::open(workspace_.store / "registry").value();
    std::vector<std::string> actions;
    const auto entries = registry->audit_entries().value();
    for (const auto& entry : entries) actions.push_back(entry.action);
    EXPECT_NE(std::find(actions.begin(), actions.end(), "quarantine_replay"), actions.end());
    EXPECT_NE(std::find(actions.begin(), actions.end(), "quarantine_drop"), actions.end());
}

TEST_F(PartitionCommands, ARecreatedTopicStopsTheNodeUntilAnOperatorAcceptsIt) {
    fill();
    {
        const auto log = streaming_local::LocalLog::open(workspace_.store / "log").value();
        streaming_local::TopicOptions options;
        for (const auto& topic : log->topics())
            if (topic.name == "outcomes") options = topic.options;
        ASSERT_TRUE(log->delete_topic("outcomes"));
        ASSERT_TRUE(log->create_topic("outcomes", options));
    }
    auto process = serve(workspace_);
    EXPECT_NE(advance_to_the_end(), "200");
    const auto listed = run("partition list", workspace_);
    EXPECT_EQ(listed.exit_code, 1) << listed.output;
    EXPECT_NE(listed.output.find("topic_recreated"), std::string::npos) << listed.output;
    const auto ready = run_program(
        fmt::format("curl -s http://$(cat {})/readyz", workspace_.endpoint_file.string()));
    EXPECT_TRUE(ready.output.starts_with(R"({"ok":true,"degraded":true,)")) << ready.output;
    EXPECT_NE(ready.output.find("is stopped"), std::string::npos) << ready.output;

    const std::string resume = "partition resume all --topic outcomes --reason 'restored empty'";
    EXPECT_EQ(run(resume, workspace_).exit_code, 2);  // without accepting the gap
    const auto accepted = run(resume + " --accept-gap", workspace_);
    EXPECT_EQ(accepted.exit_code, 0) << accepted.output;
    // the topic is the one that is read now, and its partitions are behind their bookmarks
    advance_to_the_end();
    const auto behind = answer("partition list", workspace_);
    for (const auto& one : behind.at("stopped").as_array()) {
        EXPECT_EQ(one.at("reason").as_string(), "offset_ahead");
        const auto each = run(fmt::format("partition resume {} --topic outcomes --reason again "
                                          "--accept-gap",
                                          json::serialize(one.at("partition"))),
                              workspace_);
        EXPECT_EQ(each.exit_code, 0) << each.output;
    }
    EXPECT_EQ(advance_to_the_end(), "200");
    EXPECT_EQ(run("partition list", workspace_).exit_code, 0);
    ASSERT_TRUE(process.stop());
}

TEST_F(PartitionCommands, APartitionMovesToAnotherStoreWithItsState) {
    fill();
    auto before = serve(workspace_);
    const auto hashes_before = hashes(workspace_);
    ASSERT_EQ(hashes_before.size(), 4u);
    const auto two = workspace("two");
    const auto in_use =
        run(fmt::format("partition move 1 --to {}", two.config.string()), workspace_);
    EXPECT_EQ(in_use.exit_code, 2);
    EXPECT_NE(in_use.output.find("stop the process"), std::string::npos) << in_use.output;
    ASSERT_TRUE(before.stop());
    const auto home = workspace_.store / "partitions" / "1";
    for (const auto& left : {home.string() + ".outgoing/joins",
                             (two.store / "partitions" / "1.incoming" / "joins").string()}) {
        fs::create_directories(left);  // as by a move that was killed
        ASSERT_TRUE(base::write_file_atomically(fs::path(left) / "CURRENT", "half"));
    }

    const auto moved =
        run(fmt::format("partition move 1 --to {}", two.config.string()), workspace_);
    ASSERT_EQ(moved.exit_code, 0) << moved.output;
    EXPECT_FALSE(fs::exists(home));
    EXPECT_FALSE(fs::exists(home.string() + ".outgoing"));
    EXPECT_EQ(
        run(fmt::format("partition move 1 --to {}", two.config.string()), workspace_).exit_code,
        2);  // it is not there any more

    // The moved state is unchanged, and the store that lost it makes it again from the log.
    auto process = serve(workspace_);
    ASSERT_EQ(advance_to_the_end(), "200");
    const auto rebuilt = hashes(workspace_);
    ASSERT_TRUE(process.stop());
    const auto settings = rampartd::load_settings(two.config).value();
    const auto log = streaming_local::LocalLog::open(workspace_.store / "log").value();
    joiner::JoinerOptions options;
    options.product = settings.product;
    options.partitions = 4;
    options.held = {streaming::PartitionId(1)};
    const auto joiner =
        joiner::OutcomeJoiner::open(two.store / "partitions", std::move(options), *log).value();
    ASSERT_TRUE(joiner->advance(end()));
    const auto states = joiner->partition_states().value();
    EXPECT_EQ("\"" + states.at(0).hash.hex() + "\"", rebuilt.at("1"));
    EXPECT_TRUE(joiner->check()->empty());
}

}  // namespace
}  // namespace rampart::demo
