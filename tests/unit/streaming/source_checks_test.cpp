#include "rampart/streaming/source_checks.hpp"

#include <gtest/gtest.h>

namespace rampart::streaming {
namespace {

const PartitionId kFirst(0), kSecond(1);

/// A log of one record a partition, which counts the questions.
class Counting final : public Reader {
  public:
    base::Result<int32_t> partitions(std::string_view) const override { return 2; }
    base::Result<std::string> identity(std::string_view) const override { return std::string("1"); }
    base::Result<std::vector<StoredRecord>> read(std::string_view, PartitionId partition, Offset,
                                                 size_t) const override {
        ++asked;
        return std::vector<StoredRecord>{record(partition)};
    }
    base::Result<Offset> begin_offset(std::string_view, PartitionId) const override {
        ++asked;
        if (fails) return base::Error{base::ErrorCode::kUnavailable, "away", "away"};
        return Offset(0);
    }
    base::Result<Offset> end_offset(std::string_view, PartitionId) const override {
        ++asked;
        return Offset(1);
    }
    static StoredRecord record(PartitionId partition) {
        StoredRecord stored;
        stored.partition = partition;
        stored.offset = Offset(0);
        stored.record.key = std::to_string(partition.value());
        return stored;
    }
    mutable int asked = 0;
    bool fails = false;
};

TEST(SourceChecks, AsksOnceForAllThatStandAtTheSameRecord) {
    const Counting log;
    SourceChecks checks(log);
    const Bookmark mark = bookmark_after(Counting::record(kFirst));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(checks.check("t", kFirst, mark));
    EXPECT_EQ(log.asked, 3);  // begin, end, and the record
    EXPECT_TRUE(checks.check("t", kFirst, Bookmark{}));
    EXPECT_EQ(log.asked, 5) << "another position is compared for itself";
    for (int i = 0; i < 3; ++i) EXPECT_EQ(checks.begin_offset("t", kSecond).value(), Offset(0));
    EXPECT_EQ(log.asked, 6);
}

TEST(SourceChecks, WhatFitsOnePartitionOrTopicSaysNothingOfAnother) {
    const Counting log;
    SourceChecks checks(log);
    const Bookmark mark = bookmark_after(Counting::record(kFirst));
    EXPECT_TRUE(checks.check("t", kFirst, mark));
    EXPECT_EQ(checks.check("t", kSecond, mark).error().reason, "topic_recreated");
    EXPECT_EQ(checks.check("t", kSecond, mark).error().reason, "topic_recreated") << "each time";
    const int before = log.asked;
    EXPECT_TRUE(checks.check("u", kFirst, mark));
    EXPECT_GT(log.asked, before);
}

TEST(SourceChecks, AFailureIsNotRemembered) {
    Counting log;
    SourceChecks checks(log);
    log.fails = true;
    EXPECT_FALSE(checks.begin_offset("t", kFirst));
    EXPECT_FALSE(checks.check("t", kFirst, Bookmark{}));
    log.fails = false;
    EXPECT_TRUE(checks.begin_offset("t", kFirst));
    EXPECT_TRUE(checks.check("t", kFirst, Bookmark{}));
}

}  // namespace
}  // namespace rampart::streaming
