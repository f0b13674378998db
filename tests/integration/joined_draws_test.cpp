// The draws of decisions in a store's log, checked against its keys when the decisions are joined.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "rampart/streaming_local/local_log.hpp"
#include "rampart/wire/record_codec.hpp"
#include "services/rampartd/key_change.hpp"
#include "services/rampartd/key_inventory.hpp"
#include "services/rampartd/node.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using streaming_local::LocalLog;

class JoinedDraws : public testing::Test {
  protected:
    void SetUp() override {
        stream_ = loan_stream::load({.name = "simulated", .data_dir = {}, .rows = 100}).value();
        folder_ = fs::path(testing::TempDir()) / fmt::format("joined_draws.{}", ::getpid());
        fs::remove_all(folder_);
        workspace_ =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream_, 3)
                .value();
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::unique_ptr<Node> open() {
        auto node = Node::open(load_settings(workspace_.config).value());
        EXPECT_TRUE(node) << node.error().message;
        return std::move(*node);
    }
    std::vector<domain::Decision> decide(Node& node, size_t from, size_t to) {
        std::vector<domain::Decision> all;
        for (size_t i = from; i < to; ++i) {
            const auto& application = stream_.applicants[i].application;
            const auto decided = node.decisions().decide(std::span(&application, 1));
            EXPECT_TRUE(decided) << decided.error().message;
            all.push_back(decided->front());
        }
        read(node);
        return all;
    }
    void read(Node& node) const {
        const auto status = node.advance(stream_.applicants.back().application.event_time);
        ASSERT_TRUE(status) << status.error().message;
    }
    /// Puts a new key in the place of the one that draws; returns the id of the one before.
    std::string rotate() {
        const auto registry = registry::ModelRegistry::open(workspace_.store / "registry").value();
        const auto change =
            change_key(workspace_.store, *registry, "draw", {"anna", "yearly", base::TimePoint()});
        EXPECT_TRUE(change) << change.error().message;
        return change ? change->from : "";
    }
    /// Appends a decision like `one` about another application, drawn otherwise.
    void forge(domain::Decision one, const std::string& id) {
        one.application.id = domain::ApplicationId(id);
        one.id = domain::decision_id_of(one.application.id);
        one.draw = std::nextafter(one.draw, 0.5);
        const auto record = wire::to_record(one, 0);
        const auto log = LocalLog::open(workspace_.store / "log").value();
        ASSERT_TRUE(log->append("decisions", std::span(&record, 1)));
    }

    loan_stream::Stream stream_;
    fs::path folder_;
    demo::Workspace workspace_;
};

TEST_F(JoinedDraws, OfTheKeyInUseAndOfRetiredOnesAreTakenAndOthersLieInQuarantine) {
    auto node = open();
    const auto before = decide(*node, 0, 30);
    node.reset();
    const auto retired = rotate();
    node = open();
    const auto after = decide(*node, 30, 60);
    ASSERT_NE(after.front().draw_key_id, before.front().draw_key_id);
    EXPECT_EQ(before.front().draw_key_id, retired);
    node.reset();
    forge(before.front(), "forged-1");
    forge(after.front(), "forged-2");
    fs::remove_all(workspace_.store / "partitions");  // is made anew, from the first decision on
    node = open();
    read(*node);
    EXPECT_EQ(node->joiner().counts().decisions, 60u);
    EXPECT_EQ(node->joiner().counts().foreign_draws, 2u);
    const auto listed = node->joiner().list_quarantined(9).value();
    ASSERT_EQ(listed.size(), 2u);
    for (const auto& one : listed) EXPECT_EQ(one.reason, "foreign_draw");
    for (const auto& id : {"forged-1", "forged-2"}) {
        const auto decision = domain::decision_id_of(domain::ApplicationId(id));
        EXPECT_FALSE(node->joiner().find_decision(decision).value());
    }
    node.reset();
    const auto check =
        test_support::run_program(fmt::format("{}/rampart store check --config '{}'",
                                              test_support::bin_dir(), workspace_.config.string()));
    EXPECT_EQ(check.exit_code, 0) << check.output;
}

TEST_F(JoinedDraws, OfAKeyThatIsNotThereAreNotChecked) {
    auto node = open();
    const auto before = decide(*node, 0, 10);
    EXPECT_EQ(draw_keys(node->keys(), node->registry(), workspace_.store).size(), 1u);
    node.reset();
    const auto retired = rotate();
    forge(before.front(), "forged-1");
    fs::remove(retired_file(workspace_.store, retired));
    fs::remove_all(workspace_.store / "partitions");
    node = open();
    read(*node);
    EXPECT_EQ(draw_keys(node->keys(), node->registry(), workspace_.store).size(), 1u);
    EXPECT_EQ(node->joiner().counts().foreign_draws, 0u);
    EXPECT_EQ(node->joiner().counts().decisions, 11u) << "none is lost for want of a key";
}

}  // namespace
}  // namespace rampart::rampartd
