#include "rampart/streaming/log_chain.hpp"

#include <gtest/gtest.h>

#include "rampart/streaming/bookmark.hpp"
#include "support/memory_log.hpp"

namespace rampart::streaming {
namespace {

const PartitionId kFirst(0);

class LogChain : public testing::Test {
  protected:
    LogChain() { log_.create("t", 1); }
    void append(const std::string& key) {
        const Record one{key, "v", base::TimePoint::from_micros(7), {}};
        ASSERT_TRUE(log_.append("t", std::span(&one, 1)));
    }
    auto& records() { return log_.topics["t"].partitions[0]; }
    support::MemoryLog log_;
};

TEST_F(LogChain, IsTheDigestOfEachRecordBehindThatOfAllBefore) {
    EXPECT_EQ(*extend_chain(log_, "t", kFirst), ChainedPosition{});
    base::Digest chain;
    for (const char* key : {"a", "b", "c"}) {
        append(key);
        const std::string before(chain.bytes.begin(), chain.bytes.end());
        chain = base::sha256(before + record_digest(records().back()));
        const auto at = extend_chain(log_, "t", kFirst);
        ASSERT_TRUE(at);
        EXPECT_EQ(*at, (ChainedPosition{Offset(static_cast<int64_t>(records().size())), chain}));
    }
}

TEST_F(LogChain, GoesOnFromAnEarlierPositionAndEndsWhereItIsAsked) {
    for (int i = 0; i < 10'000; ++i) append(fmt::format("k{}", i));
    const auto half = extend_chain(log_, "t", kFirst, {}, Offset(5000));
    const auto whole = extend_chain(log_, "t", kFirst);
    EXPECT_EQ(half->next, Offset(5000));
    EXPECT_EQ(*extend_chain(log_, "t", kFirst, *half), *whole);
    EXPECT_EQ(*extend_chain(log_, "t", kFirst, *whole), *whole);
}

TEST_F(LogChain, NoticesARecordThatIsLeftOutChangedOrExchanged) {
    for (const char* key : {"a", "b", "c"}) append(key);
    const auto whole = *extend_chain(log_, "t", kFirst);
    const auto kept = records();
    records()[1].record.value = "w";
    EXPECT_NE(extend_chain(log_, "t", kFirst)->chain, whole.chain);
    records() = kept;
    std::swap(records()[0].record, records()[1].record);
    EXPECT_NE(extend_chain(log_, "t", kFirst)->chain, whole.chain);
    records() = kept;
    records().pop_back();
    EXPECT_EQ(extend_chain(log_, "t", kFirst, {}, whole.next).error().reason, "offset_ahead");
    EXPECT_EQ(extend_chain(log_, "t", kFirst, whole).error().reason, "offset_ahead");
    append("another");
    EXPECT_NE(extend_chain(log_, "t", kFirst)->chain, whole.chain);
}

/// Positions after 3, 6 and 9 of ten records.
class KeptPositions : public LogChain {
  protected:
    KeptPositions() {
        for (int i = 0; i < 10; ++i) {
            if (i > 0 && i % 3 == 0) kept_.push_back(*extend_chain(log_, "t", kFirst));
            append(fmt::format("k{}", i));
        }
    }
    /// Deletes the records before `begin`, as retention does.
    void delete_before(int64_t begin) {
        auto& first = log_.topics["t"].begin[kFirst];
        records().erase(records().begin(), records().begin() + begin - first);
        first = begin;
    }
    std::string reason() const {
        const auto checked = check_chain(log_, "t", kFirst, kept_);
        return checked ? "" : checked.error().reason;
    }
    std::pair<int64_t, int64_t> range() const {
        const auto checked = check_chain(log_, "t", kFirst, kept_);
        EXPECT_TRUE(checked);
        EXPECT_EQ(checked->nothing(), checked->from == checked->to);
        return {checked->from.value(), checked->to.value()};
    }
    std::vector<ChainedPosition> kept_;
};

TEST_F(KeptPositions, AreComparedFromTheBeginToTheLastOfThem) {
    EXPECT_EQ(range(), std::pair(int64_t{0}, int64_t{9}));
    for (const size_t changed : {0, 2, 3, 8}) {
        const auto before = records()[changed].record.value;
        records()[changed].record.value = "w";
        EXPECT_EQ(reason(), "other_log") << changed;
        records()[changed].record.value = before;
    }
    records()[9].record.value = "w";
    EXPECT_EQ(reason(), "") << "no position is behind it";
    records().resize(8);
    EXPECT_EQ(reason(), "offset_ahead");
}

TEST_F(KeptPositions, AreComparedFromTheFirstThatCanStillBeReadFrom) {
    delete_before(2);
    EXPECT_EQ(range(), std::pair(int64_t{3}, int64_t{9}));
    delete_before(4);
    EXPECT_EQ(range(), std::pair(int64_t{6}, int64_t{9}));
    records()[8 - 4].record.value = "w";
    EXPECT_EQ(reason(), "other_log");
    delete_before(7);
    EXPECT_EQ(range().first, range().second) << "there is one position and nothing before it";
    delete_before(10);
    EXPECT_TRUE(check_chain(log_, "t", kFirst, kept_)->nothing());
}

TEST_F(KeptPositions, DoNotSpeakOfWhatLiesBetweenTwoChains) {
    const auto whole = records();
    kept_.resize(1);  // up to 3; then the front was gone, and the chain was begun anew at 5
    delete_before(5);
    kept_.push_back(*resume_chain(log_, "t", kFirst));
    records() = whole;
    log_.topics["t"].begin[kFirst] = 0;
    records()[4].record.value = "w";
    const auto checked = *check_chain(log_, "t", kFirst, kept_);
    EXPECT_EQ(checked.from, Offset(0));
    EXPECT_EQ(checked.to, Offset(10));
    EXPECT_EQ(checked.in_holes, 2) << "records 3 and 4";
    EXPECT_EQ(checked.compared(), 8);
    records()[5].record.value = "w";
    EXPECT_EQ(reason(), "other_log");
}

TEST_F(KeptPositions, OfALogWhoseFrontWasGoneGoOnFromThere) {
    delete_before(7);
    const auto fresh = *resume_chain(log_, "t", kFirst);
    EXPECT_EQ(fresh.begin, Offset(7));
    EXPECT_EQ(*resume_chain(log_, "t", kFirst, kept_.back()),
              *extend_chain(log_, "t", kFirst, kept_.back()))
        << "an earlier position is gone on with where it can be";
    EXPECT_EQ(*resume_chain(log_, "t", kFirst, kept_.front()), fresh);
    kept_.push_back(fresh);
    append("later");
    kept_.push_back(*resume_chain(log_, "t", kFirst, fresh));
    EXPECT_EQ(range(), std::pair(int64_t{7}, int64_t{11}));
    records()[8 - 7].record.value = "w";
    EXPECT_EQ(reason(), "other_log") << "in the chain that begins later";
}

}  // namespace
}  // namespace rampart::streaming
