#include "rampart/storage/inspection.hpp"

#include <gtest/gtest.h>

#include "rampart/storage/database.hpp"
#include "storage_folder.hpp"

namespace rampart::storage {
namespace {

using base::ErrorCode;
using testing::fresh_folder;
using testing::fs::path;
constexpr ColumnFamily kFirst{0};

std::unique_ptr<Database> make(const path& folder, uint32_t version = 1) {
    OpenOptions options;
    options.schema.version = version;
    auto db = Database::open(folder, {"first", "second"}, options).value();
    WriteBatch batch;
    for (int i = 0; i < 100; ++i) batch.put(kFirst, fmt::format("{:03}", i), std::string(500, 'v'));
    EXPECT_TRUE(db->write(batch, Sync::kAlways));
    EXPECT_TRUE(db->compact(kFirst));
    return db;
}

TEST(Inspection, DatabasesAreFoundWhereverTheyLieButNotInHiddenFolders) {
    const auto root = fresh_folder();
    for (const auto* name : {"log", "partitions/1/joins", "partitions/0/joins", ".backup/copy"}) {
        make(root / name).reset();
    }
    testing::fs::create_directories(root / "keys");
    testing::fs::create_directory_symlink(root / "log", root / "same_log");
    EXPECT_EQ(find_databases(root).value(),
              (std::vector<std::string>{"log", "partitions/0/joins", "partitions/1/joins"}));
    EXPECT_EQ(find_databases(root / "log").value(), std::vector<std::string>{"."});
    EXPECT_EQ(find_databases(root / "keys").value(), std::vector<std::string>{});
    EXPECT_EQ(find_databases(root / "nowhere").error().code, ErrorCode::kNotFound);
}

TEST(Inspection, SaysWhatADatabaseIsAlsoWhileItIsInUse) {
    const auto folder = fresh_folder();
    const auto db = make(folder, 4);
    const auto report = verify(folder);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->version, 4u);
    EXPECT_EQ(report->families, (std::vector<std::string>{"default", "first", "second"}));
    EXPECT_EQ(report->keys, 100u);
    EXPECT_GE(report->files, 1u);
    EXPECT_GT(report->bytes, 500u);
    EXPECT_EQ(verify(folder / "nowhere").error().code, ErrorCode::kNotFound);
}

/// Overwrites bytes in the middle of the largest file with the extension.
void damage(const path& folder, std::string_view extension) {
    path largest;
    for (const auto& entry : testing::fs::directory_iterator(folder)) {
        if (entry.path().extension() != extension) continue;
        if (largest.empty() || entry.file_size() > testing::fs::file_size(largest)) {
            largest = entry.path();
        }
    }
    ASSERT_FALSE(largest.empty());
    std::fstream file(largest, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(testing::fs::file_size(largest) / 3));
    file << "damage";
}

TEST(Inspection, VerificationReadsEveryBlockOfEveryTable) {
    const auto folder = fresh_folder();
    make(folder).reset();
    ASSERT_TRUE(verify(folder));
    damage(folder, ".sst");
    const auto verified = verify(folder);
    ASSERT_FALSE(verified);
    EXPECT_EQ(verified.error().code, ErrorCode::kDataLoss);
    EXPECT_NE(verified.error().message.find(folder.string()), std::string::npos);
}

TEST(Inspection, VerificationReadsTheLog) {
    const auto folder = fresh_folder();
    {
        const auto db = make(folder);
        for (int i = 0; i < 10; ++i) {
            WriteBatch batch;
            batch.put(kFirst, "k", std::string(1000, 'v'));
            ASSERT_TRUE(db->write(batch, Sync::kAlways));
        }
    }
    ASSERT_TRUE(verify(folder));
    damage(folder, ".log");
    ASSERT_FALSE(verify(folder));
    EXPECT_EQ(verify(folder).error().code, ErrorCode::kDataLoss);
}

}  // namespace
}  // namespace rampart::storage
