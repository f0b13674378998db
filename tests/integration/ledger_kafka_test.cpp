// Heads and the check of a ledger whose decision log is a broker's.
#include <gtest/gtest.h>

#include "demo_store.hpp"
#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"
#include "rampart/wire/topics.hpp"
#include "support/kafka_admin.hpp"
#include "support/kafka_broker.hpp"

namespace rampart {
namespace {

using streaming::Offset;
using streaming::PartitionId;
using test_support::DemoStore;

constexpr int32_t kPartitions = 4;  // as in a demo

/// The store of a demo on a broker of its own: the demo's topics have no prefix.
class LedgerOnKafka : public testing::Test, public DemoStore {
  protected:
    void SetUp() override {
        RAMPART_NEEDS_KAFKA();
        broker_ = std::make_unique<test_support::KafkaBroker>();
        settings_.bootstrap_servers = broker_->bootstrap();
        settings_.request_timeout = base::Duration::seconds(15);
        make_topics();
        make("ledger_kafka_test", fmt::format("--kafka {}", broker_->bootstrap()));
    }
    void TearDown() override {
        if (broker_) remove();
    }
    void make_topics() {
        const auto admin = streaming_kafka::TopicAdmin::open(settings_).value();
        const auto made = admin->create(wire::Topics::with_prefix("").specs(kPartitions), 1);
        ASSERT_TRUE(made) << made.error().message;
    }
    /// Deletes the first half of the decisions, or all of them.
    void delete_records(bool all) {
        const auto reader = streaming_kafka::KafkaReader::open(settings_).value();
        const support::KafkaAdmin admin(broker_->bootstrap());
        for (int32_t p = 0; p < kPartitions; ++p) {
            const auto end = reader->end_offset("decisions", PartitionId(p)).value().value();
            ASSERT_GT(end, 100);
            admin.delete_records_before("decisions", PartitionId(p), Offset(all ? end : end / 2));
        }
    }
    static void expect_check(int exit_code, std::string_view says) {
        const auto ran = rampart("ledger check --config a/audit.toml --head head");
        EXPECT_EQ(ran.exit_code, exit_code) << ran.output;
        EXPECT_NE(ran.output.find(says), std::string::npos) << ran.output;
    }

    std::unique_ptr<test_support::KafkaBroker> broker_;
    streaming_kafka::KafkaSettings settings_;
};

TEST_F(LedgerOnKafka, TheBrokersLogIsComparedAsFarAsItGoes) {
    ASSERT_FALSE(HasFatalFailure());
    const auto head = rampart("ledger head --config a/audit.toml --out head");
    ASSERT_EQ(head.exit_code, 0) << head.output;
    expect_check(0, "records of the log are those of then");
    delete_records(false);
    expect_check(0, "partition 0: checked from offset ");
    delete_records(true);
    expect_check(1, "NOT CHECKED");
    const support::KafkaAdmin admin(broker_->bootstrap());
    admin.delete_topic("decisions");
    make_topics();
    expect_check(1, "NOT CONTINUED");
    broker_->kill();
    const auto unreachable = rampart("ledger check --config a/audit.toml --head head");
    EXPECT_EQ(unreachable.exit_code, 4) << "no answer is not a no: " << unreachable.output;
}

}  // namespace
}  // namespace rampart
