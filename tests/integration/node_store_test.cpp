// Work of a node on its store beside the loop: retention of the embedded log, and leftovers of
// earlier releases.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include "rampart/storage/database.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "rampart/training_set/training_set_builder.hpp"
#include "rampart/wire/record_codec.hpp"
#include "services/rampartd/node.hpp"
#include "support/places.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using base::Duration;
using base::TimePoint;
using streaming::Offset;
using streaming::PartitionId;
using streaming_local::LocalLog;

base::TimePoint day(const char* iso) { return base::parse_iso8601(iso).value(); }

class NodeStore : public testing::Test {
  protected:
    void SetUp() override {
        loan_stream::StreamOptions options;
        options.name = "simulated";
        options.rows = 100;
        options.seed = 3;
        stream_ = loan_stream::load(options).value();
        folder_ = fs::path(testing::TempDir()) / fmt::format("node_store.{}", ::getpid());
        fs::remove_all(folder_);
        workspace_ =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream_, 3)
                .value();
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::unique_ptr<Node> open() {
        auto settings = load_settings(workspace_.config).value();
        settings.retention_period = Duration();  // at every upkeep()
        auto node = Node::open(std::move(settings));
        EXPECT_TRUE(node) << node.error().message;
        return std::move(*node);
    }
    /// Sends applications of the stream, one each day from `first` on, all in partition 0.
    void append(const char* topic, size_t begin, size_t end, TimePoint first) {
        const auto log = LocalLog::open(workspace_.store / "log").value();
        std::vector<streaming::Record> records;
        for (size_t i = begin; i < end; ++i) {
            auto application = stream_.applicants[i].application;
            application.event_time = first + Duration::days(static_cast<int64_t>(i - begin));
            records.push_back(wire::to_record(application));
        }
        ASSERT_TRUE(log->append_to(topic, PartitionId(0), records));
    }
    static int64_t begin(const Node& node, const char* topic) {
        return node.log().begin_offset(topic, PartitionId(0)).value().value();
    }
    /// Waits until the node has decided this number of applications.
    static bool decides(Node& node, uint64_t decisions) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (std::chrono::steady_clock::now() < deadline) {
            uint64_t found = 0;
            for (int32_t p = 0; p < node.settings().log.partitions; ++p) {
                found += static_cast<uint64_t>(
                    node.log().end_offset("decisions", PartitionId(p)).value().value());
            }
            if (found >= decisions) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return false;
    }

    loan_stream::Stream stream_;
    fs::path folder_;
    demo::Workspace workspace_;
    std::map<TimePoint, std::vector<domain::Outcome>> reports_;  // by the time of their report
};

TEST_F(NodeStore, RetentionIsAppliedToTheEmbeddedLogAsItsTopicsSay) {
    { const auto made = open(); }
    append("applications", 0, 50, day("2005-01-01"));  // up to 19 February
    append("quarantine", 0, 2, day("2003-01-01"));
    {
        const auto node = open();
        ASSERT_TRUE(decides(*node, 50));
        ASSERT_TRUE(node->advance(day("2005-03-01")));  // 30 days before: 30 January
        // the last batch is settled a moment after its decisions
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (begin(*node, "applications") == 0 && std::chrono::steady_clock::now() < deadline) {
            ASSERT_TRUE(node->upkeep());
        }
        EXPECT_EQ(begin(*node, "applications"), 29);
        EXPECT_EQ(begin(*node, "quarantine"), 2);
        EXPECT_EQ(begin(*node, "decisions"), 0);
        EXPECT_EQ(begin(*node, "outcomes"), 0);
    }
    const auto node = open();  // no record is missing
    EXPECT_EQ(begin(*node, "applications"), 29);
    EXPECT_TRUE(node->advance(day("2005-03-01")));
}

TEST_F(NodeStore, WhatAnEarlierReleaseLeftIsNamedAndNotTouched) {
    for (const char* name : {"joiner", "decisions"}) {
        ASSERT_TRUE(storage::Database::open(workspace_.store / name, {"meta"}));
    }
    testing::internal::CaptureStderr();
    { const auto made = open(); }
    const auto log = testing::internal::GetCapturedStderr();
    for (const char* name : {"joiner", "decisions"}) {
        const auto folder = (workspace_.store / name).string();
        EXPECT_NE(log.find("folder=" + folder + "\n"), std::string::npos) << log;
        EXPECT_TRUE(storage::Database::open(folder, {"meta"}, {.create = false}));
        fs::remove_all(folder);
    }
    testing::internal::CaptureStderr();
    { const auto again = open(); }
    EXPECT_EQ(testing::internal::GetCapturedStderr().find("earlier release"), std::string::npos);
}

/// What is known of the labels at the end of each month, by the node's joined state.
std::vector<base::Digest> training_sets(Node& node, const std::vector<TimePoint>& months,
                                        const protected_attributes::ProtectedStore& attributes) {
    const auto& settings = node.settings();
    const auto builder =
        training_set::TrainingSetBuilder::create(node.joiner(), settings.product, settings.schema,
                                                 attributes, "a salt of sixteen bytes or more")
            .value();
    std::vector<base::Digest> digests;
    for (const auto t : months) digests.push_back(builder.development_rows(t).value().digest);
    return digests;
}

TEST_F(NodeStore, AJoinedStateMadeAnewFromTheLogGivesTheSameTrainingSetAtEveryTime) {
    const auto catalog = load_settings(workspace_.config).value().catalog;
    const auto elsewhere =
        protected_attributes::ProtectedStore::open(folder_ / "attributes", catalog).value();
    std::vector<TimePoint> months;
    std::vector<base::Digest> then;
    base::Digest hash;
    {
        const auto node = open();
        size_t next = 0, months_behind = 0;
        for (TimePoint now = stream_.start; next < stream_.applicants.size() || months_behind < 24;
             now = base::add_months(now, 1)) {
            ASSERT_TRUE(node->advance(now));
            months.push_back(now);
            then.push_back(training_sets(*node, {now}, *elsewhere).front());
            if (next == stream_.applicants.size()) ++months_behind;
            for (; next < stream_.applicants.size(); ++next) {
                const auto& one = stream_.applicants[next];
                if (one.application.event_time > now) break;
                ASSERT_TRUE(node->decisions().decide({&one.application, 1}));
                if (!one.label || next % 4 == 0) continue;
                // many are reported months after they were observed, in parts after maturity
                const auto id = domain::decision_id_of(one.application.id);
                for (uint32_t revision = 0; revision < 2; ++revision) {
                    const domain::Outcome outcome{id, "repaid", revision,
                                                  *one.label == (revision == 0) ? 1.0 : 0.0,
                                                  one.application.event_time};
                    reports_[base::add_months(now, static_cast<int>(1 + next % 14 + 3 * revision))]
                        .push_back(outcome);
                }
            }
            while (!reports_.empty() && reports_.begin()->first <= now) {
                ASSERT_TRUE(node->decisions().submit_outcomes(reports_.begin()->second));
                reports_.erase(reports_.begin());
            }
        }
        EXPECT_EQ(training_sets(*node, months, *elsewhere), then) << "what was known has changed";
        EXPECT_GT(node->joiner().counts().corrected, 10u);
        EXPECT_EQ(node->joiner().counts().appended_late, 0u);
        hash = node->joiner().state_hash();
    }
    for (int p = 0; p < 4; ++p) {
        fs::remove_all(workspace_.store / "partitions" / std::to_string(p) / "joins");
    }
    const auto node = open();
    ASSERT_TRUE(node->advance(months.back()));
    EXPECT_EQ(training_sets(*node, months, *elsewhere), then);
    EXPECT_EQ(node->joiner().state_hash(), hash);
    EXPECT_NE(then.front(), then.back());
}

TEST_F(NodeStore, WhatIsAppendedWhileTimeMovesIsKnownWhenTheLogSays) {
    constexpr int kSteps = 60;
    const TimePoint first = stream_.start;
    base::Digest hash;
    {
        const auto node = open();
        ASSERT_TRUE(node->advance(first));
        std::vector<domain::DecisionId> ids;
        for (auto& one : stream_.applicants) {
            one.application.event_time = first;
            ids.push_back(domain::decision_id_of(one.application.id));
            ASSERT_TRUE(node->decisions().decide({&one.application, 1}));
        }
        std::atomic<bool> over = false;
        std::thread reporting([&] {
            for (uint32_t n = 0; !over; ++n) {
                const domain::Outcome outcome{ids[n % ids.size()], "repaid",
                                              static_cast<uint32_t>(n / ids.size() % 200),
                                              static_cast<double>(n / ids.size() % 2), first};
                EXPECT_TRUE(node->decisions().submit_outcomes({&outcome, 1}));
            }
        });
        // most labels mature on the way
        for (int step = 1; step <= kSteps; ++step) {
            EXPECT_TRUE(node->advance(first + Duration::days(10 * step)));
        }
        over = true;
        reporting.join();
        ASSERT_TRUE(node->advance(first + Duration::days(10 * kSteps + 1)));
        const auto counts = node->joiner().counts();
        EXPECT_GT(counts.late_outcomes, 10u);
        EXPECT_EQ(counts.appended_late, 0u) << "of " << counts.outcomes;
        hash = node->joiner().state_hash();
    }
    for (int p = 0; p < 4; ++p) {
        fs::remove_all(workspace_.store / "partitions" / std::to_string(p) / "joins");
    }
    const auto node = open();
    ASSERT_TRUE(node->advance(first + Duration::days(10 * kSteps + 1)));
    EXPECT_EQ(node->joiner().state_hash(), hash);
}

}  // namespace
}  // namespace rampart::rampartd
