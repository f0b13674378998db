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

}  // namespace
}  // namespace rampart::streaming
