#include "rampart/storage/write_batch.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "rampart/storage/database.hpp"

namespace rampart::storage {
namespace {

TEST(WriteBatch, CountsItsChangesAndForgetsThemWhenCleared) {
    WriteBatch batch;
    EXPECT_TRUE(batch.empty());
    batch.put({0}, "k", "v");
    batch.erase({0}, "k");
    batch.erase_range({1}, "a", "b");
    EXPECT_EQ(batch.size(), 3u);
    EXPECT_EQ(batch.bytes(), 5u);
    batch.clear();
    EXPECT_TRUE(batch.empty());
    EXPECT_EQ(batch.bytes(), 0u);
}

/// What a database makes of a batch: its content, by family and key.
std::string content_after(const WriteBatch& batch, const std::string& name) {
    const auto folder = std::filesystem::path(testing::TempDir()) / name;
    std::filesystem::remove_all(folder);
    const auto db = Database::open(folder, {"a", "b"}).value();
    EXPECT_TRUE(db->write(batch, Sync::kNever));
    std::string content;
    for (const uint32_t family : {0u, 1u}) {
        EXPECT_TRUE(db->scan({family}, KeyRange::all(), [&](auto key, auto value) {
            content += fmt::format("{} {}={}\n", family, key, value);
            return base::Result<bool>(true);
        }));
    }
    return content;
}

TEST(WriteBatch, SortedItDoesTheSame) {
    WriteBatch batch;
    for (int i = 0; i < 40; ++i) {  // many of a key: a sort that is not stable mixes them up
        const ColumnFamily family{static_cast<uint32_t>(i * 7 % 2)};
        const std::string key(1, static_cast<char>('a' + i * 5 % 3));
        batch.put(family, key, std::to_string(i));
        if (i % 4 == 1) batch.erase(family, key);
    }
    batch.erase({1}, "a");
    WriteBatch sorted = batch;
    sorted.sort();
    EXPECT_EQ(sorted.size(), batch.size());
    EXPECT_EQ(sorted.bytes(), batch.bytes());
    const auto content = content_after(batch, "batch_as_it_came");
    EXPECT_NE(content, "");
    EXPECT_EQ(content_after(sorted, "batch_sorted"), content);
}

TEST(WriteBatch, OneThatErasesARangeIsNotSorted) {
    WriteBatch batch;
    batch.put({0}, "k", "v");
    batch.erase_range({0}, "a", "b");
    EXPECT_DEATH(batch.sort(), "erases a range");
}

}  // namespace
}  // namespace rampart::storage
