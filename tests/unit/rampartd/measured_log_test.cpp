#include "services/rampartd/measured_log.hpp"

#include <gtest/gtest.h>

#include "support/memory_log.hpp"

namespace rampart::rampartd {
namespace {

using streaming::Offset;
using streaming::PartitionId;

class MeasuredLogTest : public testing::Test {
  protected:
    MeasuredLogTest() { below_.create("outcomes", 1); }
    std::string text() const {
        runtime::Metrics metrics;
        return metrics.prometheus_text([this](runtime::Samples& out) { log_.write(out); });
    }
    bool has(const std::string& line) const {
        return text().find("\n" + line + "\n") != std::string::npos;
    }
    void append(const std::string& key) {
        const streaming::Record record{key, "12345", {}, {}};
        ASSERT_TRUE(log_.append("outcomes", {&record, 1}));
    }
    support::MemoryLog below_;
    MeasuredLog log_{below_, below_};
};

TEST_F(MeasuredLogTest, AppendsAreCountedWithTheirTimes) {
    append("a");
    const streaming::Record record{"bb", "12345", {}, {}};
    ASSERT_TRUE(log_.append_to("outcomes", PartitionId(0), {&record, 1}));
    EXPECT_TRUE(has(R"(rampart_log_appended_records_total{topic="outcomes"} 2)"));
    EXPECT_FALSE(has(R"(rampart_log_appended_bytes_total{topic="outcomes"})"))
        << "a figure of them";
    EXPECT_TRUE(has(R"(rampart_log_append_seconds_count{topic="outcomes"} 2)"));
    EXPECT_EQ(below_.end_offset("outcomes", PartitionId(0)).value(), Offset(2));
}

TEST_F(MeasuredLogTest, TheLagIsWhatWasNotReadOfWhatIsKnownToBeThere) {
    const std::string lag = R"(rampart_log_lag_records{partition="0",topic="outcomes"} )";
    for (const char* key : {"a", "b", "c"}) append(key);
    EXPECT_EQ(text().find(lag), std::string::npos);  // nothing is known yet
    ASSERT_TRUE(log_.end_offset("outcomes", PartitionId(0)));
    ASSERT_TRUE(log_.read("outcomes", PartitionId(0), Offset(0), 1));
    EXPECT_TRUE(has(lag + "2"));
    ASSERT_TRUE(log_.read("outcomes", PartitionId(0), Offset(1), 10));
    EXPECT_TRUE(has(lag + "0"));
    ASSERT_TRUE(log_.read("outcomes", PartitionId(0), Offset(0), 1));  // read again
    EXPECT_TRUE(has(lag + "0"));
    EXPECT_TRUE(has(R"(rampart_log_read_records_total{topic="outcomes"} 4)"));
    EXPECT_TRUE(has("rampart_log_ask_seconds_count 1"));
    append("d");
    ASSERT_TRUE(log_.end_offset("outcomes", PartitionId(0)));
    EXPECT_TRUE(has(lag + "1"));
}

TEST_F(MeasuredLogTest, FailuresAreCountedByReasonAndPassedOn) {
    EXPECT_FALSE(log_.read("none", PartitionId(0), Offset(0), 1));
    EXPECT_FALSE(log_.end_offset("none", PartitionId(0)));
    EXPECT_FALSE(log_.partitions("none"));
    const auto all = text();
    for (const char* operation : {"read", "ask", "describe"}) {
        EXPECT_NE(all.find(fmt::format("rampart_log_failures_total{{operation=\"{}\",reason=\"",
                                       operation)),
                  std::string::npos)
            << all;
    }
}

TEST_F(MeasuredLogTest, OfManyPartitionsTheLargestLagOfTheRestIsShown) {
    constexpr int32_t kMany = MeasuredLog::kNamedPartitions + 2;
    below_.create("decisions", kMany);
    for (int32_t p = 0; p < kMany; ++p) {
        for (int32_t i = 0; i < p; ++i) {
            const streaming::Record record{"k", "v", {}, {}};
            ASSERT_TRUE(below_.append_to("decisions", PartitionId(p), {&record, 1}));
        }
        ASSERT_TRUE(log_.end_offset("decisions", PartitionId(p)));
        ASSERT_TRUE(log_.read("decisions", PartitionId(p), Offset(0), 1));
    }
    EXPECT_TRUE(has(R"(rampart_log_lag_records{partition="255",topic="decisions"} 254)"));
    EXPECT_TRUE(has(R"(rampart_log_lag_records{partition="others",topic="decisions"} 256)"));
    EXPECT_EQ(text().find(R"(partition="256")"), std::string::npos);
}

}  // namespace
}  // namespace rampart::rampartd
