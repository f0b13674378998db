#include "rampart/storage/memory_budget.hpp"

#include <gtest/gtest.h>

#include "rampart/base/random.hpp"
#include "storage_folder.hpp"

namespace rampart::storage {
namespace {

using testing::fresh_folder;

constexpr uint64_t kBudget = 24u << 20;
const std::vector<std::string> kFamilies{"a", "b", "c", "d"};

std::unique_ptr<Database> open(const std::shared_ptr<MemoryBudget>& budget) {
    OpenOptions options;
    options.budget = budget;
    auto db = Database::open(fresh_folder(), kFamilies, options);
    EXPECT_TRUE(db) << db.error().message;
    return std::move(*db);
}

/// One batch of 100 kB over all families.
void write_some(Database& db, base::Random& random) {
    WriteBatch batch;
    for (int i = 0; i < 100; ++i) {
        std::string value;
        while (value.size() < 1000) value += std::to_string(random.next());
        batch.put({static_cast<uint32_t>(i) % static_cast<uint32_t>(kFamilies.size())},
                  fmt::format("{:016x}", random.next()), value);
    }
    ASSERT_TRUE(db.write(batch, Sync::kNever));
}

size_t tables_of(const Database& db) {
    size_t tables = 0;
    for (const auto& entry : testing::fs::directory_iterator(db.path())) {
        tables += entry.path().extension() == ".sst";
    }
    return tables;
}

TEST(MemoryBudget, CountsWhatItsDatabasesFindInIt) {
    const auto budget = MemoryBudget::create(kBudget).value();
    EXPECT_EQ(budget->usage().limit, kBudget);
    EXPECT_EQ(budget->usage().cache_misses, 0u);
    const auto db = open(budget);
    WriteBatch batch;
    batch.put({0}, "key", "value");
    ASSERT_TRUE(db->write(batch, Sync::kNever));
    ASSERT_TRUE(db->compact({0}));
    ASSERT_TRUE(*db->get({0}, "key"));
    const auto before = budget->usage();
    EXPECT_GT(before.cache_misses, 0u);
    ASSERT_TRUE(*db->get({0}, "key"));
    const auto after = budget->usage();
    EXPECT_GT(after.cache_hits, before.cache_hits);
    EXPECT_EQ(after.cache_misses, before.cache_misses);
    EXPECT_EQ(after.stall_seconds, 0);
}

TEST(MemoryBudget, OneThatIsTooSmallToWorkWithIsRefused) {
    EXPECT_TRUE(MemoryBudget::create(MemoryBudget::kMinBytes));
    const auto tiny = MemoryBudget::create(MemoryBudget::kMinBytes - 1);
    ASSERT_FALSE(tiny);
    EXPECT_EQ(tiny.error().reason, "bad_memory_budget");
}

TEST(MemoryBudget, SeveralDatabasesTogetherStayWithinIt) {
    const auto budget = MemoryBudget::create(kBudget).value();
    EXPECT_EQ(budget->usage().write_buffers, 0u);
    std::vector<std::unique_ptr<Database>> databases;
    for (int i = 0; i < 5; ++i) databases.push_back(open(budget));
    base::Random random(1);
    MemoryUsage most;
    const auto look = [&] {
        const auto usage = budget->usage();
        most.used = std::max(most.used, usage.used);
        most.write_buffers = std::max(most.write_buffers, usage.write_buffers);
    };
    for (int round = 0; round < 60; ++round) {  // 30 MB over all
        for (auto& db : databases) write_some(*db, random);
        look();
    }
    // All of it is read, which is more than the budget, however much of it is still in write
    // buffers.
    uint64_t bytes = 0;
    for (auto& db : databases) {
        for (uint32_t family = 0; family < kFamilies.size(); ++family) {
            const auto read = [&](auto, auto value) -> base::Result<bool> {
                bytes += value.size();
                look();
                return true;
            };
            ASSERT_TRUE(db->scan({family}, KeyRange::all(), read));
        }
    }
    EXPECT_GT(bytes, kBudget);
    EXPECT_LE(most.used, kBudget);
    EXPECT_GT(most.used, kBudget / 2) << "the budget is there to be used";
    EXPECT_GT(most.write_buffers, 1u << 20);
    databases.clear();
    EXPECT_EQ(budget->usage().write_buffers, 0u);
}

TEST(MemoryBudget, ABusyDatabaseGetsTheWriteBuffersOfAnIdleOne) {
    const auto budget = MemoryBudget::create(kBudget).value();
    const auto idle = open(budget), busy = open(budget);
    base::Random random(2);
    for (int i = 0; i < 15; ++i) write_some(*idle, random);
    ASSERT_GT(budget->usage().write_buffers, 1u << 20);
    ASSERT_EQ(tables_of(*idle), 0u);
    for (int i = 0; i < 60; ++i) write_some(*busy, random);
    EXPECT_GT(tables_of(*idle), 0u) << "nobody wrote to it, and still it was flushed";
    EXPECT_LE(budget->usage().write_buffers, kBudget / 4);
}

}  // namespace
}  // namespace rampart::storage
