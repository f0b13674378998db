#include "rampart/storage/database_figures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "rampart/storage/database.hpp"
#include "storage_folder.hpp"

namespace rampart::storage {
namespace {

using testing::fresh_folder;

std::optional<DatabaseFigures> figures_of(const std::filesystem::path& path) {
    const auto all = database_figures();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.path == path; });
    return found == all.end() ? std::nullopt : std::optional(*found);
}

TEST(DatabaseFigures, AreOfEachOpenDatabaseUntilItIsClosed) {
    const auto path = fresh_folder();
    EXPECT_FALSE(figures_of(path));
    auto db = Database::open(path, {"a", "b"}).value();
    const auto synced = [&] {
        const auto counts = figures_of(path)->synced_writes->counts();
        return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
    };
    const uint64_t before = synced();  // writes of its making
    WriteBatch batch;
    batch.put({0}, "key", std::string(100'000, 'x'));
    ASSERT_TRUE(db->write(batch, Sync::kAlways));
    ASSERT_TRUE(db->write(batch, Sync::kNever));
    auto figures = figures_of(path);
    ASSERT_TRUE(figures);
    EXPECT_EQ(figures->live_bytes, 0u);  // nothing is in a table yet
    EXPECT_FALSE(figures->writes_stopped);
    EXPECT_FALSE(figures->writes_delayed);
    EXPECT_EQ(synced(), before + 1);  // the first alone
    EXPECT_GT(figures->synced_writes->sum(), 0);
    ASSERT_TRUE(db->compact({0}));
    figures = figures_of(path);
    ASSERT_TRUE(figures);
    EXPECT_GT(figures->live_bytes, 0u);
    {
        OpenOptions reading;
        reading.read_only = true;
        const auto reader = Database::open(path, {"a", "b"}, reading);
        ASSERT_TRUE(reader);
        const auto all = database_figures();
        EXPECT_EQ(std::count_if(all.begin(), all.end(),
                                [&](const auto& one) { return one.path == path; }),
                  1);
    }
    db.reset();
    EXPECT_FALSE(figures_of(path));
    EXPECT_GT(figures->synced_writes->sum(), 0);  // what was taken stays readable
}

}  // namespace
}  // namespace rampart::storage
