// Power cuts under the embedded log and the decision service: acknowledged records remain. The
// negative control syncs nothing, and the same test must find losses.
#include <gtest/gtest.h>

#include <map>

#include "integration/decision_service_fixture.hpp"
#include "rampart/wire/event_codec.hpp"
#include "support/child.hpp"
#include "support/power_loss.hpp"

namespace rampart::serving::tests {
namespace {

using base::Random;
using streaming::Offset;
using streaming::PartitionId;
using streaming_local::Fsync;
using streaming_local::LocalLog;
using test_support::in_child;
using test_support::Loss;
using test_support::PowerLossFileSystem;
using test_support::Shared;

constexpr int kSeeds = 5, kCuts = 5, kPartitions = 3;
constexpr uint64_t kMaxNumbers = 4096;  // acknowledged in all lives of a machine

/// Data that children pass to their parent and to the next child.
struct Report {
    uint64_t acknowledged = 0;
    uint64_t bytes_of[kMaxNumbers] = {};  // digests of acknowledged records, by number
    uint64_t wrong = 0;                   // acknowledged, and missing or changed
    char message[512] = {};

    void complain(const std::string& text) {
        if (wrong++ == 0) text.copy(message, sizeof message - 1);
    }
};

uint64_t digest_of(std::string_view bytes) { return std::hash<std::string_view>()(bytes); }

using Environment = std::shared_ptr<rocksdb::Env>;

/// A workload on files of `folder`, under the faulty file system.
struct Worker {
    virtual ~Worker() = default;
    /// Continues after the acknowledged records, until the power cut.
    virtual void work(const fs::path& folder, Environment environment, Report& report) = 0;
    /// Compares the acknowledged records with the stored ones.
    virtual void look(const fs::path& folder, Environment environment, Report& report) = 0;
};

/// The sums over all lives of all machines.
struct Tally {
    uint64_t cuts = 0, acknowledged = 0, wrong = 0;
    std::string first;  // first violation
};

Tally cut_many_times(Worker& worker) {
    Tally tally;
    for (const Loss loss : {Loss::kAll, Loss::kPrefix, Loss::kPages}) {
        for (uint64_t seed = 0; seed < kSeeds; ++seed) {
            const auto folder =
                fs::path(testing::TempDir()) / fmt::format("power_loss_service.{}", ::getpid());
            fs::remove_all(folder);
            fs::create_directories(folder);
            Random random(seed);
            Shared<Report> report;
            for (int cut = 0; cut < kCuts && report->wrong == 0; ++cut) {
                const uint64_t nth = 1 + random.below(500);
                const auto files = [&](uint64_t cut_at) {
                    return rocksdb::NewCompositeEnv(std::make_shared<PowerLossFileSystem>(
                        folder.string() + ".kept", loss, cut_at, random.fork(cut_at)));
                };
                const int ended = in_child([&] { worker.work(folder, files(nth), *report); });
                if (ended != PowerLossFileSystem::kPowerCut) report->complain("it gave up");
                in_child([&] { worker.look(folder, files(PowerLossFileSystem::kNever), *report); });
                ++tally.cuts;
                if (report->wrong > 0 && tally.first.empty()) {
                    tally.first = fmt::format("loss {}, seed {}, cut {}: {}",
                                              static_cast<int>(loss), seed, cut, report->message);
                }
            }
            tally.acknowledged += report->acknowledged;
            tally.wrong += report->wrong;
            fs::remove_all(folder);
            fs::remove_all(folder.string() + ".kept");
        }
    }
    return tally;
}

/// Appends to the embedded log: record `n` is the nth, a few in each append.
class Appender final : public Worker {
  public:
    explicit Appender(Fsync fsync) : fsync_(fsync) {}

    void work(const fs::path& folder, Environment environment, Report& report) override {
        const auto log = LocalLog::open(folder / "log", {.environment = std::move(environment)});
        if (!log) return report.complain(log.error().message);
        const auto made = (*log)->create_topic("t", {kPartitions, fsync_, {}});
        if (!made) return report.complain(made.error().message);
        while (report.acknowledged + 10 < kMaxNumbers) {
            std::vector<streaming::Record> records;
            for (uint64_t i = 0; i <= report.acknowledged % 7; ++i) {
                records.push_back(record(report.acknowledged + i));
            }
            const auto positions = (*log)->append("t", records);
            if (!positions) return report.complain(positions.error().message);
            report.acknowledged += records.size();
        }
    }

    void look(const fs::path& folder, Environment environment, Report& report) override {
        const auto log = LocalLog::open(folder / "log", {.environment = std::move(environment)});
        if (!log) return report.complain(log.error().message);
        std::map<std::string, std::string> there;
        for (int32_t p = 0; p < kPartitions; ++p) {
            const auto records = (*log)->read("t", PartitionId(p), Offset(0), kMaxNumbers);
            if (!records && report.acknowledged == 0) continue;  // not even the topic exists
            if (!records) return report.complain(records.error().message);
            int64_t offset = 0;
            for (const auto& stored : *records) {
                if (stored.offset.value() != offset++) report.complain("offsets have a hole");
                there[stored.record.key] = stored.record.value;
            }
        }
        for (uint64_t n = 0; n < report.acknowledged; ++n) {
            const auto expected = record(n);
            const auto found = there.find(expected.key);
            if (found != there.end() && found->second == expected.value) continue;
            report.complain(fmt::format("record {} of {} is not there", n, report.acknowledged));
        }
    }

  private:
    static streaming::Record record(uint64_t n) {
        Random random(n);
        streaming::Record record;
        record.key = fmt::format("k{}", n);
        while (record.value.size() < 20 + n % 500) record.value += std::to_string(random.next());
        return record;
    }
    const Fsync fsync_;
};

/// Decides applications, one or several at a time; index and log are both on the machine.
class Decider final : public Worker {
  public:
    explicit Decider(Fsync fsync) : fsync_(fsync) {}

    void work(const fs::path& folder, Environment environment, Report& report) override {
        Node node;
        const auto opened = node.open(folder, environment, fsync_);
        if (!opened) return report.complain(opened.error().message);
        const auto status = node.service->set_policy(constant(0.5), false);
        if (!status) return report.complain(status.error().message);
        while (report.acknowledged + 10 < kMaxNumbers) {
            const auto first = static_cast<int>(report.acknowledged);
            const auto batch = applications(first, first + 1 + first % 5);
            const auto decisions = node.service->decide(batch);
            if (!decisions) return report.complain(decisions.error().message);
            for (const auto& decision : *decisions) {
                report.bytes_of[report.acknowledged] = digest_of(wire::encode(decision));
                ++report.acknowledged;
            }
        }
    }

    void look(const fs::path& folder, Environment environment, Report& report) override {
        Node node;
        const auto opened = node.open(folder, environment, fsync_);
        if (!opened) return report.complain(opened.error().message);
        for (uint64_t n = 0; n < report.acknowledged; ++n) {
            const auto id = application(static_cast<int>(n)).id;
            const auto found = node.service->find(domain::decision_id_of(id));
            if (!found) {
                report.complain(found.error().message);
            } else if (digest_of(wire::encode(*found)) != report.bytes_of[n]) {
                report.complain(fmt::format("application {} is decided otherwise now", n));
            }
        }
        std::map<std::string, int> logged;
        for (int32_t p = 0; p < kPartitions; ++p) {
            const auto records =
                node.log->read("decisions", PartitionId(p), Offset(0), kMaxNumbers);
            if (!records) return report.complain(records.error().message);
            for (const auto& stored : *records) {
                if (++logged[stored.record.key] > 1) report.complain("a decision is logged twice");
            }
        }
    }

  private:
    struct Node {
        runtime::ManualClock clock{time("2005-04-02")};
        runtime::Metrics metrics;
        runtime::Health health;
        std::unique_ptr<LocalLog> log;
        std::unique_ptr<DecisionService> service;

        base::Status open(const fs::path& folder, const Environment& environment, Fsync fsync) {
            RAMPART_TRY(log, LocalLog::open(folder / "log", {.environment = environment}));
            for (const char* topic : {"decisions", "outcomes"}) {
                RAMPART_RETURN_IF_ERROR(log->create_topic(topic, {kPartitions, fsync, {}}));
            }
            DecisionServiceOptions options;
            options.product = sample_product();
            options.draw_key = {"key", "secret"};
            options.log.folder = folder / "partitions";
            options.log.partitions = kPartitions;
            options.log.environment = environment;
            RAMPART_TRY(service, DecisionService::open(std::move(options),
                                                       {*log, *log, clock, metrics, health}));
            return base::ok();
        }
    };
    const Fsync fsync_;
};

TEST(PowerLoss, NoAcknowledgedAppendToASyncedLogIsLost) {
    Appender appender(Fsync::kAlways);
    const auto tally = cut_many_times(appender);
    EXPECT_EQ(tally.wrong, 0u) << tally.first;
    EXPECT_GT(tally.acknowledged, 1000u);
}

TEST(PowerLoss, AppendsToALogThatIsNotSyncedAreFoundLost) {
    Appender appender(Fsync::kNever);
    const auto tally = cut_many_times(appender);
    EXPECT_GT(tally.wrong, 100u) << "this test would not notice what it is made to notice";
}

TEST(PowerLoss, NoAcknowledgedDecisionIsLostOrChangedOrLoggedTwice) {
    Decider decider(Fsync::kAlways);
    const auto tally = cut_many_times(decider);
    EXPECT_EQ(tally.wrong, 0u) << tally.first;
    EXPECT_GT(tally.acknowledged, 500u);
}

TEST(PowerLoss, DecisionsOverALogThatIsNotSyncedAreFoundLost) {
    Decider decider(Fsync::kNever);
    const auto tally = cut_many_times(decider);
    EXPECT_GT(tally.wrong, 10u) << "this test would not notice what it is made to notice";
}

}  // namespace
}  // namespace rampart::serving::tests
