#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <filesystem>
#include <set>

#include "rampart/base/file.hpp"
#include "rampart/runtime/secrets.hpp"
#include "rampart/sealed_log/sealed_log.hpp"
#include "rampart/storage/backup.hpp"
#include "rampart/storage/folder.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "rampart/wire/record_codec.hpp"
#include "services/rampartd/node.hpp"
#include "support/byte_scan.hpp"
#include "support/places.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {

namespace fs = std::filesystem;
using domain::Application;

// Markers that occur nowhere else: of the person, of her application, of her outcome.
inline const domain::PersonId kAnna("kx7QvW2mZp9RtYb4NcLs8JdH");
inline const std::string kApplication = "Tg5wBn3KqXe8UhVz6FjMy2Dr";
// who asked for her open review, and why
inline const std::string kReviewer = "Hq2VtYc7LkZs4WbRx9PmGd6N",
                         kContested = "Jf8NzTw5XcQy3KvBm7RhLp4S";
inline const domain::PersonId kBert("Rw3JxPz8VbNq6CmTk9YhGs5L");  // another person
inline constexpr double kIncome = 987'654.321'098;                // no other person has it

class Erasure : public testing::Test {
  protected:
    Erasure() {
        loan_stream::StreamOptions options;
        options.name = "simulated";
        options.rows = 60;
        stream_ = loan_stream::load(options).value();
    }
    ~Erasure() override { fs::remove_all(folder_); }

    demo::Workspace prepare(bool encrypt, int retention_months) {
        auto workspace =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream_, 5)
                .value();
        auto text = base::read_file(workspace.config, 1 << 20).value();
        text += fmt::format("\n[privacy]\nencrypt_log = {}\n", encrypt);
        retention_months_ = retention_months;
        EXPECT_TRUE(base::write_file_atomically(workspace.config, text));
        return workspace;
    }
    std::unique_ptr<Node> open(const demo::Workspace& workspace) {
        auto settings = load_settings(workspace.config);
        EXPECT_TRUE(settings) << settings.error().message;
        settings->privacy.retention_months = retention_months_;
        auto node = Node::open(*settings);
        EXPECT_TRUE(node) << node.error().message;
        return std::move(*node);
    }
    /// The application of the n-th applicant; the first is Bert.
    Application application(size_t n) const {
        auto one = stream_.applicants.at(n).application;
        if (n == 1) one.person = kBert;
        return one;
    }
    /// The application of Anna, with an income that can be searched for.
    Application annas(const std::string& id) const {
        auto mine = application(0);
        mine.id = domain::ApplicationId(id);
        mine.person = kAnna;
        for (auto& feature : mine.features) {
            if (std::holds_alternative<double>(feature.value)) feature.value = kIncome;
        }
        return mine;
    }
    static domain::Decision decide(Node& node, const Application& one) {
        const auto decided = node.decisions().decide(std::span(&one, 1));
        EXPECT_TRUE(decided) << decided.error().message;
        return decided->front();
    }
    /// Whether any file below has a trace of the bytes.
    static bool on_disk(const fs::path& folder, std::string_view bytes) {
        return !test_support::files_with(folder, bytes).empty();
    }
    /// Whether a record of the log has the bytes, read with the keys of the store. No node may be
    /// open.
    static bool in_opened_log(const demo::Workspace& workspace, std::string_view bytes) {
        const auto log = streaming_local::LocalLog::open(workspace.store / "log").value();
        const auto secret = runtime::load_secret(workspace.store / "keys" / "person").value();
        const auto keys =
            privacy::PersonKeys::open(workspace.store / "privacy/keys", secret).value();
        const sealed_log::SealedLog opened(*log, *log, *keys, "decisions", true);
        for (const char* topic : {"applications", "decisions", "outcomes"}) {
            const int32_t partitions = opened.partitions(topic).value();
            for (int32_t p = 0; p < partitions; ++p) {
                const streaming::PartitionId id(p);
                const auto records =
                    opened.read(topic, id, opened.begin_offset(topic, id).value(), 100'000).value();
                for (const auto& stored : records) {
                    const auto& record = stored.record;
                    if (test_support::has_trace(record.key + record.value, bytes)) return true;
                }
            }
        }
        return false;
    }
    /// Returns the decisions whose records in the log can be opened with the keys of the store. No
    /// node may be open.
    static std::set<domain::DecisionId> opened_from_log(
        const demo::Workspace& workspace, const std::vector<domain::DecisionId>& ids) {
        const auto log = streaming_local::LocalLog::open(workspace.store / "log").value();
        const auto secret = runtime::load_secret(workspace.store / "keys" / "person").value();
        const auto keys =
            privacy::PersonKeys::open(workspace.store / "privacy/keys", secret).value();
        const sealed_log::SealedLog opened(*log, *log, *keys, "decisions", true);
        const std::set<domain::DecisionId> wanted(ids.begin(), ids.end());
        std::set<domain::DecisionId> found;
        for (int32_t p = 0; p < 4; ++p) {
            const auto records =
                opened.read("decisions", streaming::PartitionId(p), streaming::Offset(0), 100'000);
            EXPECT_TRUE(records) << records.error().message;
            for (const auto& stored : *records) {
                const domain::DecisionId id(stored.record.key);
                const bool opened_now = stored.seal == streaming::Seal::kOpened;
                if (opened_now && wanted.contains(id)) found.insert(id);
            }
        }
        return found;
    }
    /// A backup of the whole store, and its folder.
    fs::path back_up(const demo::Workspace& workspace) const {
        std::vector<storage::BackupItem> items;
        for (auto it = fs::recursive_directory_iterator(workspace.store);
             it != fs::recursive_directory_iterator(); ++it) {
            if (!storage::is_database(it->path())) continue;
            items.push_back({storage::BackupItem::Kind::kDatabase,
                             it->path().lexically_relative(workspace.store).string()});
            it.disable_recursion_pending();
        }
        EXPECT_GT(items.size(), 8u);
        const auto to = folder_ / "backups";
        const auto backups =
            storage::BackupFolder::open(to, storage::BackupFolder::Mode::kChange).value();
        EXPECT_TRUE(backups->create(workspace.store, items, base::TimePoint()));
        return to;
    }
    static std::string income_bytes() {
        const auto bits = std::bit_cast<uint64_t>(kIncome);
        std::string bytes;
        for (int i = 0; i < 8; ++i) bytes += static_cast<char>(bits >> (8 * i));  // as protobuf
        return bytes;
    }
    /// Decides the applications of all people and Anna, with a report, an override and an open
    /// review for hers.
    domain::DecisionId fill(Node& node) {
        for (size_t n = 1; n < 20; ++n) decide(node, application(n));
        const auto id = decide(node, annas(kApplication)).id;
        const domain::Outcome outcome{id, "repaid", 0, 1, application(0).event_time};
        EXPECT_TRUE(node.decisions().submit_outcomes(std::span(&outcome, 1)));
        const domain::Override taken{id,  0,   domain::Action::kApprove,
                                     "a", "r", application(0).event_time};
        EXPECT_TRUE(node.decisions().submit_overrides(std::span(&taken, 1)));
        const auto review = node.reviews().open(id, kReviewer, kContested);
        EXPECT_TRUE(review) << review.error().message;
        EXPECT_TRUE(node.advance(base::add_months(application(0).event_time, 60)));
        return id;
    }
    static size_t examples_of_anna(Node& node) {
        size_t found = 0;
        EXPECT_TRUE(node.joiner().examples("repaid", node.now(), [&](const auto& example) {
            found += example.decision.application.person == kAnna;
            return base::ok();
        }));
        return found;
    }

    fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("erasure.{}", ::getpid());
    loan_stream::Stream stream_;
    int retention_months_ = 0;  // 0, which no configuration can give: none
};

}  // namespace rampart::rampartd
