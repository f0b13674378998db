#include "rampart/storage/process_limits.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <random>

#include "storage_folder.hpp"

namespace rampart::storage {
namespace {

using testing::fresh_folder;
constexpr ColumnFamily kFirst{0};

/// Writes 4 MB that cannot be compressed, and returns how long their compaction takes, in seconds.
double seconds_of_compaction() {
    const auto db = *Database::open(fresh_folder(), {"first"});
    std::mt19937_64 random(1);
    WriteBatch batch;
    for (int i = 0; i < 4000; ++i) {
        std::string value;
        for (int j = 0; j < 125; ++j) {
            const uint64_t word = random();
            value.append(reinterpret_cast<const char*>(&word), sizeof word);
        }
        batch.put(kFirst, std::to_string(i), value);
    }
    EXPECT_TRUE(db->write(batch, Sync::kAlways));
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(db->compact(kFirst));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(BackgroundRate, BoundsWhatIsWrittenInTheBackground) {
    limit_background_rate(2u << 20);
    const double bounded = seconds_of_compaction();
    limit_background_rate(0);
    // a flush of 4 MB at 2 MiB a second; load makes it longer, never shorter
    EXPECT_GT(bounded, 1.0);
}

TEST(ADatabaseWithLittleInIt, TakesLittleOfTheDisk) {
    const auto folder = fresh_folder();
    const auto db = *Database::open(folder, {"first", "second", "third", "fourth"});
    WriteBatch batch;
    batch.put(kFirst, "key", "value");
    ASSERT_TRUE(db->write(batch, Sync::kAlways));
    uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        struct stat file {};
        ASSERT_EQ(::stat(entry.path().c_str(), &file), 0);
        bytes += 512 * static_cast<uint64_t>(file.st_blocks);
    }
    EXPECT_LT(bytes, 1u << 20);  // 256 partitions have 512 databases
}

}  // namespace
}  // namespace rampart::storage
