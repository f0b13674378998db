#include "rampart/serving/application_consumer.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "rampart/wire/record_codec.hpp"
#include "support/small_service.hpp"

// Over the embedded log, with crashes, gaps and nodes: tests/integration/application_consumer_test.
namespace rampart::serving {
namespace {

using streaming::Offset;
using streaming::PartitionId;
using support::day;
using support::make_application;

class ApplicationConsumerUnit : public testing::Test {
  protected:
    void append(const streaming::Record& record) {
        ASSERT_TRUE(log_.append("applications", {&record, 1}));
    }
    support::MemoryLog log_;
    support::SmallService small_{log_};
    ApplicationConsumer& consumer_ = *small_.consumer;
};

/// A log that counts how often it is asked where a topic ends.
class AskedLog final : public streaming::Reader {
  public:
    explicit AskedLog(const Reader& log) : log_(log) {}
    base::Result<int32_t> partitions(std::string_view topic) const override {
        return log_.partitions(topic);
    }
    base::Result<std::string> identity(std::string_view topic) const override {
        return log_.identity(topic);
    }
    base::Result<std::vector<streaming::StoredRecord>> read(std::string_view topic, PartitionId p,
                                                            Offset from,
                                                            size_t limit) const override {
        return log_.read(topic, p, from, limit);
    }
    base::Result<Offset> begin_offset(std::string_view topic, PartitionId p) const override {
        return log_.begin_offset(topic, p);
    }
    base::Result<Offset> end_offset(std::string_view topic, PartitionId p) const override {
        return log_.end_offset(topic, p);
    }
    std::vector<base::Result<Offset>> end_offsets(
        std::string_view topic, std::span<const PartitionId> partitions) const override {
        ++asked;
        return log_.end_offsets(topic, partitions);
    }
    mutable int asked = 0;

  private:
    const Reader& log_;
};

TEST_F(ApplicationConsumerUnit, AsksEachSecondWhereTheTopicEndsSoThatWhatWaitsIsKnown) {
    small_.approve_all();
    const AskedLog asked(log_);
    runtime::Metrics metrics;
    runtime::Health health;
    const auto consumer =
        ApplicationConsumer::create({}, {asked, log_, *small_.service, metrics, health}).value();
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(consumer->poll());
    EXPECT_EQ(asked.asked, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    EXPECT_TRUE(consumer->poll());
    EXPECT_EQ(asked.asked, 2);
}

TEST_F(ApplicationConsumerUnit, DecidesWhatArrivesAndQuarantinesWhatMakesNoSense) {
    small_.approve_all();
    append(wire::to_record(make_application(1, day(100))));
    append({"key", "nonsense", {}, {}});
    append(wire::to_record(make_application(2, day(1))));
    EXPECT_EQ(consumer_.poll().value(), 3u);
    EXPECT_EQ(log_.topics["decisions"].partitions[0].size(), 1u);
    const auto quarantined = consumer_.list_quarantined(9).value();
    ASSERT_EQ(quarantined.size(), 2u);
    EXPECT_EQ(quarantined[1].reason, "event_time_outside");
    EXPECT_EQ(consumer_.list_quarantined(1)->size(), 1u);
    EXPECT_EQ(consumer_.settled(PartitionId(0)).value(), Offset(3));
    EXPECT_TRUE(consumer_.status());
    EXPECT_TRUE(consumer_.stopped().empty());
}

TEST_F(ApplicationConsumerUnit, WhatIsInQuarantineIsDecidedAgainOrDropped) {
    small_.approve_all();
    append(wire::to_record(make_application(1, day(1))));
    append({"key", "nonsense", {}, {}});
    EXPECT_EQ(consumer_.poll().value(), 2u);
    const auto why = consumer_.replay_quarantined(PartitionId(0), Offset(0)).value();
    ASSERT_TRUE(why);
    EXPECT_EQ(why->reason, "event_time_outside");
    small_.clock.move(base::Duration::days(-95));
    EXPECT_FALSE(consumer_.replay_quarantined(PartitionId(0), Offset(0)).value());
    ASSERT_TRUE(consumer_.drop_quarantined(PartitionId(0), Offset(1)));
    EXPECT_EQ(consumer_.drop_quarantined(PartitionId(0), Offset(1)).error().reason,
              "not_quarantined");
    ASSERT_TRUE(consumer_.compact_erased());
    EXPECT_TRUE(consumer_.list_quarantined(9)->empty());
}

TEST_F(ApplicationConsumerUnit, WithoutAPolicyItWaits) {
    append(wire::to_record(make_application(1, day(100))));
    EXPECT_EQ(consumer_.poll().error().reason, "no_policy");
    EXPECT_EQ(consumer_.status().error().reason, "no_policy");
    small_.approve_all();
    EXPECT_EQ(consumer_.poll().value(), 1u);
    EXPECT_TRUE(consumer_.status());
}

TEST_F(ApplicationConsumerUnit, TheBatchHasALimit) {
    for (const size_t batch : {size_t{0}, base::limits::kMaxBatch + 1}) {
        EXPECT_EQ(ApplicationConsumer::create({.batch = batch}, {log_, log_, *small_.service,
                                                                 small_.metrics, small_.health})
                      .error()
                      .reason,
                  "bad_batch");
    }
}

}  // namespace
}  // namespace rampart::serving
