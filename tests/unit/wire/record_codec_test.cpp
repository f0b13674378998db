#include "rampart/wire/record_codec.hpp"

#include <gtest/gtest.h>

#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/fence.hpp"
#include "records.hpp"

namespace rampart::wire {
namespace {

constexpr int32_t kPartitions = 4;

TEST(RecordCodec, ARecordHasKeyEventTimeAndSchema) {
    const auto application = to_record(testing::sample_application());
    EXPECT_EQ(application.key, "a-1");
    EXPECT_EQ(application.timestamp, testing::sample_application().event_time);
    EXPECT_EQ(application.headers,
              (std::vector<streaming::Header>{{"schema", "rampart.v1.Application/1"}}));
    EXPECT_EQ(decode_application(application).value(), testing::sample_application());

    const auto decision = to_record(testing::sample_decision(), 0);
    EXPECT_EQ(decision.key, testing::sample_decision().id.value());
    EXPECT_EQ(decision.timestamp, testing::sample_application().event_time);
    EXPECT_EQ(decision.headers,
              (std::vector<streaming::Header>{{"schema", "rampart.v1.Decision/1"}}));

    const auto outcome = to_record(testing::sample_outcome());
    EXPECT_EQ(outcome.key, "d-1");
    EXPECT_EQ(outcome.timestamp, testing::sample_outcome().observed_at);
    EXPECT_EQ(decode_outcome(outcome.value).value(), testing::sample_outcome());
    EXPECT_EQ(outcome.headers,
              (std::vector<streaming::Header>{{"schema", "rampart.v1.Outcome/1"}}));
}

TEST(RecordCodec, ARecordHasNoTimeThatALogCannotKeep) {
    auto application = testing::sample_application();
    application.event_time = testing::time("1950-01-01");
    const auto record = to_record(application);
    EXPECT_EQ(record.timestamp, base::TimePoint());
    EXPECT_EQ(decode_application(record).value(), application);
}

TEST(RecordCodec, ADecisionCarriesTheEpochOfItsWriter) {
    const auto mark = writer_mark(to_record(testing::sample_decision(), 7)).value();
    EXPECT_EQ(mark.epoch, 7u);
    EXPECT_FALSE(mark.fence);
}

TEST(RecordCodec, ADecisionIsReadInItsOwnPartitionOnly) {
    const auto decision = testing::sample_decision();
    const auto record = to_record(decision, 1);
    const auto home = streaming::partition_of(decision.id.value(), kPartitions);
    for (int32_t p = 0; p < kPartitions; ++p) {
        const auto read = decode_decision(record, streaming::PartitionId(p), kPartitions);
        if (p == home.value()) {
            EXPECT_EQ(read.value(), decision);
        } else {
            EXPECT_EQ(read.error().reason, "wrong_partition");
        }
    }
}

TEST(RecordCodec, AnErasureIsReadInItsOwnPartitionOnly) {
    const auto erasure = testing::sample_erasure();
    const auto record = to_record(erasure);
    EXPECT_EQ(record.key, erasure.decision.value());
    EXPECT_EQ(record.timestamp, erasure.at);
    EXPECT_TRUE(is_erasure(record));
    EXPECT_FALSE(is_erasure(to_record(testing::sample_decision(), 0)));
    const auto home = streaming::partition_of(erasure.decision.value(), kPartitions);
    EXPECT_EQ(decode_erasure(record, home, kPartitions).value(), erasure);
    const streaming::PartitionId other((home.value() + 1) % kPartitions);
    EXPECT_EQ(decode_erasure(record, other, kPartitions).error().reason, "wrong_partition");
    EXPECT_EQ(decode_decision(record, home, kPartitions).error().reason, "unknown_schema");
}

TEST(RecordCodec, AnOutcomeEventIsWhatItsSchemaSaysAndAnOutcomeWithoutOne) {
    auto outcome = to_record(testing::sample_outcome());
    const auto taken = to_record(testing::sample_override());
    EXPECT_EQ(std::get<domain::Outcome>(decode_outcome_event(outcome).value()),
              testing::sample_outcome());
    EXPECT_EQ(std::get<domain::Override>(decode_outcome_event(taken).value()),
              testing::sample_override());
    EXPECT_EQ(decision_of(*decode_outcome_event(taken)), testing::sample_override().decision);
    EXPECT_EQ(taken.timestamp, testing::sample_override().at);
    outcome.headers.clear();
    EXPECT_TRUE(std::holds_alternative<domain::Outcome>(decode_outcome_event(outcome).value()));
    outcome.headers = {{"schema", "rampart.v2.Outcome/1"}};
    EXPECT_EQ(decode_outcome_event(outcome).error().reason, "unknown_schema");
}

TEST(RecordCodec, ASchemaMayBeLeftOutButNotBeAnother) {
    auto record = to_record(testing::sample_application());
    record.headers.clear();
    EXPECT_TRUE(decode_application(record));
    record.headers = {{"schema", "rampart.v1.Application/2"}};
    EXPECT_EQ(decode_application(record).error().reason, "unknown_schema");
    auto decision = to_record(testing::sample_decision(), 0);
    decision.headers[0].value = "rampart.v1.Outcome/1";
    EXPECT_EQ(decode_decision(decision, streaming::PartitionId(0), 1).error().reason,
              "unknown_schema");
}

TEST(RecordCodec, BytesThatAreNoMessageAreAnError) {
    EXPECT_FALSE(decode_application(streaming::Record{"a-1", "\xff\xff", {}, {}}));
    EXPECT_FALSE(
        decode_decision(streaming::Record{"d", "\xff\xff", {}, {}}, streaming::PartitionId(0), 1));
}

}  // namespace
}  // namespace rampart::wire
