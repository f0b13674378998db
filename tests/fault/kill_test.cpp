// The guarantees of the whole service: kill -9 at any moment loses no acknowledged decision and
// counts none twice.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include "rampart/base/random.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "rampart/wire/event_codec.hpp"
#include "services/rampartd/log_ends.hpp"
#include "services/rampartd/node.hpp"
#include "support/places.hpp"
#include "tools/demo/driver.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::demo {
namespace {

constexpr int kKills = 20;
const std::filesystem::path kProgram = test_support::bin_dir() + "/rampart";
const std::filesystem::path kConfig = test_support::source_dir() + "/ops/config";

loan_stream::Stream small_stream() {
    loan_stream::StreamOptions options;
    options.name = "simulated";
    options.rows = 4000;
    options.seed = 11;
    return loan_stream::load(options).value();
}

Workspace workspace_in(const std::string& name, const loan_stream::Stream& stream) {
    const auto folder =
        std::filesystem::path(testing::TempDir()) / fmt::format("{}.{}", name, ::getpid());
    return prepare_workspace(folder, kConfig, stream, 11).value();
}

Session session_of(const Workspace& workspace) {
    return Session(workspace.endpoint_file, workspace.token, base::Duration::seconds(60));
}

ServiceProcess start(const Workspace& workspace) {
    auto process =
        ServiceProcess::start(kProgram, workspace.config, workspace.endpoint_file, workspace.log);
    EXPECT_TRUE(process) << process.error().message;
    return std::move(*process);
}

/// Returns the audit log without the digests of certificates and of entries of the ledger, which
/// have the ends of a log of sealed records: no two runs seal one alike.
std::vector<std::string> audit_of(const registry::ModelRegistry& registry) {
    std::vector<std::string> out;
    auto entries = registry.audit_entries().value();
    for (auto& entry : entries) {
        entry.details.erase("certificate");
        std::erase_if(entry.details, [&](const auto& detail) {  // entry, entry_1, …
            return entry.action == "ledger" && detail.first.starts_with("entry");
        });
        entry.previous = entry.hash = {};
        out.push_back(registry::encode(entry));
    }
    return out;
}

/// Checks that the log has the records that the ledger's charges speak of.
void expect_committed(const Workspace& workspace) {
    const auto store = rampartd::load_settings(workspace.config).value().store;
    const auto registry =
        registry::ModelRegistry::open(store / "registry", registry::ModelRegistry::Mode::kReadOnly)
            .value();
    const auto ledger =
        certification::DeltaLedger::open(registry->ledger_entries().value()).value();
    const auto ends = rampartd::committed_ends(ledger).value();
    EXPECT_FALSE(ends.empty()) << "no run was charged";
    const auto log = streaming_local::LocalLog::open_read_only(store / "log").value();
    const auto checked = rampartd::check_log(*log, "decisions", ends);
    EXPECT_TRUE(checked) << checked.error().message;
}

/// The contents of the store at the end.
struct FinalState {
    std::string hash;
    std::vector<std::string> audit;
    std::map<std::string, std::string> decisions;  // by id, as logged
    size_t logged = 0;  // records in the topic: equal to the decisions if none is there twice
    joiner::Counts counts;
};

FinalState final_state(const Workspace& workspace) {
    const auto node =
        rampartd::Node::open(rampartd::load_settings(workspace.config).value()).value();
    FinalState state;
    state.hash = node->state_hash().value().hex();
    state.audit = audit_of(node->registry());
    state.counts = node->joiner().counts();
    for (int32_t p = 0; p < node->log().partitions("decisions").value(); ++p) {
        const auto records =
            node->log()
                .read("decisions", streaming::PartitionId(p), streaming::Offset(0), 1'000'000)
                .value();
        state.logged += records.size();
        for (const auto& stored : records) state.decisions[stored.record.key] = stored.record.value;
    }
    return state;
}

/// Sends the stream while a second thread kills and restarts the service.
std::vector<domain::Decision> drive_with_kills(const loan_stream::Stream& stream,
                                               const Workspace& workspace, int& kills) {
    Driver driver(stream, "repaid", session_of(workspace));
    std::atomic<bool> done = false;
    std::thread killer([&] {
        base::Random random(29);
        auto process = start(workspace);
        while (!done) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5 + random.below(90)));
            if (kills == kKills || done) continue;
            process.kill();
            ++kills;
            process = start(workspace);
        }
        EXPECT_TRUE(process.stop());
    });
    const auto status = driver.run([](base::TimePoint, double) {});
    EXPECT_TRUE(status) << status.error().message;
    done = true;
    killer.join();
    return driver.decisions();
}

TEST(KillNine, TwentyTimesAtRandomMomentsLeavesTheStateOfAnUndisturbedRun) {
    const auto stream = small_stream();
    const auto calm = workspace_in("calm", stream);
    Driver driver(stream, "repaid", session_of(calm));
    {
        auto process = start(calm);
        const auto status = driver.run([](base::TimePoint, double) {});
        ASSERT_TRUE(status) << status.error().message;
        ASSERT_TRUE(process.stop());
    }
    const auto wild = workspace_in("wild", stream);
    int kills = 0;
    const auto acknowledged = drive_with_kills(stream, wild, kills);
    ASSERT_EQ(kills, kKills) << "the run was over too soon for the kills to mean anything";

    const auto expected = final_state(calm), state = final_state(wild);
    ASSERT_EQ(acknowledged.size(), stream.applicants.size());
    EXPECT_EQ(state.logged, state.decisions.size()) << "a decision stands in the log twice";
    EXPECT_EQ(state.logged, stream.applicants.size());
    for (const auto& decision : acknowledged) {
        const auto it = state.decisions.find(decision.id.value());
        ASSERT_NE(it, state.decisions.end())
            << "an acknowledged decision is lost: " << decision.id.value();
        EXPECT_EQ(it->second, wire::encode(decision));
    }
    EXPECT_EQ(state.counts.matured, expected.counts.matured);
    EXPECT_EQ(state.counts.outcomes, expected.counts.outcomes);
    EXPECT_EQ(state.hash, expected.hash);
    EXPECT_EQ(state.audit, expected.audit);
    expect_committed(wild);
    std::filesystem::remove_all(calm.folder);
    std::filesystem::remove_all(wild.folder);
}

}  // namespace
}  // namespace rampart::demo
