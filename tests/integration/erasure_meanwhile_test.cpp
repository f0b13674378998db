// A person is erased while decisions about this person are made, after a crash, and when little or
// no data of the person exists.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "erasure_fixture.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "support/places.hpp"
#include "support/program.hpp"

namespace rampart::rampartd {
namespace {

using test_support::run_program;

/// Two clients that send new applications of a person until they are stopped or reach their number.
class Applying {
  public:
    Applying(Node& node, Application one) {
        for (int client = 0; client < 2; ++client) {
            clients_.emplace_back([this, &node, one, own = client]() mutable {
                for (int n = 0; !stop_ && n < kEnough; ++n) {
                    one.id = domain::ApplicationId(fmt::format("{}-{}-{}", one.person, own, n));
                    const auto decided = node.decisions().decide(std::span(&one, 1));
                    EXPECT_TRUE(decided) << decided.error().message;
                    if (decided) ids_[static_cast<size_t>(own)].push_back(decided->front().id);
                    ++acknowledged_;
                    acknowledged_.notify_all();
                }
            });
        }
    }
    ~Applying() { stop(); }
    /// Waits until this number is acknowledged.
    void wait_for(size_t wanted) const {
        for (size_t n = acknowledged_; n < wanted; n = acknowledged_) acknowledged_.wait(n);
    }
    /// Returns the acknowledged decisions.
    std::vector<domain::DecisionId> stop() {
        stop_ = true;
        for (auto& client : clients_) client.join();
        clients_.clear();
        auto all = ids_[0];
        all.insert(all.end(), ids_[1].begin(), ids_[1].end());
        return all;
    }

  private:
    static constexpr int kEnough = 10;
    std::atomic<bool> stop_ = false;
    std::atomic<size_t> acknowledged_ = 0;
    std::array<std::vector<domain::DecisionId>, 2> ids_;
    std::vector<std::thread> clients_;
};

TEST_F(Erasure, WhatIsDecidedMeanwhileIsErasedOrOfANewPersonInIndexStateAndLogAlike) {
    const std::vector<domain::PersonId> persons{domain::PersonId("Vb8TzQw2RkXn5MdJy7LcPf3H"),
                                                domain::PersonId("cN6GjWs9DhUq4EtYx8ZrKm2B"),
                                                domain::PersonId("M3pFyHv7AaLg9SiOe5CuQx4W")};
    const auto workspace = prepare(true, 0);
    auto node = open(workspace);
    fill(*node);
    const auto end = node->now();
    std::vector<domain::DecisionId> ids;
    for (const auto& person : persons) {
        auto one = annas("");
        one.person = person;
        Applying applying(*node, one);
        applying.wait_for(3);
        const auto report = node->erase(one.person, "privacy-office", "request 7", false);
        ASSERT_TRUE(report) << report.error().message;
        EXPECT_GT(report->keys, 0u);
        const auto acknowledged = applying.stop();
        ASSERT_GE(acknowledged.size(), 3u);
        ids.insert(ids.end(), acknowledged.begin(), acknowledged.end());
    }
    ASSERT_TRUE(node->advance(end));
    const auto readable = [&] {
        std::set<domain::DecisionId> found;
        for (const auto& id : ids) {
            const auto one = node->decisions().find(id);
            if (one) {
                found.insert(id);
            } else {
                EXPECT_EQ(one.error().reason, "erased") << id.value();
            }
            EXPECT_EQ(node->joiner().find_decision(id).value().has_value(), one.has_value())
                << id.value();
        }
        return found;
    };
    const auto stayed = readable();
    EXPECT_LT(stayed.size(), ids.size());
    const auto hash = node->joiner().state_hash();
    node.reset();
    const auto checked = run_program(fmt::format(
        "{}/rampart store check --config {}", test_support::bin_dir(), workspace.config.string()));
    EXPECT_EQ(checked.exit_code, 0) << checked.output;
    EXPECT_EQ(opened_from_log(workspace, ids), stayed) << "a key for these, and for no other";
    fs::remove_all(workspace.store / "partitions");  // made again from the log
    node = open(workspace);
    ASSERT_TRUE(node->advance(end));
    EXPECT_EQ(readable(), stayed);
    EXPECT_EQ(node->joiner().state_hash(), hash);

    // and without load none is left
    for (const auto& person : persons) {
        const auto report = node->erase(person, "privacy-office", "request 8", false);
        EXPECT_TRUE(report || report.error().reason == "unknown_person") << report.error().message;
    }
    EXPECT_TRUE(readable().empty());
    node.reset();
    EXPECT_TRUE(opened_from_log(workspace, ids).empty());
    for (const auto& person : persons) {
        EXPECT_EQ(test_support::files_with(workspace.folder, person.value()),
                  std::vector<std::string>());
    }
}

TEST_F(Erasure, AfterACrashWithTheKeyGoneWhatWasNotJoinedIsErasedToo) {
    const auto workspace = prepare(true, 0);
    auto node = open(workspace);
    const auto joined = fill(*node);
    const auto end = node->now();
    std::vector<domain::DecisionId> later;  // the joiner has read none of these
    for (const char* id : {"later-application", "latest-application"}) {
        later.push_back(decide(*node, annas(id)).id);
    }
    node.reset();
    {
        const auto secret = runtime::load_secret(workspace.store / "keys" / "person").value();
        auto keys = privacy::PersonKeys::open(workspace.store / "privacy/keys", secret).value();
        auto list = privacy::Register::open(workspace.store / "privacy/register").value();
        ASSERT_TRUE(list->begin({keys->tag_of(kAnna), end, {{.id = joined.value()}}}));
        ASSERT_EQ(keys->destroy(kAnna).value(), 1u);
        // the crash came when the joiner had handed over one of them and had not stored it
        const auto log = streaming_local::LocalLog::open(workspace.store / "log").value();
        const auto erasure = wire::to_record(domain::Erasure{later[1], end});
        const auto home = streaming::partition_of(later[1].value(), 4);
        ASSERT_TRUE(log->append_to("decisions", home, std::span(&erasure, 1)));
    }
    node = open(workspace);
    ASSERT_TRUE(node->advance(end));
    for (const auto& id : later) {
        const auto found = node->decisions().find(id);
        ASSERT_FALSE(found) << id.value() << " can be read";
        EXPECT_EQ(found.error().reason, "erased");
    }
    const auto report = node->erase(kAnna, "privacy-office", "request 7", false);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(node->decisions().find(joined).error().reason, "erased");
    for (const auto& marker : {kAnna.value(), income_bytes()}) {
        EXPECT_EQ(test_support::files_with(workspace.folder, marker), std::vector<std::string>());
    }
}

TEST_F(Erasure, AnUnknownPersonIsReportedAndOneWithLittleDataIsErased) {
    const auto workspace = prepare(true, 0);
    auto node = open(workspace);
    fill(*node);
    const auto end = node->now();
    const domain::PersonId nobody("nobody");
    for (const bool dry_run : {true, false}) {
        const auto report = node->erase(nobody, "privacy-office", "request 7", dry_run);
        ASSERT_FALSE(report);
        EXPECT_EQ(report.error().code, base::ErrorCode::kNotFound);
        EXPECT_EQ(report.error().reason, "unknown_person");
    }
    EXPECT_EQ(node->registry().audit_entries()->back().action, "erase_refused");
    node.reset();
    const domain::PersonId by_key("by-key"), by_attributes("by-attributes"), by_quarantine("by-q");
    {
        const auto settings = load_settings(workspace.config).value();
        const auto secret = runtime::load_secret(settings.store / "keys" / "person").value();
        auto keys = privacy::PersonKeys::open(settings.store / "privacy/keys", secret).value();
        const privacy::Letter letter{by_key, "name", "content"};
        ASSERT_TRUE(keys->seal(std::span(&letter, 1)));
        auto attributes = protected_attributes::ProtectedStore::open(settings.store / "protected",
                                                                     settings.catalog)
                              .value();
        const protected_attributes::ProtectedAttributes known{
            by_attributes, end, stream_.applicants.at(1).protected_attributes};
        ASSERT_TRUE(attributes->put(std::span(&known, 1), {}));
        const auto log = streaming_local::LocalLog::open(settings.store / "log").value();
        auto unknown = annas("other-application");
        unknown.person = by_quarantine;
        auto record = wire::to_record(unknown);
        record.headers = {{"schema", "rampart.v9.Application/1"}};
        ASSERT_TRUE(log->append("decisions", std::span(&record, 1)));
    }
    node = open(workspace);
    ASSERT_TRUE(node->advance(end));
    for (const auto& one : {by_key, by_attributes, by_quarantine}) {
        EXPECT_TRUE(node->erase(one, "privacy-office", "request 7", true)) << one.value();
        EXPECT_TRUE(node->erase(one, "privacy-office", "request 7", false)) << one.value();
        EXPECT_EQ(node->erase(one, "privacy-office", "request 7", true).error().reason,
                  "unknown_person")
            << one.value();
    }
}

}  // namespace
}  // namespace rampart::rampartd
