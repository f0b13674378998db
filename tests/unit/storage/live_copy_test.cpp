#include "rampart/storage/live_copy.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "rampart/storage/database.hpp"
#include "rampart/storage/inspection.hpp"
#include "storage_folder.hpp"

namespace rampart::storage {
namespace {

using testing::fresh_folder;
using testing::fs::path;
constexpr ColumnFamily kFirst{0}, kSecond{1};

OpenOptions small() {
    OpenOptions options;
    options.memtable_bytes = 64 << 10;  // tables come and go all the time
    return options;
}

std::string key(uint64_t i) { return fmt::format("{:010}", i); }

/// Writes 0, 1, 2 … to both families, and erases what is 1000 back in the first, until asked to
/// stop.
class Writer {
  public:
    explicit Writer(const path& folder)
        : db_(Database::open(folder, {"first", "second"}, small()).value()),
          thread_([this] { run(); }) {}
    ~Writer() { stop(); }
    void stop() {
        stop_ = true;
        if (thread_.joinable()) thread_.join();
        db_.reset();
    }
    uint64_t written() const { return written_; }  // numbers below are there

  private:
    void run() {
        while (!stop_) {
            const uint64_t i = written_;
            WriteBatch batch;
            batch.put(kFirst, key(i), std::string(200, 'v'));
            batch.put(kSecond, key(i), key(i));
            if (i >= 1000) batch.erase(kFirst, key(i - 1000));
            ASSERT_TRUE(db_->write(batch, Sync::kNever));
            ++written_;
        }
    }

    std::unique_ptr<Database> db_;
    std::atomic<uint64_t> written_ = 0;
    std::atomic<bool> stop_ = false;
    std::thread thread_;
};

/// How many numbers the copy has: 0 to it, without a gap, in both families.
uint64_t check_copy(const path& copy) {
    const auto db = Database::open(copy, {"first", "second"}, small());
    EXPECT_TRUE(db) << db.error().message;
    if (!db) return 0;
    uint64_t count = 0;
    const auto dense = [&](std::string_view found, std::string_view) -> base::Result<bool> {
        EXPECT_EQ(found, key(count));
        return found == key(count++);
    };
    EXPECT_TRUE((*db)->scan(kSecond, KeyRange::all(), dense));
    const uint64_t in_second = count;
    count = in_second > 1000 ? in_second - 1000 : 0;
    EXPECT_TRUE((*db)->scan(kFirst, KeyRange::all(), dense));
    EXPECT_EQ(count, in_second);
    WriteBatch batch;  // what the copy does is its own business
    batch.erase_range(kFirst, key(0), key(count));
    EXPECT_TRUE((*db)->write(batch, Sync::kAlways));
    EXPECT_TRUE((*db)->compact(kFirst));
    return in_second;
}

TEST(LiveCopy, OfADatabaseThatIsBeingWrittenIsWholeAndNoOlderThanTheCall) {
    const auto folder = fresh_folder();
    Writer writer(folder);
    for (int round = 0; round < 8; ++round) {
        // Each time when some more tables have been made.
        const uint64_t wanted = writer.written() + 3000;
        while (writer.written() < wanted) std::this_thread::yield();
        const auto copy = fresh_folder();
        const auto copied = copy_live(folder, copy);
        ASSERT_TRUE(copied) << copied.error().message;
        EXPECT_GE(check_copy(copy), wanted) << "round " << round;
        testing::fs::remove_all(copy);
    }
    const uint64_t last = writer.written();
    writer.stop();
    EXPECT_TRUE(verify(folder)) << "the copies have changed what they were made from";
    EXPECT_GE(check_copy(folder), last);
}

TEST(LiveCopy, OfADatabaseAtRestSharesItsTables) {
    const auto folder = fresh_folder(), copy = fresh_folder();
    {
        const auto db = Database::open(folder, {"first", "second"}, small()).value();
        WriteBatch batch;
        batch.put(kFirst, "k", "v");
        ASSERT_TRUE(db->write(batch, Sync::kNever));
        ASSERT_TRUE(db->compact(kFirst));
    }
    ASSERT_TRUE(copy_live(folder, copy));
    size_t shared = 0;
    for (const auto& entry : testing::fs::directory_iterator(copy)) {
        shared += entry.hard_link_count() == 2;
        EXPECT_EQ(entry.hard_link_count() == 2, entry.path().extension() == ".sst");
    }
    EXPECT_GE(shared, 1u);
    const auto again = copy_live(folder, copy);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().reason, "copy_exists");
}

TEST(LiveCopy, OfWhatIsNoDatabaseIsRefusedAndLeavesNothing) {
    const auto folder = fresh_folder(), copy = fresh_folder();
    const auto nothing = copy_live(folder, copy);
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().code, base::ErrorCode::kNotFound);
    testing::fs::create_directories(folder);
    std::ofstream(folder / "CURRENT") << "../../etc/passwd\n";
    const auto broken = copy_live(folder, copy);
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().code, base::ErrorCode::kDataLoss);
    EXPECT_FALSE(testing::fs::exists(copy));
}

}  // namespace
}  // namespace rampart::storage
