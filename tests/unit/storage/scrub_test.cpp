#include "rampart/storage/scrub.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "rampart/storage/database_figures.hpp"
#include "storage_folder.hpp"
#include "support/damage.hpp"

namespace rampart::storage {
namespace {

using testing::fresh_folder;
constexpr ColumnFamily kFirst{0}, kSecond{1};

std::unique_ptr<Database> open(const std::filesystem::path& folder) {
    return *Database::open(folder, {"first", "second"});
}

/// A database with a table in each of two families.
std::filesystem::path filled() {
    const auto folder = fresh_folder();
    const auto db = open(folder);
    WriteBatch batch;
    for (int i = 0; i < 2000; ++i) {
        batch.put(kFirst, fmt::format("{:05}", i), fmt::format("{:0100}", i * 7919));
        batch.put(kSecond, fmt::format("{:05}", i), "value");
    }
    EXPECT_TRUE(db->write(batch, Sync::kAlways));
    EXPECT_TRUE(db->compact(kFirst));
    EXPECT_TRUE(db->compact(kSecond));
    return folder;
}

TEST(Scrub, ReadsAllTablesOfWhatIsOpen) {
    const auto folder = filled();
    EXPECT_EQ(scrub({}).files, 0u) << "nothing is open";
    const auto db = open(folder);
    const auto report = scrub({});
    EXPECT_GE(report.files, 2u);
    EXPECT_GT(report.bytes, 10'000u);
    EXPECT_TRUE(report.damaged.empty());
    EXPECT_FALSE(report.stopped);
    EXPECT_TRUE(db->damage());
}

TEST(Scrub, FindsTheBlockThatNobodyReads) {
    const auto folder = filled();
    test_support::damage_table(folder, test_support::Damage::kOneByte);
    const auto table = test_support::largest_table(folder);
    const auto db = open(folder);
    ASSERT_TRUE(db->damage());
    EXPECT_TRUE(damage_met());
    const auto report = scrub({});
    EXPECT_EQ(damage_met().error(), db->damage().error());
    ASSERT_EQ(report.damaged.size(), 1u);
    EXPECT_EQ(report.damaged[0].filename(), table.filename());
    ASSERT_FALSE(db->damage());
    EXPECT_EQ(db->damage().error().reason, "corrupt");
}

TEST(Scrub, KeepsItsRateAndStopsWhenAsked) {
    const auto db = open(filled());
    const auto all = scrub({});
    double longest = 0;
    const auto note = [&](base::Duration wanted) {
        longest = std::max(longest, static_cast<double>(wanted.micros()) / 1e6);
        return true;
    };
    EXPECT_EQ(scrub({all.bytes / 1000, note}).bytes, all.bytes);
    // all but the last table is worth that much of 1000 s
    EXPECT_GT(longest, 50);
    EXPECT_LT(longest, 1000);
    const auto report = scrub({0, [](base::Duration) { return false; }});
    EXPECT_TRUE(report.stopped);
    EXPECT_EQ(report.files, 0u);
}

}  // namespace
}  // namespace rampart::storage
