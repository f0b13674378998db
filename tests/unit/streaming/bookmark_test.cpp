#include "rampart/streaming/bookmark.hpp"

#include <gtest/gtest.h>

#include "support/memory_log.hpp"

namespace rampart::streaming {
namespace {

const PartitionId kFirst(0);

Record record(const std::string& key, const std::string& value = "v") {
    return {key, value, base::TimePoint::from_micros(7), {{"schema", "s/1"}}};
}

class BookmarkTest : public testing::Test {
  protected:
    BookmarkTest() { log_.create("t", 1); }
    void append(const std::string& key) {
        const auto one = record(key);
        ASSERT_TRUE(log_.append("t", std::span(&one, 1)));
    }
    Bookmark behind_last() const {
        return bookmark_after(log_.topics.at("t").partitions[0].back());
    }
    std::string reason(const Bookmark& bookmark) const {
        const auto status = check_bookmark(log_, "t", kFirst, bookmark);
        return status ? "" : status.error().reason;
    }
    support::MemoryLog log_;
};

TEST_F(BookmarkTest, HoldsWhileTheLogOnlyGrows) {
    EXPECT_EQ(reason({}), "");
    append("a");
    const auto mark = behind_last();
    EXPECT_EQ(mark.next, Offset(1));
    append("b");
    EXPECT_EQ(reason(mark), "");
    EXPECT_EQ(reason(behind_last()), "");
}

TEST_F(BookmarkTest, NoticesALogThatWasCutOff) {
    append("a");
    append("b");
    const auto mark = behind_last();
    log_.topics["t"].partitions[0].pop_back();
    EXPECT_EQ(reason(mark), "offset_ahead");
}

TEST_F(BookmarkTest, NoticesAnotherLogThatHasGrownPastIt) {
    append("a");
    const auto mark = behind_last();
    log_.topics["t"].partitions[0].clear();
    for (const char* key : {"x", "y", "z"}) append(key);
    EXPECT_EQ(reason(mark), "topic_recreated");
}

TEST_F(BookmarkTest, TellsRecordsApartByEveryPartOfThemButTheTime) {
    const StoredRecord one{kFirst, Offset(3), record("k")};
    std::vector<StoredRecord> others(4, one);
    others[0].offset = Offset(4);
    others[1].record.key = "l";
    others[2].record.value = "w";
    others[3].record.headers[0].value = "s/2";
    for (const auto& other : others) EXPECT_NE(record_digest(one), record_digest(other));
    auto rounded = one;
    rounded.record.timestamp = base::TimePoint::from_micros(0);
    EXPECT_EQ(record_digest(one), record_digest(rounded));
}

TEST_F(BookmarkTest, AGapIsNoTroubleOfTheNetwork) {
    append("a");
    const auto mark = behind_last();
    log_.topics["t"].partitions[0].clear();
    EXPECT_TRUE(is_gap(check_bookmark(log_, "t", kFirst, mark).error()));
    EXPECT_FALSE(is_gap(base::Error{base::ErrorCode::kUnavailable, "timeout", ""}));
    EXPECT_FALSE(is_gap(base::Error{base::ErrorCode::kNotFound, "no_topic", ""}));
}

TEST_F(BookmarkTest, IsStoredAndReadBack) {
    append("a");
    for (const auto& mark : {Bookmark{}, behind_last()}) {
        const auto back = decode_bookmark(encode(mark));
        ASSERT_TRUE(back);
        EXPECT_EQ(*back, mark);
    }
    const auto bytes = encode(behind_last());
    for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(decode_bookmark(bytes.substr(0, n)));
    EXPECT_FALSE(decode_bookmark(bytes + "x"));
}

}  // namespace
}  // namespace rampart::streaming
