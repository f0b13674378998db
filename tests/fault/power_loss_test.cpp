// Power cuts at any moment lose all data that was not synced. No write that was acknowledged as
// synced may be lost, and no write may be there in part.
#include "support/power_loss.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "rampart/storage/database.hpp"
#include "rampart/storage/encryption.hpp"
#include "support/child.hpp"

namespace rampart::storage {
namespace {

namespace fs = std::filesystem;
using base::Random;
using test_support::in_child;
using test_support::Loss;
using test_support::PowerLossFileSystem;
using test_support::Shared;

constexpr ColumnFamily kFirst{0}, kSecond{1};
constexpr int kSeeds = 7, kCuts = 6;

fs::path fresh_folder() {
    static int counter = 0;
    const fs::path path =
        fs::path(testing::TempDir()) / fmt::format("power_loss.{}.{}", ::getpid(), counter++);
    fs::remove_all(path);
    return path;
}

using Content = std::map<std::string, std::string>;

/// One write: changes in both column families, and its number in both.
struct Step {
    std::vector<std::pair<std::string, std::string>> puts;  // an empty value: erased
};

Step random_step(Random& random) {
    Step step;
    for (uint64_t n = 1 + random.below(8); n > 0; --n) {
        const bool erase = random.bernoulli(0.2);
        const bool large = random.bernoulli(0.05);
        const auto size = erase ? 0 : 1 + random.below(large ? 20'000 : 300);
        std::string value;
        while (value.size() < size) value += fmt::format("{:016x}", random.next());
        step.puts.emplace_back(fmt::format("{:03}", random.below(200)), value);
    }
    return step;
}

WriteBatch to_batch(const Step& step, uint64_t number) {
    WriteBatch batch;
    for (const ColumnFamily family : {kFirst, kSecond}) {
        for (const auto& [key, value] : step.puts) {
            value.empty() ? batch.erase(family, key) : batch.put(family, key, value);
        }
        batch.put(family, "number", std::to_string(number));
    }
    return batch;
}

/// Data that a child passes to its parent.
struct Report {
    uint64_t written = 0, acknowledged = 0;  // writes of the last life
    uint64_t there = 0;                      // writes found after it
    bool refused = false;                    // the database would not open
    bool hole = false;                       // a state that never existed
    bool failed = false;                     // a write failed although there was power
    char message[512] = {};

    void say(const std::string& text) { text.copy(message, sizeof message - 1); }
};

/// A machine with repeated power cuts. Every life is its own process. The writes of all lives are
/// numbered, and the same seed writes the same data under the same number.
class Machine {
  public:
    Machine(Sync sync, Recovery recovery, Loss loss, uint64_t seed)
        : sync_(sync), recovery_(recovery), loss_(loss), random_(seed) {}
    ~Machine() {
        fs::remove_all(folder_);
        fs::remove_all(folder_.string() + ".kept");
    }

    /// Writes until the power cut, then checks the remaining data.
    Report live() {
        Shared<Report> report;
        const uint64_t cut_at = 1 + random_.below(600);
        const int ended = in_child([&] { work(*report, environment(cut_at)); });
        if (ended != PowerLossFileSystem::kPowerCut) report->failed = true;
        in_child([&] { look(*report, environment(PowerLossFileSystem::kNever)); });
        there_ = report->there;
        return *report;
    }

  private:
    base::Result<std::unique_ptr<Database>> open(std::shared_ptr<rocksdb::Env> env) const {
        OpenOptions options;
        options.environment = std::move(env);
        options.recovery = recovery_;
        options.memtable_bytes =
            64 << 10;  // the write-ahead log changes, tables are added and deleted
        return Database::open(folder_, {"first", "second"}, options);
    }
    Step step(uint64_t number) const {
        auto random = random_.fork(number);
        return random_step(random);
    }

    std::shared_ptr<rocksdb::Env> environment(uint64_t cut_at) const {
        return rocksdb::NewCompositeEnv(std::make_shared<PowerLossFileSystem>(
            folder_.string() + ".kept", loss_, cut_at, random_.fork(~cut_at)));
    }

    void work(Report& report, std::shared_ptr<rocksdb::Env> files) const {
        report.written = report.acknowledged =
            there_;  // data that was read before is durable by now
        const auto db = open(std::move(files));
        if (!db) return report.say(db.error().message);
        while (true) {
            const auto number = ++report.written;
            const auto status = (*db)->write(to_batch(step(number), number), sync_);
            if (!status) return report.say(status.error().message);
            report.acknowledged = number;
        }
    }

    void look(Report& report, std::shared_ptr<rocksdb::Env> files) const {
        const auto db = open(std::move(files));
        report.refused = !db;
        if (!db) return report.say(db.error().message);
        const auto number = (*db)->get(kFirst, "number").value();
        report.there = number ? std::stoul(*number) : 0;
        Content expected;
        for (uint64_t i = 1; i <= report.there; ++i) {
            for (const auto& [key, value] : step(i).puts) {
                value.empty() ? void(expected.erase(key)) : void(expected[key] = value);
            }
        }
        if (number) expected["number"] = *number;
        for (const ColumnFamily family : {kFirst, kSecond}) {
            Content content;
            const auto status = (*db)->scan(family, KeyRange::all(),
                                            [&](auto key, auto value) -> base::Result<bool> {
                                                content.emplace(key, value);
                                                return true;
                                            });
            if (status && content == expected) continue;
            report.hole = true;
            report.say(status ? "a family is not as it was after its last write"
                              : status.error().message);
        }
    }

    const Sync sync_;
    const Recovery recovery_;
    const Loss loss_;
    Random random_;
    const fs::path folder_ = fresh_folder();
    uint64_t there_ = 0;
};

constexpr Loss kLosses[] = {Loss::kAll, Loss::kPrefix, Loss::kPages};

/// The results of all machines of one kind.
struct Tally {
    uint64_t cuts = 0, refused = 0, holes = 0, failed = 0;
    uint64_t lost = 0;  // acknowledged writes
    uint64_t written = 0;
    std::string first;  // first violation
};

Tally cut_many_times(Sync sync, Recovery recovery) {
    Tally tally;
    for (const Loss loss : kLosses) {
        for (uint64_t seed = 0; seed < kSeeds; ++seed) {
            Machine machine(sync, recovery, loss, seed);
            for (int cut = 0; cut < kCuts; ++cut) {
                const Report report = machine.live();
                const bool lost = !report.refused && report.there < report.acknowledged;
                ++tally.cuts;
                tally.refused += report.refused;
                tally.holes += report.hole;
                tally.failed += report.failed || report.there > report.written;
                tally.lost += lost ? report.acknowledged - report.there : 0;
                tally.written += report.written;
                const bool wrong = report.refused || report.hole || report.failed ||
                                   (lost && sync == Sync::kAlways);
                if (tally.first.empty() && wrong) {
                    tally.first = fmt::format(
                        "loss {}, seed {}, cut {}: {} of {} acknowledged writes are there; {}",
                        static_cast<int>(loss), seed, cut, report.there, report.acknowledged,
                        report.message);
                }
                if (report.refused) break;  // it stays so
            }
        }
    }
    return tally;
}

TEST(PowerLoss, NoSyncedWriteIsLostWhereverThePowerGoes) {
    const auto tally = cut_many_times(Sync::kAlways, Recovery::kStrict);
    EXPECT_GT(tally.cuts, 100u);
    EXPECT_EQ(tally.lost, 0u) << tally.first;
    EXPECT_EQ(tally.refused, 0u) << tally.first;
    EXPECT_EQ(tally.holes, 0u) << tally.first;
    EXPECT_EQ(tally.failed, 0u) << tally.first;
}

TEST(PowerLoss, TakesNoMoreFromEncryptedFiles) {
    set_file_key_source([](const fs::path&) -> base::Result<FileKeys> {
        return FileKeys{FileKey{"0123456789abcdef", std::string(kFileKeyBytes, 'k')}, {}};
    });
    const auto synced = cut_many_times(Sync::kAlways, Recovery::kStrict);
    const auto unsynced = cut_many_times(Sync::kNever, Recovery::kPointInTime);
    set_file_key_source({});
    EXPECT_EQ(synced.lost, 0u) << synced.first;
    for (const auto& tally : {synced, unsynced}) {
        EXPECT_EQ(tally.refused, 0u) << tally.first;
        EXPECT_EQ(tally.holes, 0u) << tally.first;
        EXPECT_EQ(tally.failed, 0u) << tally.first;
    }
    EXPECT_GT(unsynced.lost, 100u);
}

TEST(PowerLoss, WhatWasNotSyncedGoesFromTheEndWithoutHoles) {
    const auto tally = cut_many_times(Sync::kNever, Recovery::kPointInTime);
    EXPECT_EQ(tally.refused, 0u) << tally.first;
    EXPECT_EQ(tally.holes, 0u) << tally.first;
    EXPECT_EQ(tally.failed, 0u) << tally.first;
    EXPECT_GT(tally.lost, 100u) << "acknowledging what is not synced has to show in this test";
}

}  // namespace
}  // namespace rampart::storage
